import type { Time } from "./Time.ts"

const PS_PER_BYTE_AT_1BPS = 8e12

/**
 * How long `bytes` take to leave at `bps`, rounded half up to whole picoseconds where it does not divide.
 *
 * The quotient of doubles is within 2^-52 of the truth, so its rounding is the true one unless it lies that close to a
 * half; those few are decided with integers. Common cases (whole bytes at whole gigabits) take the first way.
 *
 * @param bytes whole, 0 or more
 * @param bps bits per second, above 0 (at 0 the answer is `NEVER`)
 */
export const serializationPs = (bytes: number, bps: number): Time => {
  const quotient = (bytes * PS_PER_BYTE_AT_1BPS) / bps
  const rounded = Math.floor(quotient + 0.5)
  const fromHalf = quotient - Math.floor(quotient) - 0.5
  if (quotient < 2 ** 50 && Math.abs(fromHalf) > quotient * 2 ** -51) return rounded
  return quotient < 2 ** 53 ? serializationPsExactly(bytes, bps) : quotient
}

const serializationPsExactly = (bytes: number, bps: number): Time => {
  const [numerator, exponent] = binaryFraction(bps)
  // bps = numerator · 2^exponent; the exponent of a double is moved to the side where it is a whole factor.
  const top = BigInt(bytes) * 8_000_000_000_000n * (exponent < 0 ? 1n << BigInt(-exponent) : 1n)
  const bottom = numerator * (exponent > 0 ? 1n << BigInt(exponent) : 1n)
  return Number((2n * top + bottom) / (2n * bottom))
}

/** A positive double as an integer times a power of two. */
const binaryFraction = (value: number): readonly [bigint, number] => {
  let exponent = 0
  let whole = value
  while (!Number.isInteger(whole)) {
    whole *= 2
    exponent--
  }
  return [BigInt(whole), exponent]
}

/**
 * Seconds to whole nanoseconds the way ns-3 converts them: the fraction is cut to 64 bits, and the product is cut
 * again. Results that should be whole mostly come out one less: 550 B at 100 Gb/s, the double 4.4e-8, gives 43.
 *
 * ns = ⌊x⌋·10⁹ + ⌊⌊frac(x)·2⁶⁴⌋·10⁹ / 2⁶⁴⌋ (ns-3, int64x64_t and Time::From). The plain product is within 1e-7 of the
 * true one, so its floor decides unless it lies next to an integer (half the cost: 11 ns instead of 23). There, every
 * step is exact in doubles: 10⁹/2⁶⁴ = 5⁹/2⁵⁵, and 5⁹ < 2²¹, so each 32-bit half of the fraction times 5⁹ is below 2⁵³.
 *
 * @param seconds 0 to 9,007,199 (2^53 ns)
 */
export const ns3Nanoseconds = (seconds: number): number => {
  if (seconds < 1) {
    const product = seconds * 1e9
    const floor = Math.floor(product)
    if (Math.abs(product - floor - 0.5) < 0.499999) return floor
  }
  const whole = Math.floor(seconds)
  const fraction = Math.floor((seconds - whole) * TWO_64)
  const high = Math.floor(fraction / TWO_32)
  const low = fraction - high * TWO_32
  const product = high * FIVE_9 + Math.floor((low * FIVE_9) / TWO_32)
  return whole * 1e9 + Math.floor(product / TWO_23)
}

const TWO_64 = 2 ** 64
const TWO_32 = 2 ** 32
const TWO_23 = 2 ** 23
const FIVE_9 = 1953125

/**
 * ns-3's serialization time, whole nanoseconds: the double 8·bytes/bps through `ns3Nanoseconds`
 * (ns-3, DataRate::CalculateBytesTxTime). 1,090 B at 100 Gb/s: 87.
 */
export const ns3TxNanoseconds = (bytes: number, bps: number): number => ns3Nanoseconds((8 * bytes) / bps)
