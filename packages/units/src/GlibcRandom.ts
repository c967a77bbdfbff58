/** Words of the generator's state, and how far apart the two that are added lie. */
const DEGREE = 31
const SEPARATION = 3
/** Outputs that `srand` throws away. */
const DISCARDED = 10 * DEGREE
/** The state is filled by the minimal standard generator of Park and Miller (1988): 16807·x mod 2^31 − 1. */
const MULTIPLIER = 16_807
const MODULUS = 2 ** 31 - 1

/**
 * `rand()` of the GNU C library: the additive feedback generator r(n) = r(n − 3) + r(n − 31) mod 2^32, whose lowest bit
 * is dropped (random_r.c, TYPE_3). Programs that never call `srand` have seed 1, ns-3's models among them.
 */
export class GlibcRandom {
  private readonly state = new Int32Array(DEGREE)
  private at = SEPARATION

  /** @param seed 32 bits, default 1; 0 counts as 1 */
  constructor(seed = 1) {
    const { state } = this
    let word = seed | 0 || 1
    state[0] = word
    for (let i = 1; i < DEGREE; i++) {
      // The C remainder has the sign of the dividend; a negative word is moved into the range once.
      word = (MULTIPLIER * word) % MODULUS
      if (word < 0) word += MODULUS
      state[i] = word
    }
    for (let i = 0; i < DISCARDED; i++) this.bits()
  }

  /** The next number, 0 to 2^31 − 1. */
  bits(): number {
    const { at, state } = this
    // state[at] is r(n − 31), and what stands 3 places before it r(n − 3).
    const before = at < SEPARATION ? at + DEGREE - SEPARATION : at - SEPARATION
    const word = (state[at]! + state[before]!) | 0
    state[at] = word
    this.at = at + 1 === DEGREE ? 0 : at + 1
    return word >>> 1
  }
}
