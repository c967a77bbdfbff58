import type { Ack, Controller, PathInfo } from "@rdmakit/protocol"

export const US = 1e6

/** 100 Gb/s and 8 µs there and back: 100,000 bytes are a bandwidth-delay product, and 4 µs of queue the target. */
export const path: PathInfo = {
  lineRateBps: 100e9,
  baseRttPs: 8 * US,
  windowBytes: 100_000,
  mtuBytes: 1000,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 0,
}

const ack = (sequence: number, sent: number, rttPs: number, pathId: number): Ack => ({
  sequence,
  sent,
  bytes: 1000,
  rttPs,
  congestion: false,
  hops: 0,
  pathId,
  telemetry: new Float64Array(0),
  telemetryAt: 0,
  pint: -1,
})

/**
 * A sender that always has in flight what it may, through a network as wide as that takes, and paths that take turns, each
 * with a queueing delay of its own that stays as it is whatever is sent.
 */
export class Feedback {
  /** The first acknowledgement comes a round trip after the start. */
  now = path.baseRttPs
  private sequence = 0
  private sent = 0
  private ordinal = 0
  readonly controller: Controller

  constructor(controller: Controller) {
    this.controller = controller
  }

  /** `count` packets come through. @param queuesUs of the paths @param sentFor how many leave for each that came */
  acks(count: number, queuesUs: ReadonlyArray<number>, sentFor = 1): void {
    for (let i = 0; i < count; i++) {
      const pathId = this.ordinal++ % queuesUs.length
      this.now += (path.baseRttPs * 1000) / this.inFlightBytes
      this.sequence += 1000
      this.sent = Math.max(this.sent + 1000 * sentFor, this.sequence + Math.floor(this.inFlightBytes))
      this.controller.onAck(this.now, ack(this.sequence, this.sent, path.baseRttPs + queuesUs[pathId]! * US, pathId))
    }
  }

  get inFlightBytes(): number {
    return this.controller.metrics().inFlightBytes!
  }
}

/** Queueing delays of 16 paths, of which so many are slow, µs. */
export const slowPaths = (slow: number, queueUs: number): ReadonlyArray<number> =>
  // Spread among the others: 7 is prime to 16.
  Array.from({ length: 16 }, (_, i) => ((i * 7) % 16 < slow ? queueUs : 0))
