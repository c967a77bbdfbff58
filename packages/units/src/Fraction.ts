import { productError } from "./ProductError.ts"

/**
 * ⌊a·b / c⌋, exactly, also where the product passes 2^53. No allocation and no big integers below 2^52.
 *
 * Below 2^53 the product is exact and so is the floor of the rounded quotient: a quotient just under an integer k is
 * k − 1/c at the nearest, further from k than half a unit in the last place. Above it the quotient of doubles is at
 * most one off, and the remainder, computed exactly as a pair of doubles, says which way.
 *
 * @param a whole, 0 to 2^53
 * @param b whole, 0 to 2^53
 * @param c whole, 1 to 2^52
 */
export const mulDivFloor = (a: number, b: number, c: number): number => {
  const product = a * b
  const quotient = product / c
  const floor = Math.floor(quotient)
  if (product <= Number.MAX_SAFE_INTEGER) return floor
  if (quotient >= 2 ** 51) return Number((BigInt(a) * BigInt(b)) / BigInt(c))
  const above = quotient - floor
  const slack = quotient * 2 ** -51
  if (above > slack && above < 1 - slack) return floor
  // The two products nearly cancel, so their difference is exact, and so is that of their rounding errors.
  const back = floor * c
  const remainder = product - back + (productError(a, b, product) - productError(floor, c, back))
  if (remainder < 0) return floor - 1
  return remainder >= c ? floor + 1 : floor
}
