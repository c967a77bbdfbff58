import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { dumbbell } from "@rdmakit/conformance"

// Sixteen senders, one receiver: 100 Gb/s, a base RTT of 8 µs, half a millisecond in slices of 20 µs.
const { queueBytesMax, controllers } = dumbbell(hpcc(hpccPresets.simulation), {
  flows: Array.from({ length: 16 }, () => ({})),
  lineRateBps: 100e9,
  baseRttPs: 8e6,
  durationPs: 500e6,
  slices: 25,
})

export const firstQueueBytes = queueBytesMax[0]
export const lastQueueBytes = queueBytesMax[24]
export const utilisation = controllers[0]?.metrics().utilisation
