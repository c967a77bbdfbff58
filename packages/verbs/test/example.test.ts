import { expect, it } from "vitest"
import { program } from "../examples/twoEndpoints.ts"
import { resultOf } from "./program.ts"

it("the example does what the README says", () => {
  expect(resultOf(program)).toEqual({ said: "hello", read: "written" })
})
