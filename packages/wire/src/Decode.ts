import { type Crc, crc32 } from "./crc/Crc32.ts"
import { Decoder } from "./decode/Decoder.ts"
import { emitNode } from "./decode/Emit.ts"
import type { Node, NodeOf } from "./decode/Node.ts"

/** What a frame starts with. */
export type LinkType = "ethernet" | "infiniband" | "erf" | "ip" | "linuxCooked" | "linuxCooked2"

/** The link types of capture files (https://www.tcpdump.org/linktypes.html); undefined for one that is not read here. */
export const linkTypeOf = (code: number): LinkType | undefined => {
  switch (code) {
    case 1:
      return "ethernet"
    // 12 and 14 are what some systems write for raw IP; 228 and 229 are IPv4 and IPv6 alone.
    case 12:
    case 14:
    case 101:
    case 228:
    case 229:
      return "ip"
    case 113:
      return "linuxCooked"
    case 197:
      return "erf"
    case 247:
      return "infiniband"
    case 276:
      return "linuxCooked2"
    default:
      return undefined
  }
}

export interface DecodeOptions {
  /** By default Ethernet. */
  readonly link?: LinkType
  /** Octets on the wire, when the capture was cut; by default those that there are. */
  readonly wireBytes?: number
  /** 4 when the capture has Ethernet's check sequence; by default 0. */
  readonly fcsBytes?: 0 | 4
  /** By default the one in JavaScript; `/node` has a quicker one. */
  readonly crc?: Crc
}

/**
 * Takes a frame apart into nodes, in order and without a gap: together they are the captured octets. What is illegal is a
 * raw node with the reason; nothing is thrown. Fragments are not put together, and streams of TCP not followed.
 */
export const decode = (octets: Uint8Array, options: DecodeOptions = {}): ReadonlyArray<Node> => {
  const { link = "ethernet", crc = crc32, fcsBytes = 0 } = options
  const end = Math.max(options.wireBytes ?? 0, octets.length)
  const decoder = new Decoder(octets, crc)
  if (link === "ethernet") decoder.ethernet(0, end, fcsBytes)
  else if (link === "infiniband") decoder.padding("frame", decoder.infiniband(0, end), end)
  else if (link === "erf") decoder.padding("frame", decoder.erf(0, end), end)
  else if (link === "ip") decoder.padding("frame", decoder.ip(0, end), end)
  else decoder.linuxCooked(link === "linuxCooked" ? 1 : 2, 0, end)
  return decoder.nodes
}

/** The innermost node of a format, or undefined. */
export const nodeOf = <F extends Node["format"]>(nodes: ReadonlyArray<Node>, format: F): NodeOf<F> | undefined =>
  nodes.findLast((node) => node.format === format) as NodeOf<F> | undefined

/**
 * The frame again, from its nodes: headers from their representations, what has faults or is raw from `octets`. It is
 * what was decoded, octet by octet.
 */
export const emitNodes = (nodes: ReadonlyArray<Node>, octets: Uint8Array): Uint8Array => {
  const out = new Uint8Array(octets.length)
  for (const node of nodes) emitNode(node, octets, out)
  return out
}

export type * from "./decode/Node.ts"
