import { convergenceTime, Histogram, jainIndex, linkUse, quantile, slowdown, slowdownBySize } from "@rdmakit/metrics"
import { formatTime, MICROSECOND } from "@rdmakit/units"

// Five flows: how long each took, and would have taken alone.
const sizes = [300, 300, 1000, 1000, 1e6]
const slowdowns = [
  [4_000, 4_000],
  [9_000, 4_000],
  [6_000, 5_000],
  [5_000, 5_000],
  [160_000, 80_000],
].map(([took, alone]) => slowdown(took!, alone!))
const [smallest] = slowdownBySize(sizes, slowdowns)

// Two flows that share 100 Gb/s, their rates in Gb/s at each microsecond.
const times = [0, 1, 2, 3, 4].map((us) => us * MICROSECOND)
const rates = [
  [100, 70, 55, 52, 50],
  [0, 30, 44, 49, 50],
]
const settled = convergenceTime(times, rates, [50, 50], { tolerance: 0.05 })

// A queue that was empty for 90 µs and held 40,000 bytes for 10.
const queue = new Histogram(3)
queue.record(0, 90 * MICROSECOND)
queue.record(40_000, 10 * MICROSECOND)

export const report = [
  `up to ${smallest!.endBytes} bytes: ${smallest!.count} flows, slowdown ${smallest!.mean} on average, ${smallest!.p99} at p99`,
  `of all, half are at most ${quantile(Float64Array.from(slowdowns).sort(), 0.5, "nearest-rank")} (nearest rank)`,
  `fairness ${jainIndex([70, 30]).toFixed(3)} after 1 µs; within 5 % of the fair share after ${formatTime(settled)}`,
  `queue: ${queue.quantile(0.9)} bytes at p90, ${queue.quantile(0.99)} at p99, ${queue.mean} on average`,
  `link: ${linkUse(1e6, 100e9, 100 * MICROSECOND) * 100} % used`,
]
