import { dcqcn, dcqcnPresets } from "@rdmakit/cc-dcqcn"
import { dumbbell } from "@rdmakit/conformance"

// Four senders of 40 Gb/s into one link for 20 ms, each notified by CNPs: its receiver sends one in 50 µs at most.
const { queueBytesMax, delivered, controllers } = dumbbell(dcqcn({ ...dcqcnPresets.paper, notification: "cnp" }), {
  flows: [{}, {}, {}, {}],
  lineRateBps: 40e9,
  baseRttPs: 10e6,
  durationPs: 20e9,
  slices: 20,
})

export const firstQueueBytes = queueBytesMax[0]
export const lastQueueBytes = queueBytesMax[19]
export const shares = delivered.map((slices) => slices[19])
export const alpha = controllers[0]?.metrics().alpha
