import { optionsSuite, refusalOf } from "@rdmakit/conformance"
import { TcpTransportError } from "@rdmakit/transport-tcp"
import { expect, it } from "vitest"
import { IwarpError, iwarpFlows, iwarpVerbs } from "../src/index.ts"

optionsSuite("iwarpFlows", {
  make: iwarpFlows,
  errors: [IwarpError, TcpTransportError],
  options: ["ipMtuBytes", "telemetryBytes", "initialTimeoutPs", "leastTimeoutPs", "retryCount", "ackEvery", "ecn"],
})

it.each([null, "rc", 1, [1]])("iwarpVerbs refuses options that are none: %o", (options) => {
  const error = refusalOf(() => iwarpVerbs(options as never))
  expect(error).toBeInstanceOf(IwarpError)
  expect(error).toMatchObject({ option: "options", value: options, expected: "an object" })
})

it.each([null, "16384", 0, 1.5, 65_001, [1]])("segmentBytes of %o is refused by name", (segmentBytes) => {
  const error = refusalOf(() => iwarpVerbs({ segmentBytes: segmentBytes as never }))
  expect(error).toBeInstanceOf(IwarpError)
  expect(error).toMatchObject({ option: "segmentBytes", value: segmentBytes })
})
