import { uint } from "../Octets.ts"

/** UDP source ports of RoCEv2 start here (IBTA 1.7 §A17.3.1): their lower 14 bits are entropy. */
const PORT_MIN = 0xc000
const LABEL_BITS = 20

/**
 * The flow label that Linux gives a connection without one: the product of the two queue-pair numbers, folded to 20 bits.
 * Either side computes the same.
 */
export const flowLabelOf = (localQp: number, remoteQp: number): number => {
  const product = uint(localQp, 24, "udp", "localQp") * uint(remoteQp, 24, "udp", "remoteQp")
  // 48 bits, taken apart at the bits 20 and 40: `v ^= v >> 20; v ^= v >> 40`.
  const low = product % 0x10_0000
  const middle = Math.floor(product / 0x10_0000) % 0x10_0000
  const high = Math.floor(product / 0x100_0000_0000)
  return low ^ middle ^ high
}

/** The UDP source port of a flow label: its upper six bits folded into the lower fourteen, as Linux does it. */
export const sourcePortOf = (flowLabel: number): number => {
  const label = uint(flowLabel, LABEL_BITS, "udp", "flowLabel")
  return PORT_MIN | ((label & 0x3fff) ^ (label >> 14))
}

/** The UDP source port of a connection on Linux: from its flow label, and without one (0) from its queue pairs. */
export const connectionSourcePort = (flowLabel: number, localQp: number, remoteQp: number): number =>
  sourcePortOf(flowLabel === 0 ? flowLabelOf(localQp, remoteQp) : flowLabel)

/** The UDP source port that Soft-RoCE gives a queue pair without a connection: a multiplicative hash of its number. */
export const datagramSourcePort = (qp: number): number =>
  PORT_MIN + (Math.imul(uint(qp, 24, "udp", "qp"), 0x61c8_8647) >>> 18)
