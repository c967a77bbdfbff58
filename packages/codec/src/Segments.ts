import { PSN_MASK, packetsOf, psnDistance } from "@rdmakit/packet"

/** The flows of a run, each a message on a connection of its own. */
export interface TcpFlows {
  /** Length of its message. @param flow a packet's `flow`, halved */
  readonly bytesOf: (flow: number) => number
  /** TCP ports of the flow's two ends. */
  readonly sourcePortOf: (flow: number) => number
  readonly destinationPortOf: (flow: number) => number
}

/** The SYN took number 0. */
const FIRST_SEQUENCE = 1
const SEQUENCES = 2 ** 32

/**
 * Where segments lie in the stream of their flow. A packet's number is its segment's, in 24 bits; all segments of a message
 * but the last are as long.
 */
export class Segments {
  private readonly bytesOf: TcpFlows["bytesOf"]
  private readonly mtuBytes: number
  private readonly unitBytes: (payloadBytes: number) => number
  /** Of flows whose numbers wrap: the number met last, unwrapped. */
  private readonly latest = new Map<number, number>()

  /**
   * @param mtuBytes payload of a full segment
   * @param unitBytes octets of the stream that a payload takes
   */
  constructor(bytesOf: TcpFlows["bytesOf"], mtuBytes: number, unitBytes: (payloadBytes: number) => number) {
    this.bytesOf = bytesOf
    this.mtuBytes = mtuBytes
    this.unitBytes = unitBytes
  }

  /** Number of a segment of a flow, unwrapped; those asked for one after the other are less than 2^23 apart. */
  numberOf(flow: number, psn: number): number {
    if (packetsOf(this.bytesOf(flow), this.mtuBytes) <= PSN_MASK) return psn
    const near = this.latest.get(flow) ?? 0
    const number = near + psnDistance(psn, near & PSN_MASK)
    this.latest.set(flow, number)
    return number
  }

  /** TCP's sequence number of the first octet of a segment; behind the last one, of what would follow the message. */
  sequenceOf(flow: number, number: number): number {
    const bytes = this.bytesOf(flow)
    const full = Math.min(number, packetsOf(bytes, this.mtuBytes) - 1)
    const rest = number > full ? this.unitBytes(bytes - full * this.mtuBytes) : 0
    return (FIRST_SEQUENCE + full * this.unitBytes(this.mtuBytes) + rest) % SEQUENCES
  }
}
