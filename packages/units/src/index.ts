export { mulDivFloor } from "./Fraction.ts"
export { GlibcRandom } from "./GlibcRandom.ts"
export { cbrt, exp, log, log2, pow } from "./Math.ts"
export { Mrg32k3a, StreamSequence } from "./Mrg32k3a.ts"
export { productError } from "./ProductError.ts"
export { hash32, murmur3, Random, uniform } from "./Random.ts"
export { formatRate, parseRate, type Rate, ratePattern, tryParseRate } from "./Rate.ts"
export { ns3Nanoseconds, ns3TxNanoseconds, serializationPs } from "./Serialization.ts"
export { sharePattern, tryParseShare } from "./Share.ts"
export { formatSize, parseSize, type Size, sizePattern, tryParseSize } from "./Size.ts"
export {
  formatTime,
  MICROSECOND,
  MILLISECOND,
  NANOSECOND,
  NEVER,
  PICOSECOND,
  parseTime,
  SECOND,
  type Time,
  timePattern,
  tryParseTime,
} from "./Time.ts"
export { UnitError } from "./UnitError.ts"
