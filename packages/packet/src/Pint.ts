import { log, log2, productError } from "@rdmakit/units"

/** Utilisations are encoded as counts of a 512th: max_concurrent of the HPCC simulator's pint.h. */
const UNITS = 512
/** Most that a packet carries. */
const BITS_MAX = 16
/** Utilisations whose logarithm is kept: up to 8 in units of a 512th. */
const KEPT = 4096

/**
 * How PINT tells of a utilisation in a few bits: by its logarithm to a base, rounded up or down at random so that the
 * utilisation it stands for is right on average (Ben Basat et al., PINT, SIGCOMM 2020; pint.cc of the HPCC simulator).
 *
 * The digest of U is log_base ⌈512·U⌉, at least 0; digest d stands for base^d / 512. A base of 1.05 takes 8 bits for a
 * utilisation of up to 512, 1.01 takes 11.
 */
export class PintCodec {
  readonly base: number
  /** Bits of the largest digest. */
  readonly bits: number
  /** Octets that carry a digest, 1 or 2. */
  readonly octets: number

  private readonly factor: number
  /** base^d, for every digest d. */
  private readonly powers: Float64Array
  /** The logarithms of small counts; NaN as long as nobody asked. */
  private readonly kept = new Float64Array(KEPT).fill(Number.NaN)

  /**
   * @param base above 1, so that 1 to 16 bits hold the digest of 512: 1.0002 to 250,000
   * @throws RangeError for any other
   */
  constructor(base: number) {
    const bits = PintCodec.bitsOf(base)
    if (!(bits >= 1 && bits <= BITS_MAX)) throw new RangeError(`PINT base ${base}: digests of 1 to ${BITS_MAX} bits`)
    this.base = base
    this.bits = bits
    this.octets = bits > 8 ? 2 : 1
    this.factor = 1 / log(base)
    this.powers = powersOf(base, 2 ** bits)
  }

  /** Bits that the digest of a utilisation of 512 takes; NaN for a base that is none. */
  static bitsOf(base: number): number {
    if (!(base > 1 && base < Number.POSITIVE_INFINITY)) return Number.NaN
    return Math.ceil(log2(log(UNITS * UNITS) * (1 / log(base))))
  }

  /**
   * The digest of a utilisation; the largest there is for one that is too large.
   * @param utilisation at least 0 @param draw at least 0, below 1
   */
  encode(utilisation: number, draw: number): number {
    const count = Math.max(1, Math.ceil(utilisation * UNITS))
    const power = this.logarithm(count)
    const lower = Math.floor(power)
    const { powers } = this
    const largest = powers.length - 1
    if (!(lower < largest)) return largest
    // A whole logarithm may be a rounding off: then the power above it is the next whole one, as in the reference.
    const low = powers[lower]!
    const high = lower === power ? low * this.base : powers[lower + 1]!
    const up = draw < (count - low) / (high - low)
    return up && lower < power ? lower + 1 : lower
  }

  /**
   * The utilisation that a digest stands for.
   * @param digest at least 0; above the largest it is taken for that
   */
  decode(digest: number): number {
    return this.powers[Math.min(digest, this.powers.length - 1)]! / UNITS
  }

  private logarithm(count: number): number {
    if (count >= KEPT) return log(count) * this.factor
    let power = this.kept[count]!
    if (Number.isNaN(power)) {
      power = log(count) * this.factor
      this.kept[count] = power
    }
    return power
  }
}

/** base^0 to base^(count − 1), each rounded once: products are carried as an unevaluated sum of two doubles. */
const powersOf = (base: number, count: number): Float64Array => {
  const powers = new Float64Array(count)
  let high = 1
  let low = 0
  for (let power = 0; power < count; power++) {
    powers[power] = high
    const product = high * base
    // Past the range of doubles nothing is left to carry.
    if (!(product < 2 ** 1000)) {
      high = product
      low = 0
      continue
    }
    const rest = productError(high, base, product) + low * base
    high = product + rest
    low = rest - (high - product)
  }
  return powers
}
