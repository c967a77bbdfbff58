/**
 * MRG32k3a, the combined multiple recursive generator of L'Ecuyer (1999), with the streams and substreams of
 * L'Ecuyer, Simard, Chen and Kelton (2002): stream n starts n · 2^127 steps into the period, substream j another
 * j · 2^76. It is the generator of ns-3 (RngStream), whose seed fills all six words of the state.
 */
const M1 = 4294967087
const M2 = 4294944443
const A12 = 1403580
const A13 = 810728
const A21 = 527612
const A23 = 1370589
/** Makes (0, m1] a number in (0, 1). */
const NORM = 1 / (M1 + 1)

const STREAM_BITS = 127
/** ns-3 numbers the streams that programs ask for by number from here on; those before are handed out in turn. */
const ASSIGNED_BITS = 63
const SUBSTREAM_BITS = 76

/** A 3 × 3 matrix by rows. */
type Matrix = ReadonlyArray<number>
/** One step of each component, from (s0, s1, s2) to (s1, s2, s3). */
const STEP1: Matrix = [0, 1, 0, 0, 0, 1, M1 - A13, A12, 0]
const STEP2: Matrix = [0, 1, 0, 0, 0, 1, M2 - A23, 0, A21]

/** value mod m, 0 or more, for a whole value between −2^53 and 2^53; half the cost of `%` on doubles. */
const reduce = (value: number, m: number): number => {
  const rest = value - Math.floor(value / m) * m
  // The quotient is rounded, so it is one too large when the value is just under a multiple.
  return rest < 0 ? rest + m : rest
}

/**
 * (a·x + b·y + c·z) mod m, all below 2^32, without passing 2^53: the coefficients are taken in halves of 16 bits, so
 * each sum of three products is below 3 · 2^48.
 */
const dot = (a: number, x: number, b: number, y: number, c: number, z: number, m: number): number => {
  const high = (a >>> 16) * x + (b >>> 16) * y + (c >>> 16) * z
  const low = (a & 0xffff) * x + (b & 0xffff) * y + (c & 0xffff) * z
  return reduce(reduce(high, m) * 65536 + low, m)
}

const multiply = (p: Matrix, q: Matrix, m: number): Matrix =>
  Array.from({ length: 9 }, (_, index) => {
    const row = index - (index % 3)
    const column = index % 3
    return dot(p[row]!, q[column]!, p[row + 1]!, q[3 + column]!, p[row + 2]!, q[6 + column]!, m)
  })

/** step^(2^power), for each component; kept, since every stream starts from a few of them. */
const jump = (power: number): readonly [Matrix, Matrix] => {
  while (jumps.length <= power) {
    const [p1, p2] = jumps[jumps.length - 1]!
    jumps.push([multiply(p1, p1, M1), multiply(p2, p2, M2)])
  }
  return jumps[power]!
}
const jumps: Array<readonly [Matrix, Matrix]> = [[STEP1, STEP2]]

/** Moves the three words of one component at `at` by a matrix. */
const apply = (state: Float64Array, at: number, p: Matrix, m: number): void => {
  const s0 = state[at]!
  const s1 = state[at + 1]!
  const s2 = state[at + 2]!
  state[at] = dot(p[0]!, s0, p[1]!, s1, p[2]!, s2, m)
  state[at + 1] = dot(p[3]!, s0, p[4]!, s1, p[5]!, s2, m)
  state[at + 2] = dot(p[6]!, s0, p[7]!, s1, p[8]!, s2, m)
}

/** Moves a state (six words) count · 2^power steps: one product of a matrix and a vector for each bit of the count. */
export const advance = (state: Float64Array, count: number, power: number): void => {
  let bit = power
  for (let rest = count; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) {
      const [p, q] = jump(bit)
      apply(state, 0, p, M1)
      apply(state, 3, q, M2)
    }
    bit++
  }
}

const start = (seed: number, stream: number, substream: number): Float64Array => {
  if (!(Number.isInteger(seed) && seed >= 1 && seed < M2)) {
    throw new RangeError(`seed ${seed}: MRG32k3a takes 1 to ${M2 - 1}`)
  }
  for (const index of [stream, substream]) {
    if (!(Number.isSafeInteger(index) && index >= 0)) throw new RangeError(`stream ${index}: whole, 0 to 2^53 - 1`)
  }
  const state = new Float64Array(6).fill(seed)
  advance(state, stream, STREAM_BITS)
  advance(state, substream, SUBSTREAM_BITS)
  return state
}

/** The next value of each component; the output is their difference modulo m1. Both terms together stay below 2^53 only as a difference. */
const next1 = (state: Float64Array): number => reduce(A12 * state[1]! - A13 * state[0]!, M1)
const next2 = (state: Float64Array): number => reduce(A21 * state[5]! - A23 * state[3]!, M2)
const output = (x: number, y: number): number => (x > y ? x - y : x - y + M1) * NORM

/** One substream of MRG32k3a. */
export class Mrg32k3a {
  private readonly state: Float64Array

  /**
   * @param seed 1 to 4,294,944,442; all six words of the state (ns-3's RngSeed, 1 by default there)
   * @param stream 0 or more: ns-3 numbers its random variables
   * @param substream 0 or more: ns-3's run number, 1 by default there
   * @throws RangeError
   */
  constructor(seed: number, stream = 0, substream = 0) {
    this.state = start(seed, stream, substream)
  }

  /**
   * The stream that ns-3 gives a program that asks for number `stream` (`RandomVariableStream::SetStream`): 2^63 past
   * those it hands out by itself. Arguments as of the constructor.
   *
   * @throws RangeError
   */
  static assigned(seed: number, stream: number, substream = 0): Mrg32k3a {
    const generator = new Mrg32k3a(seed, stream, substream)
    advance(generator.state, 1, STREAM_BITS + ASSIGNED_BITS)
    return generator
  }

  /** The next number in (0, 1), a multiple of about 2^-32. */
  uniform(): number {
    const state = this.state
    const x = next1(state)
    const y = next2(state)
    state[0] = state[1]!
    state[1] = state[2]!
    state[2] = x
    state[3] = state[4]!
    state[4] = state[5]!
    state[5] = y
    return output(x, y)
  }
}

/**
 * The first number of one stream after another. A program that makes a new random variable for each draw, as the
 * ECN marking of the public HPCC simulator does, uses up one stream a draw; here each costs one jump of 2^127 steps.
 */
export class StreamSequence {
  /** The stream that `next` reads. */
  stream: number
  private readonly state: Float64Array

  /** Arguments as of `Mrg32k3a`. */
  constructor(seed: number, firstStream: number, substream = 0) {
    this.stream = firstStream
    this.state = start(seed, firstStream, substream)
  }

  /** The first number of the next stream, in (0, 1). */
  next(): number {
    const first = output(next1(this.state), next2(this.state))
    // Jumps commute, so the substream's start moves with the stream's.
    advance(this.state, 1, STREAM_BITS)
    this.stream++
    return first
  }

  /** Passes over streams that someone else used. */
  skip(streams: number): void {
    advance(this.state, streams, STREAM_BITS)
    this.stream += streams
  }
}
