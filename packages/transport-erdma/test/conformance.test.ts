import { type CountingEnd, flowSuite } from "@rdmakit/conformance"
import type { ErdmaOptions } from "../src/index.ts"
import { endsOf } from "./connection.ts"

/** Fifteen timeouts that double from 1 ms to 250 ms. */
const FAILS_WITHIN_PS = 4e12

const underTest = (name: string, options: Partial<ErdmaOptions> = {}) =>
  flowSuite(name, (now) => endsOf(now, options) as readonly [CountingEnd, CountingEnd], {
    failsWithinPs: FAILS_WITHIN_PS,
  })

underTest("erdma")
underTest("erdma, small packets", { underlayMtuBytes: 1550 })
underTest("erdma, no overlay, two segments an acknowledgement", {
  overlay: "none",
  underlayMtuBytes: 1500,
  ackEvery: 2,
})
