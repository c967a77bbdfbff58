import { describe, expect, it } from "vitest"
import { IwarpError, iwarpFlows, iwarpVerbs } from "../src/index.ts"

const refusal = (make: () => unknown): unknown => {
  try {
    return make()
  } catch (error) {
    return error
  }
}

describe.each([
  ["iwarpVerbs", iwarpVerbs],
  ["iwarpFlows", iwarpFlows],
] as const)("%s, of values of a wrong type", (_name, make) => {
  it.each([null, "rc", 1, [1]])("refuses options that are none: %o", (options) => {
    const error = refusal(() => make(options as never))
    expect(error).toBeInstanceOf(IwarpError)
    expect(error).toMatchObject({ option: "options", value: options, expected: "an object" })
  })
})

it.each([null, "16384", 0, 1.5, 65_001, [1]])("segmentBytes of %o is refused by name", (segmentBytes) => {
  const error = refusal(() => iwarpVerbs({ segmentBytes: segmentBytes as never }))
  expect(error).toBeInstanceOf(IwarpError)
  expect(error).toMatchObject({ option: "segmentBytes", value: segmentBytes })
})
