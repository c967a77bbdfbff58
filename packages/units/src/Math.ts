/**
 * log, log2, exp, pow and cbrt with the same bits on every machine.
 *
 * ECMA-262 §21.3.2 lets an engine approximate these as it likes, so a simulation that calls Math.log is not
 * reproducible. Here they are made of + − × ÷ alone, which IEEE 754 defines to the last bit. Logarithms are carried as
 * an unevaluated sum of two doubles (about 65 bits). Measured against 140-bit arithmetic, log, log2 and cbrt are within
 * 0.501 units in the last place of the truth, exp within 0.65 and pow within 1 (subnormal results are rounded twice); a
 * result of few digits is exact: pow(10, 3) is 1000, cbrt(27) is 3. Outside a function's domain the answer is Math's.
 */
import { productError } from "./ProductError.ts"

/** ln 2, and what the double leaves out. */
const LN2 = Math.LN2
const LN2_TAIL = 2.3190468138462996e-17
/** ln 2 in two parts, the first of 41 bits: its product with an exponent is exact. */
const LN2_HIGH = 0.693147180559663
const LN2_LOW = 2.8235290563031577e-13
/** 1 / ln 2, and what the double leaves out. */
const LOG2_E = Math.LOG2E
const LOG2_E_TAIL = 2.0355273740931033e-17
/** 1/3, and what the double leaves out. */
const THIRD = 1 / 3
const THIRD_TAIL = 1.850371707708594e-17

const float = new Float64Array(1)
const words = new Uint32Array(float.buffer)
/** Where the sign and the exponent are; it depends on the byte order. */
const HIGH = new Uint8Array(Float64Array.of(1).buffer)[7] === 0x3f ? 1 : 0

/** The exponent that `split` found. */
let exponent = 0
/** The second double of the sum that `logOfMantissa` or `binaryLog` returned. */
let low = 0

/** Splits a positive finite x into 2^exponent · m and returns m, √½ ≤ m < √2. */
const split = (x: number): number => {
  float[0] = x
  exponent = -1023
  if (words[HIGH]! < 0x00100000) {
    float[0] = x * 2 ** 54
    exponent = -1023 - 54
  }
  const high = words[HIGH]!
  exponent += high >>> 20
  words[HIGH] = (high & 0xfffff) | 0x3ff00000
  const mantissa = float[0]!
  if (mantissa < Math.SQRT2) return mantissa
  exponent++
  return mantissa * 0.5
}

/** 2^n for −1022 ≤ n ≤ 1023. */
const powerOfTwo = (n: number): number => {
  float[0] = 0
  words[HIGH] = (n + 1023) << 20
  return float[0]!
}

/** value · 2^n, also where 2^n itself is no normal double. */
const scale = (value: number, n: number): number => {
  if (n > 1023) return value * 2 ** 1023 * powerOfTwo(n - 1023)
  if (n < -1022) return value * powerOfTwo(n + 200) * 2 ** -200
  return value * powerOfTwo(n)
}

/**
 * ln m for √½ ≤ m < √2, as a sum whose second part is left in `low`: with s = (m − 1)/(m + 1),
 * ln m = 2s·(1 + s²/3 + s⁴/5 + …), and s² ≤ 0.0295. The terms up to s²/3 are carried in pairs of doubles.
 */
const logOfMantissa = (m: number): number => {
  const f = m - 1
  const d = m + 1
  const part = d - m
  const dLow = m - (d - part) + (1 - part)
  const s = f / d
  const back = s * d
  const sLow = (f - back - productError(s, d, back) - s * dLow) / d
  const z = s * s
  const zLow = productError(s, s, z) + 2 * s * sLow
  const third = z * THIRD
  const thirdLow = productError(z, THIRD, third) + (z * THIRD_TAIL + zLow * THIRD)
  const rest = z * z * logSeries(z)
  const w = third + rest
  const wLow = rest - (w - third) + thirdLow
  const q = s * w
  const qLow = productError(s, w, q) + s * wLow + sLow * w
  const sum = s + q
  low = 2 * (q - (sum - s) + (sLow + qLow))
  return 2 * sum
}

/** 1/5 + z/7 + z²/9 + …; the first term left out is below 2^-58 of the sum. */
const logSeries = (z: number): number =>
  1 / 5 +
  z *
    (1 / 7 +
      z *
        (1 / 9 +
          z *
            (1 / 11 +
              z * (1 / 13 + z * (1 / 15 + z * (1 / 17 + z * (1 / 19 + z * (1 / 21 + z * (1 / 23 + z / 25)))))))))

/** log2 x of a positive finite x, as a sum whose second part is left in `low`. */
const binaryLog = (x: number): number => {
  const natural = logOfMantissa(split(x))
  const product = natural * LOG2_E
  const productLow = productError(natural, LOG2_E, product) + (natural * LOG2_E_TAIL + low * LOG2_E)
  const k = exponent
  const sum = k + product
  // Without an exponent the sum is the product; with one, it is the larger part.
  const rest = k === 0 ? productLow : product - (sum - k) + productLow
  const result = sum + rest
  low = rest - (result - sum)
  return result
}

/** e^(t + tLow) · 2^n for |t| ≤ 0.35 and a tLow far below it. */
const exponential = (t: number, tLow: number, n: number): number => {
  const square = t * t * expSeries(t)
  const rest = square + tLow * (1 + (t + square))
  const sum = t + rest
  const sumLow = rest - (sum - t)
  const value = 1 + sum
  return scale(value + (sum - (value - 1) + sumLow), n)
}

/** 1/2! + t/3! + t²/4! + …; the first term left out is below 2^-60. */
const expSeries = (t: number): number =>
  1 / 2 +
  t *
    (1 / 6 +
      t *
        (1 / 24 +
          t *
            (1 / 120 +
              t *
                (1 / 720 +
                  t *
                    (1 / 5040 +
                      t *
                        (1 / 40320 +
                          t *
                            (1 / 362880 +
                              t *
                                (1 / 3628800 +
                                  t *
                                    (1 / 39916800 +
                                      t * (1 / 479001600 + t * (1 / 6227020800 + t / 87178291200)))))))))))

/** The natural logarithm. */
export const log = (x: number): number => {
  if (!(x > 0 && x < Number.POSITIVE_INFINITY)) return logOutside(x)
  const mantissa = logOfMantissa(split(x))
  const k = exponent
  if (k === 0) return mantissa + low
  const whole = k * LN2_HIGH
  const sum = whole + mantissa
  return sum + (mantissa - (sum - whole) + (low + k * LN2_LOW))
}

/** The logarithm to base 2; whole at every power of two. */
export const log2 = (x: number): number => {
  if (!(x > 0 && x < Number.POSITIVE_INFINITY)) return logOutside(x)
  return binaryLog(x) + low
}

const logOutside = (x: number): number => {
  if (x === 0) return Number.NEGATIVE_INFINITY
  return x > 0 ? x : Number.NaN
}

/** e^x. */
export const exp = (x: number): number => {
  if (Number.isNaN(x)) return x
  if (x > 720) return Number.POSITIVE_INFINITY
  if (x < -760) return 0
  const n = Math.floor(x * LOG2_E + 0.5)
  const high = x - n * LN2_HIGH
  const t = high - n * LN2_LOW
  const part = t - high
  return exponential(t, high - (t - part) - (n * LN2_LOW + part), n)
}

/** x^y, with Math.pow's answers outside the reals: pow(1, Infinity) is NaN, pow(x, 0) is 1 for every x. */
export const pow = (x: number, y: number): number => {
  if (y === 0) return 1
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN
  const size = Math.abs(x)
  if (Math.abs(y) === Number.POSITIVE_INFINITY) {
    if (size === 1) return Number.NaN
    return size > 1 === y > 0 ? Number.POSITIVE_INFINITY : 0
  }
  // −0 to an odd power keeps its sign, so the sign is read from 1/x.
  const negative = x < 0 || (x === 0 && 1 / x < 0)
  const sign = negative && isOdd(y) ? -1 : 1
  if (size === 0 || size === Number.POSITIVE_INFINITY) {
    return sign * ((size === 0) === y > 0 ? 0 : Number.POSITIVE_INFINITY)
  }
  if (negative && !Number.isInteger(y)) return Number.NaN
  if (size === 1) return sign
  return sign * powOfPositive(size, y)
}

const powOfPositive = (x: number, y: number): number => {
  const logarithm = binaryLog(x)
  const product = y * logarithm
  if (product > 1025) return Number.POSITIVE_INFINITY
  if (product < -1080) return 0
  const productLow = productError(y, logarithm, product) + y * low
  const n = Math.floor(product + 0.5)
  const r = product - n
  const t = r * LN2
  const tLow = productError(r, LN2, t) + (r * LN2_TAIL + productLow * LN2)
  const sum = t + tLow
  return exponential(sum, tLow - (sum - t), n)
}

const isOdd = (y: number): boolean => Number.isInteger(y) && Math.abs(y) <= Number.MAX_SAFE_INTEGER && y % 2 !== 0

/** The cube root. */
export const cbrt = (x: number): number => {
  const size = Math.abs(x)
  if (!(size > 0 && size < Number.POSITIVE_INFINITY)) return x
  const mantissa = split(size)
  const third = Math.floor(exponent / 3)
  const m = mantissa * powerOfTwo(exponent - 3 * third)
  // m is in [√½, 4√2). A parabola through three of its cube roots is within 3 %; two steps of Halley's iteration, which
  // cubes the error, leave only rounding; one of Newton's with an exact residual removes that.
  let y = 0.9 + (m - 0.729) * (0.24813896 - 0.02324227 * (m - 2.744))
  y = halley(y, m)
  y = halley(y, m)
  const square = y * y
  const cube = square * y
  const cubeLow = productError(square, y, cube) + productError(y, y, square) * y
  const root = y + (m - cube - cubeLow) / (3 * square)
  return scale(x < 0 ? -root : root, third)
}

const halley = (y: number, m: number): number => {
  const cube = y * y * y
  return y * ((cube + 2 * m) / (2 * cube + m))
}
