import fc from "fast-check"
import { expect, it } from "vitest"
import { Ring } from "../src/Ring.ts"

it("gives what came first, as an array that is pushed and shifted does", () => {
  fc.assert(
    fc.property(fc.array(fc.boolean(), { maxLength: 300 }), (steps) => {
      const ring = new Ring<number>()
      const list: Array<number> = []
      steps.forEach((isPush, number) => {
        if (isPush || list.length === 0) {
          ring.push(number)
          list.push(number)
        } else {
          expect(ring.shift()).toBe(list.shift())
        }
        expect(ring.isEmpty).toBe(list.length === 0)
      })
      expect(list.map(() => ring.shift())).toEqual(list)
    }),
  )
})

it("has room for more items than a call has for arguments, wherever the first one is", () => {
  const ring = new Ring<number>()
  const items = 2 ** 18
  for (let number = 0; number < 3; number++) ring.push(number)
  for (let number = 0; number < 3; number++) ring.shift()
  for (let number = 0; number < items; number++) ring.push(number)
  for (let number = 0; number < items; number++) if (ring.shift() !== number) expect.fail(`item ${number}`)
  expect(ring.isEmpty).toBe(true)
})
