import { compareFct, formatNote, parseConfig, parseFct, slowdownBuckets } from "@rdmakit/ns3"

// What a run was told to do, in rdmakit's units.
const { config, notes } = parseConfig(
  `TOPOLOGY_FILE topology.txt
FLOW_FILE flow.txt
CC_MODE 3
RATE_AI 50Mb/s
RATE_HAI 50Mb/s
U_TARGET 0.9
U_TARGET 0.95
`,
  "config.txt",
)
export const remarks = notes.map(formatNote)
export const target = `CC_MODE ${config.ccMode}, eta ${config.targetUtilisation}, AI ${config.rateAiBps / 1e6} Mb/s`

// What came out, with two congestion controls.
const hpcc = parseFct("0b000001 0b000101 10000 100 5000 2000000000 4536 4579\n", "hpcc.fct.txt")
const dcqcn = parseFct("0b000001 0b000101 10000 100 5000 2000000000 9158 4579\n", "dcqcn.fct.txt")

export const table = slowdownBuckets(dcqcn)
  .filter(({ count }) => count > 0)
  .map(({ endBytes, count, p50, p99 }) => `up to ${endBytes} bytes: ${count} flows, slowdown ${p50} (p99 ${p99})`)

const { matched, identical, worst } = compareFct(hpcc, dcqcn)
export const verdict = `${identical} of ${matched} the same; the worst took ${worst?.fctNsB} ns and not ${worst?.fctNsA}`
