import { swift, swiftPresets } from "@rdmakit/cc-swift"
import { dumbbell } from "@rdmakit/conformance"

// Three hundred flows into one link of 10 Gb/s, a base RTT of 10 µs: a fair share is a packet in 240 µs. Once as Swift
// is, and once with windows of at least one packet.
const run = (minWindowPackets: number) =>
  dumbbell(swift({ ...swiftPresets.testbed, minWindowPackets }), {
    flows: Array.from({ length: 300 }, () => ({})),
    durationPs: 20e9,
    slices: 4,
  })
const paced = run(0.01)

export const queueBytes = paced.queueBytesMax[3]
export const unpacedQueueBytes = run(1).queueBytesMax[3]
export const deliveredBytes = paced.delivered.reduce((total, slices) => total + slices[3]!, 0)
