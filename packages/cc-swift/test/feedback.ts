import type { Ack, PathInfo } from "@rdmakit/protocol"

/** 100 Gb/s and 8 µs: a bandwidth-delay product of 100 packets of 1,000 bytes. */
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

/** An acknowledgement of `packets` packets that took so long. */
export const ack = (rttUs: number, packets = 1, hops = 0): Ack => ({
  sequence: 1000,
  sent: 100_000,
  bytes: 1000 * packets,
  rttPs: rttUs * 1e6,
  congestion: false,
  hops,
  pathId: 0,
  telemetry: new Float64Array(4 * hops),
  telemetryAt: 0,
  pint: -1,
})
