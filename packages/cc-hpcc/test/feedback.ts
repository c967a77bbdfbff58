import type { Ack, PathInfo } from "@rdmakit/protocol"

/** 100 Gb/s and 8 µs: a bandwidth-delay product of 100,000 bytes. Telemetry wraps as in the reference at 100 Gb/s. */
export const path: PathInfo = {
  lineRateBps: 100e9,
  baseRttPs: 8e6,
  windowBytes: 100_000,
  mtuBytes: 1000,
  timeModulusPs: 2 ** 24 * 1000,
  bytesModulus: 2 ** 20 * 128 * 4,
  flow: 0,
  seed: 0,
}

/** One hop: ns, bytes, bytes, bit/s. */
export type Hop = readonly [timeNs: number, bytes: number, queueBytes: number, rateBps: number]

/** An acknowledgement of everything below `sequence`, when everything below `sent` was sent. */
export const ack = (sequence: number, sent: number, hops: ReadonlyArray<Hop>, pathId = 0): Ack => ({
  sequence,
  sent,
  bytes: 1000,
  rttPs: 8e6,
  congestion: false,
  hops: hops.length,
  pathId,
  // The record starts in the middle: a controller has to heed `telemetryAt`.
  telemetry: Float64Array.from([-1, -1, -1, -1, ...hops.flatMap(([ns, ...rest]) => [ns * 1000, ...rest])]),
  telemetryAt: 4,
  pint: -1,
})
