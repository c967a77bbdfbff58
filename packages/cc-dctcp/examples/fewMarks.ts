import { dctcp, dctcpPresets } from "@rdmakit/cc-dctcp"
import { dumbbell } from "@rdmakit/conformance"

// Two flows share 10 Gb/s for 20 ms, the second from 5 ms on. The link marks from one bandwidth-delay product of queue
// on, 12,500 bytes, with a chance that grows to 20 % at four of them.
const { controllers, delivered, queueBytesMax } = dumbbell(dctcp(dctcpPresets.paper), {
  flows: [{}, { startPs: 5e9 }],
  durationPs: 20e9,
  slices: 20,
})

export const shares = delivered.map((slices) => slices[19])
export const queueBytes = queueBytesMax[19]
export const alphas = controllers.map((controller) => controller.metrics().alpha)
