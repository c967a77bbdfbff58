import { Flag, type Packet } from "@rdmakit/packet"
import { ETHERNET_FRAME_BYTES_MIN, EtherType, emitEthernet } from "@rdmakit/wire/ethernet"
import { emitPfc, PFC_MAC } from "@rdmakit/wire/pfc"
import { type Link, macOfNode } from "./Addresses.ts"

/** As long as can be: the simulator's pauses hold until a resume. */
const PAUSE_QUANTA = 0xffff
const PRIORITIES = 8

/** Writes a pause or a resume of one priority (IEEE 802.1Qbb), and returns the first octet after it. */
export const encodePfc = (packet: Packet, link: Link, octets: Uint8Array, start: number): number => {
  const quanta = new Array<number | undefined>(PRIORITIES).fill(undefined)
  quanta[packet.priority] = packet.has(Flag.Pause) ? PAUSE_QUANTA : 0
  const header = { destination: PFC_MAC, source: macOfNode(link.from), tags: [], etherType: EtherType.MacControl }
  const end = emitPfc({ kind: "pfc", quanta }, octets, emitEthernet(header, octets, start))
  return padFrame(octets, start, end)
}

/** Pads a frame that ends at `end` to Ethernet's least, and returns where it ends then. */
export const padFrame = (octets: Uint8Array, start: number, end: number): number => {
  const least = start + ETHERNET_FRAME_BYTES_MIN
  if (end >= least) return end
  octets.fill(0, end, least)
  return least
}
