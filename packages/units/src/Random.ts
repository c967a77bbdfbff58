import { log } from "./Math.ts"

const TWO_32 = 2 ** 32

/**
 * MurmurHash3 (x86, 32 bits; Austin Appleby, public domain) of a key of three 32-bit words.
 * Switches hash flows with it, and `hash32` is built on it.
 *
 * @returns 0 to 2^32 − 1
 */
export const murmur3 = (seed: number, a: number, b: number, c: number): number => {
  let h = absorb(absorb(absorb(seed, a), b), c)
  h ^= 12 // the key's length, bytes
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const absorb = (h: number, word: number): number => {
  let k = Math.imul(word, 0xcc9e2d51)
  k = Math.imul((k << 15) | (k >>> 17), 0x1b873593)
  const mixed = h ^ k
  return (Math.imul((mixed << 13) | (mixed >>> 19), 5) + 0xe6546b64) | 0
}

/**
 * The random number at a place: a pure function of (seed, stream, counter), so two kernels that ask in different orders
 * get the same answers. It is MurmurHash3 of the stream and the counter (64 bits), keyed by the seed.
 *
 * @param seed 32 bits; more are cut off
 * @param stream 32 bits: what draws, such as a port
 * @param counter 0 to 2^53 − 1: how often it has drawn before
 * @returns 0 to 2^32 − 1
 */
export const hash32 = (seed: number, stream: number, counter: number): number =>
  murmur3(seed, stream, counter, counter < TWO_32 ? 0 : Math.floor(counter / TWO_32))

/** `hash32` as a number in [0, 1), a multiple of 2^-32. */
export const uniform = (seed: number, stream: number, counter: number): number => hash32(seed, stream, counter) / TWO_32

/**
 * A stream of random numbers: `hash32` with a counter inside. Two streams with the same seed and number give the same
 * numbers, on any machine. Good for simulation, not for secrets.
 */
export class Random {
  private readonly seed: number
  private readonly stream: number
  private counter = 0

  /**
   * @param seed 32 bits
   * @param stream 32 bits, default 0
   */
  constructor(seed: number, stream = 0) {
    this.seed = seed >>> 0
    this.stream = stream >>> 0
  }

  /** 32 random bits, 0 to 2^32 − 1. */
  bits(): number {
    return hash32(this.seed, this.stream, this.counter++)
  }

  /** A number in [0, 1), a multiple of 2^-53. */
  next(): number {
    const high = this.bits() >>> 5
    const low = this.bits() >>> 6
    return (high * 67108864 + low) / 9007199254740992
  }

  /**
   * A whole number below `n`, every one equally likely: draws in the last, incomplete round of n are thrown away.
   *
   * @param n whole, 1 to 2^32
   * @throws RangeError for any other n
   */
  int(n: number): number {
    if (!(Number.isInteger(n) && n >= 1 && n <= TWO_32)) throw new RangeError(`int(${n}): n is whole, 1 to 2^32`)
    const limit = TWO_32 - (TWO_32 % n)
    let draw = this.bits()
    while (draw >= limit) draw = this.bits()
    return draw % n
  }

  /**
   * An exponentially distributed number with this mean: the gap between the arrivals of a Poisson process.
   *
   * @param mean 0 or more, finite
   * @throws RangeError for any other mean
   */
  exponential(mean: number): number {
    if (!(mean >= 0 && mean < Infinity)) throw new RangeError(`exponential(${mean}): the mean is finite, 0 or more`)
    return -mean * log(1 - this.next())
  }

  /** Puts the items of an array in random order, in place (Fisher and Yates), and returns it. */
  shuffle<T>(items: Array<T>): Array<T> {
    for (let last = items.length - 1; last > 0; last--) {
      const other = this.int(last + 1)
      const item = items[last]!
      items[last] = items[other]!
      items[other] = item
    }
    return items
  }

  /**
   * A stream of its own, named by a number. It depends on this stream's seed and number, not on how much was drawn:
   * forks may be made in any order. Two forks with the same number are the same stream.
   */
  fork(stream: number): Random {
    return new Random(
      murmur3(this.seed, this.stream, stream, FORK_SEED),
      murmur3(this.seed, this.stream, stream, FORK_STREAM),
    )
  }
}

/** Third words of a key that no counter below 2^53 has, so forks share nothing with draws. */
const FORK_SEED = 0x80000000
const FORK_STREAM = 0x80000001
