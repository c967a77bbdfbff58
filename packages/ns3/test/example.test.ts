import { expect, test } from "vitest"
import { remarks, table, target, verdict } from "../examples/slowdown.ts"

test("the example of the README runs", () => {
  expect(remarks).toEqual(["config.txt:7:1: note: U_TARGET again: this one holds, not that of line 6"])
  expect(target).toBe("CC_MODE 3, eta 0.95, AI 50 Mb/s")
  expect(table).toEqual(["up to 10000 bytes: 1 flows, slowdown 2 (p99 2)"])
  expect(verdict).toBe("0 of 1 the same; the worst took 9158 ns and not 4536")
})
