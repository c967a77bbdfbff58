import { hpccFamily } from "@rdmakit/cc-erdma"
import { dumbbell } from "@rdmakit/conformance"

// Eight flows begin at once, each with a NIC of 10 Gb/s, over a link of 10 Gb/s: a bandwidth-delay product is 12,500 bytes.
const eight = (variant: "rtt" | "ecn") =>
  dumbbell(hpccFamily({ variant }), {
    flows: Array.from({ length: 8 }, () => ({})),
    durationPs: 20e9,
    lineRateBps: 10e9,
    slices: 20,
  })

const runs = [eight("rtt"), eight("ecn")]
/** What all eight have of the link in the second half of 20 ms, by round trips and by marks. */
export const shares = runs.map(({ delivered }) => {
  const bytes = delivered.flatMap((flow) => [...flow.subarray(10)]).reduce((sum, each) => sum + each, 0)
  return bytes / 12_500_000
})
/** The longest queue at the start, when eight windows come at once, and in the second half. */
export const queues = runs.map(({ queueBytesMax }) => [queueBytesMax[0], Math.max(...queueBytesMax.subarray(10))])
