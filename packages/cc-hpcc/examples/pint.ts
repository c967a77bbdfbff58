import { hpcc, hpccPint, hpccPintPresets, hpccPresets } from "@rdmakit/cc-hpcc"
import { dumbbell } from "@rdmakit/conformance"

// Sixteen senders, one receiver: 100 Gb/s, a base RTT of 8 µs. What waits after 400 µs, with a record of every hop, and
// with one byte of which one acknowledgement in sixteen is used.
const lastQueueBytes = (factory: Parameters<typeof dumbbell>[0]) =>
  dumbbell(factory, {
    flows: Array.from({ length: 16 }, () => ({})),
    lineRateBps: 100e9,
    baseRttPs: 8e6,
    durationPs: 500e6,
    slices: 5,
  }).queueBytesMax[4]

export const withRecords = lastQueueBytes(hpcc(hpccPresets.simulation))
export const withDigests = lastQueueBytes(hpccPint(hpccPintPresets["one-in-16"]))
