import { HexReader, hex, withNul } from "./HexText.ts"

/** What the pingpongs of libibverbs tell each other of a queue pair (struct pingpong_dest). */
export interface PingpongDestination {
  /** 16 bits; 0 on Ethernet. */
  readonly lid: number
  /** 24 bits. */
  readonly qpn: number
  /** 24 bits: the first packet sequence number that is sent. */
  readonly psn: number
  /** 16 octets; zero without a global route. */
  readonly gid: Uint8Array
}

/** Octets of a message: `"%04x:%06x:%06x:%s"` and a NUL (libibverbs/examples/rc_pingpong.c). */
export const PINGPONG_BYTES = 52

/** What the client says when it has the server's numbers. */
export const DONE = withNul("done")

const FORMAT = "pingpong address"

export const emitPingpong = ({ lid, qpn, psn, gid }: PingpongDestination): Uint8Array =>
  withNul(`${hex(lid, 4)}:${hex(qpn, 6)}:${hex(psn, 6)}:${gidText(gid)}`)

/** @throws FormatError when it is no such message */
export const parsePingpong = (octets: Uint8Array): PingpongDestination => {
  const reader = new HexReader(FORMAT, octets, PINGPONG_BYTES)
  const lid = reader.number("LID", 4)
  reader.mark("LID", ":")
  const qpn = reader.number("QPN", 6)
  reader.mark("QPN", ":")
  const psn = reader.number("PSN", 6)
  reader.mark("PSN", ":")
  const gid = gidOf(reader.digits("GID", 32))
  reader.mark("GID", "\0")
  return { lid, qpn, psn, gid }
}

const gidText = (gid: Uint8Array): string => {
  let text = ""
  for (const octet of gid) text += hex(octet, 2)
  return text
}

const gidOf = (digits: string): Uint8Array =>
  Uint8Array.from({ length: 16 }, (_, index) => Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16))
