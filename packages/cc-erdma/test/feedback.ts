import type { Ack, PathInfo } from "@rdmakit/protocol"

/** 100 Gb/s and 8 µs: a bandwidth-delay product of 100,000 bytes. */
export const path: PathInfo = {
  lineRateBps: 100e9,
  baseRttPs: 8e6,
  windowBytes: 100_000,
  mtuBytes: 1000,
  timeModulusPs: Infinity,
  bytesModulus: Infinity,
  flow: 0,
  seed: 0,
}

export const US = 1e6

/** An acknowledgement of everything below `sequence`, when everything below `sent` was sent. */
export const ack = (sequence: number, sent: number, rttPs: number, congestion = false): Ack => ({
  sequence,
  sent,
  bytes: 1000,
  rttPs,
  congestion,
  hops: 0,
  pathId: 0,
  telemetry: new Float64Array(0),
  telemetryAt: 0,
  pint: -1,
})
