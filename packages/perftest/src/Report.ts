/** Results as perftest 6.06 prints them: its columns, its widths, its tabs (perftest_parameters.h). */
import type { LatencyResult } from "./Latency.ts"
import type { PerftestResults } from "./outofband/PerftestMessages.ts"

export const RESULT_LINE = "-".repeat(87)

export const BANDWIDTH_HEADER = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]"

export const LATENCY_HEADER =
  " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] "

export const bandwidthLine = ({ bytes, iterations, peak, average, messageRate }: PerftestResults): string =>
  ` ${left(bytes, 7)}    ${left(iterations, 10)}       ${fixed(peak)}            ${fixed(average)}\t\t   ${fixed(messageRate, 6)}`

export const latencyLine = (result: LatencyResult): string =>
  ` ${left(result.bytes, 7)} ${result.iterations}          ${fixed(result.minUs)}        ${fixed(result.maxUs)}` +
  `      ${fixed(result.typicalUs)}  \t       ${fixed(result.averageUs)}     \t${fixed(result.deviationUs)}` +
  `\t\t${fixed(result.percentile99Us)} \t\t${fixed(result.percentile999Us)}`

/** `%-7.2f`. */
const fixed = (value: number, digits = 2): string => left(value.toFixed(digits), 7)

const left = (value: number | string, width: number): string => String(value).padEnd(width)
