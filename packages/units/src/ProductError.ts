/**
 * x·y − fl(x·y), exactly, given the rounded product: Dekker's product (1971), with Veltkamp's split of a double into
 * two halves of 26 bits. Holds while neither factor passes 2^996 and the error does not underflow.
 */
export const productError = (x: number, y: number, product: number): number => {
  const xScaled = x * SPLIT
  const xHigh = xScaled - (xScaled - x)
  const xLow = x - xHigh
  const yScaled = y * SPLIT
  const yHigh = yScaled - (yScaled - y)
  const yLow = y - yHigh
  return xLow * yLow - (product - xHigh * yHigh - xLow * yHigh - xHigh * yLow)
}

/** 2^27 + 1. */
const SPLIT = 134217729
