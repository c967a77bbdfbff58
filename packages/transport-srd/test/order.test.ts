import { hash32 } from "@rdmakit/units"
import { expect, it } from "vitest"
import { connect } from "./connection.ts"

/** The order in which two messages to one peer end, 1 MB and then 8 bytes; each packet takes 10 to 14 µs by its way. */
const orderOf = (seed: number): ReadonlyArray<number> => {
  const { pair } = connect({ path: ({ from, ordinal }) => [10e6 + (hash32(seed, from, ordinal) % 4_000_000)] })
  pair.command(0, { message: 0, writeBytes: 1_000_000 })
  pair.command(0, { message: 1, writeBytes: 8 })
  pair.run()
  return pair.events.map(({ event }) => event.message)
}

it("8 bytes that were given after 1 MB complete first under some seeds, and after it under others", () => {
  const orders = Array.from({ length: 20 }, (_, seed) => orderOf(seed).join())
  expect(new Set(orders)).toEqual(new Set(["0,1", "1,0"]))
  // The same seed, the same order.
  expect(Array.from({ length: 20 }, (_, seed) => orderOf(seed).join())).toEqual(orders)
})
