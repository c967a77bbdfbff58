import { crcTables, updateCrc } from "./Tables.ts"

/**
 * A reflected CRC of sixteen octets at a time, by lookups of nibbles: what `pshufb` and `tbl` are for.
 *
 * A CRC without all ones before and after is linear. So what was read can be kept as any octets that have the CRC of all of
 * it: here the `PLANES` vectors of a step. To take the next step in, they are exchanged for others with the CRC that they
 * have with a step of zeros behind them, and the new octets are added. Octets at the same place of the vectors form a lane;
 * what is exchanged is the same for all lanes, and 32 bits of a lane are enough for any CRC: those of `STATE_PLANES`, for
 * which they are independent. (Those of four vectors in a row are not, for either polynomial here.)
 */
export const PLANES = 6
export const STATE_PLANES: ReadonlyArray<number> = [0, 1, 3, 5]
const LANES = 16
export const STEP_BYTES = PLANES * LANES

/**
 * For every nibble of a lane, low before high, and every vector of `STATE_PLANES`: what each of its sixteen values brings to
 * that vector's octet of the next state.
 * @throws RangeError for a polynomial whose CRCs those planes do not tell apart
 */
export const nibbleTables = (polynomial: number): Uint8Array => {
  const octets = crcTables(polynomial)
  const zeros = new Uint8Array(STEP_BYTES)
  const crcOf = (bit: number): number => {
    const step = new Uint8Array(STEP_BYTES)
    step[LANES * (bit >> 3) + LANES - 1] = 1 << (bit & 7)
    return updateCrc(octets, step, 0, STEP_BYTES, 0)
  }
  const inverse = inverseOf(Array.from({ length: 32 }, (_, bit) => crcOf(8 * STATE_PLANES[bit >> 3]! + (bit & 7))))
  const tables = new Uint8Array(2 * PLANES * STATE_PLANES.length * 16)
  for (let nibble = 0; nibble < 2 * PLANES; nibble++) {
    for (let bit = 0; bit < 4; bit++) {
      const next = times(inverse, updateCrc(octets, zeros, 0, STEP_BYTES, crcOf(4 * nibble + bit)))
      for (let value = 0; value < 16; value++) {
        if (((value >> bit) & 1) === 0) continue
        for (let out = 0; out < 4; out++) tables[16 * (4 * nibble + out) + value]! ^= next >>> (8 * out)
      }
    }
  }
  return tables
}

/** A matrix over GF(2), a word for each column, times a vector. */
const times = (columns: ReadonlyArray<number>, vector: number): number =>
  columns.reduce((sum, column, bit) => (((vector >>> bit) & 1) === 1 ? sum ^ column : sum), 0)

/** By Gauss and Jordan: for each bit which of the columns add up to it alone. */
const inverseOf = (columns: ReadonlyArray<number>): ReadonlyArray<number> => {
  const rows = columns.map((sum, bit) => ({ sum, from: 1 << bit }))
  for (let bit = 0; bit < 32; bit++) {
    const pivot = rows.findIndex(({ sum }, at) => at >= bit && ((sum >>> bit) & 1) === 1)
    if (pivot < 0) throw new RangeError("the planes of a state do not tell the CRCs of this polynomial apart")
    const row = rows[pivot]!
    rows[pivot] = rows[bit]!
    rows[bit] = row
    for (const other of rows) {
      if (other === row || ((other.sum >>> bit) & 1) === 0) continue
      other.sum ^= row.sum
      other.from ^= row.from
    }
  }
  return rows.map(({ from }) => from)
}
