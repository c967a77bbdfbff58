import {
  formatRate,
  formatSize,
  formatTime,
  parseRate,
  parseSize,
  parseTime,
  Random,
  serializationPs,
} from "@rdmakit/units"

const rateBps = parseRate("100Gbps")
const delayPs = parseTime("1us")
const bytes = parseSize("4KiB")

const oneWayPs = delayPs + serializationPs(bytes, rateBps)
const backoffPs = Math.floor(new Random(42).exponential(delayPs))

export const report = `${formatSize(bytes)} at ${formatRate(rateBps)} arrives after ${formatTime(oneWayPs)}; try again in ${formatTime(backoffPs)}`
