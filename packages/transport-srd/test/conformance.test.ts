import { flowSuite } from "@rdmakit/conformance"
import type { SrdOptions } from "../src/index.ts"
import { endsOf } from "./connection.ts"

const underTest = (name: string, options: Partial<SrdOptions> = {}) =>
  flowSuite(name, (now) => endsOf(now, options), { ordered: false, failsWithinPs: 2e12 })

underTest("srd, 64 paths")
underTest("srd, one path", { paths: 1 })
underTest("srd, four paths that change all the time, a small window", {
  paths: 4,
  renewAfterPackets: 1,
  windowPackets: 8,
})
