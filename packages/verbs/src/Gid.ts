import type { GidEntry } from "@rdmakit/protocol"
import { checkFields, VerbsError, wrongType } from "./VerbsError.ts"

/** Octets of a global identifier. */
const GID_BYTES = 16

export type GidFamily = "ipv4" | "ipv6"

/** What a GID of a port is chosen by. */
export interface GidChoice {
  /** This GID and no other, in octets or as text. */
  readonly gid?: Uint8Array | string
  /** Default "rocev2". */
  readonly type?: GidEntry["type"]
  /** Default: the family of `peer`, or IPv4 before IPv6. */
  readonly family?: GidFamily
  /** The GID that is to be reached: a link-local one is reached from a link-local one. */
  readonly peer?: Uint8Array | string
}

const wrong = (text: string): VerbsError =>
  new VerbsError({
    errno: "EINVAL",
    verb: "query_gid",
    attribute: "gid",
    problem: `"${text}" is no GID`,
    remedy: 'write "fe80::1", "10.0.0.1", or 32 hexadecimal digits',
  })

const ipv4 = (text: string): Array<number> | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) < 256)) return undefined
  return parts.map(Number)
}

/** The octets of colon-separated groups; an IPv4 address may be the last two. */
const groups = (text: string): Array<number> | undefined => {
  if (text === "") return []
  const octets: Array<number> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1 ? ipv4(part) : undefined
    if (last !== undefined) octets.push(...last)
    else if (/^[0-9a-f]{1,4}$/i.test(part))
      octets.push(Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 0xff)
    else return undefined
  }
  return octets
}

/**
 * The 16 octets of a GID: an IPv6 address, an IPv4 address (mapped, RFC 4291 §2.5.5.2), or 32 hexadecimal digits as
 * ibv_rc_pingpong exchanges them.
 *
 * @throws VerbsError EINVAL
 */
export const parseGid = (text: string): Uint8Array => {
  const four = ipv4(text)
  if (four !== undefined) return Uint8Array.from([...new Array(10).fill(0), 0xff, 0xff, ...four])
  if (/^[0-9a-f]{32}$/i.test(text)) return Uint8Array.from(text.match(/../g)!, (pair) => Number.parseInt(pair, 16))
  const [head, tail, more] = text.split("::")
  const before = groups(head ?? "")
  const after = tail === undefined ? [] : groups(tail)
  if (more !== undefined || before === undefined || after === undefined) throw wrong(text)
  const missing = GID_BYTES - before.length - after.length
  // "::" stands for one group at least (RFC 4291 §2.2).
  if (tail === undefined ? missing !== 0 : missing < 2) throw wrong(text)
  return Uint8Array.from([...before, ...new Array(missing).fill(0), ...after])
}

/** A mapped IPv4 address. */
export const isIpv4Gid = (gid: Uint8Array): boolean =>
  gid[10] === 0xff && gid[11] === 0xff && gid.subarray(0, 10).every((octet) => octet === 0)

/** fe80::/10 (RFC 4291 §2.5.6). */
export const isLinkLocalGid = (gid: Uint8Array): boolean => gid[0] === 0xfe && (gid[1]! & 0xc0) === 0x80

/** As ibv_devinfo prints a GID: an IPv6 address, the longest run of zeroes left out; a mapped one ends in the IPv4 address. */
export const formatGid = (gid: Uint8Array): string => {
  if (isIpv4Gid(gid)) return `::ffff:${gid.subarray(12).join(".")}`
  const parts = Array.from({ length: 8 }, (_, index) => ((gid[2 * index]! << 8) | gid[2 * index + 1]!).toString(16))
  let best = { start: 0, length: 1 }
  for (let start = 0; start < parts.length; start++) {
    let length = 0
    while (parts[start + length] === "0") length++
    if (length > best.length) best = { start, length }
  }
  if (best.length < 2) return parts.join(":")
  return `${parts.slice(0, best.start).join(":")}::${parts.slice(best.start + best.length).join(":")}`
}

const octetsOf = (attribute: "gid" | "peer", gid: Uint8Array | string): Uint8Array => {
  if (typeof gid === "string") return parseGid(gid)
  if (gid instanceof Uint8Array && gid.length === GID_BYTES) return gid
  throw wrongType("query_gid", attribute, gid, "give 16 octets, or text")
}

const equal = (left: Uint8Array, right: Uint8Array): boolean =>
  left.length === right.length && left.every((octet, index) => octet === right[index])

const isUnset = (gid: Uint8Array): boolean => gid.every((octet) => octet === 0)

/**
 * The index of a GID in a port's table. With `gid`, the first entry of that value and type, as the kernel's rdma_find_gid has
 * it. Otherwise the first of its type in this order: of the family asked for, or the peer's; IPv4 before global IPv6 before
 * link-local, which a table has at its beginning by default, and which reaches no further than the link. A link-local peer
 * is reached from the link-local entry.
 *
 * @throws VerbsError ENOENT when the table has none, EINVAL for what is no GID, and for a choice that is none
 */
export const chooseGid = (gids: ReadonlyArray<GidEntry>, choice: GidChoice = {}): number => {
  checkFields("query_gid", "choice", choice, "give { gid, type, family, peer }, or some of them")
  const type = choice.type ?? "rocev2"
  const usable = gids.filter((entry) => entry.type === type && !isUnset(entry.gid))
  const mapped = (entry: GidEntry): boolean => isIpv4Gid(entry.gid)
  const local = (entry: GidEntry): boolean => isLinkLocalGid(entry.gid)
  const global = (entry: GidEntry): boolean => !mapped(entry) && !local(entry)
  let found: GidEntry | undefined
  if (choice.gid !== undefined) {
    const wanted = octetsOf("gid", choice.gid)
    found = usable.find((entry) => equal(entry.gid, wanted))
  } else {
    const peer = choice.peer === undefined ? undefined : octetsOf("peer", choice.peer)
    const family = choice.family ?? (peer === undefined ? undefined : isIpv4Gid(peer) ? "ipv4" : "ipv6")
    const toLocal = peer !== undefined && isLinkLocalGid(peer)
    const six = toLocal ? usable.find(local) : (usable.find(global) ?? usable.find(local))
    found = family === "ipv6" ? six : (usable.find(mapped) ?? (family === "ipv4" ? undefined : six))
  }
  if (found !== undefined) return found.index
  const wanted = choice.gid !== undefined ? formatGid(octetsOf("gid", choice.gid)) : (choice.family ?? "any family")
  throw new VerbsError({
    errno: "ENOENT",
    verb: "query_gid",
    attribute: "gid",
    problem: `the port has no GID of type ${type} for ${wanted}`,
    remedy:
      gids.length === 0
        ? "give the port an address"
        : `it has ${gids.map((entry) => `${entry.index}: ${formatGid(entry.gid)} ${entry.type}`).join(", ")}`,
  })
}
