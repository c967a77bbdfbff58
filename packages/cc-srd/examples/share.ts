import { srd } from "@rdmakit/cc-srd"
import { dumbbell } from "@rdmakit/conformance"

// 48 flows begin at once, each with a NIC of 10 Gb/s, over a link of 10 Gb/s: a bandwidth-delay product is 12,500 bytes.
const run = dumbbell(srd(), {
  flows: Array.from({ length: 48 }, () => ({})),
  durationPs: 40e9,
  lineRateBps: 10e9,
  slices: 40,
})

/** Payload of each flow in each of the last 20 ms, as a share of what 10 Gb/s carry for one of 48. */
const shares = run.delivered.flatMap((flow) => [...flow.subarray(20)]).map((bytes) => bytes / (1_250_000 / 48))
export const least = Math.min(...shares)
export const most = Math.max(...shares)
/** The longest queue at the start, when 48 windows come at once, and in the second half. */
export const queues = [run.queueBytesMax[0]!, Math.max(...run.queueBytesMax.subarray(20))] as const
