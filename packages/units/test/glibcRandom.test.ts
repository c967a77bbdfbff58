import { expect, it } from "vitest"
import { GlibcRandom } from "../src/index.ts"

// Printed by programs that call srand and rand of the GNU C library 2.36.
it.each([
  [1, [1804289383, 846930886, 1681692777], 1908609430],
  [0, [1804289383, 846930886, 1681692777], 1908609430],
  [42, [71876166, 708592740, 1483128881], 48510282],
  [-5, [1469203335, 1952330421, 2063378439], 1292523348],
  [2147483647, [1065668062, 2142264300, 1066566375], 1070115311],
] as const)("is rand() after srand(%i)", (seed, first, tenThousandth) => {
  const random = new GlibcRandom(seed)
  expect([random.bits(), random.bits(), random.bits()]).toEqual(first)
  for (let n = 3; n < 9999; n++) random.bits()
  expect(random.bits()).toBe(tenThousandth)
})

it("has seed 1 when it is given none, as a program that never calls srand", () => {
  expect(new GlibcRandom().bits()).toBe(1804289383)
})
