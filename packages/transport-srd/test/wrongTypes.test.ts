import { idleController, optionsSuite, refusalOf } from "@rdmakit/conformance"
import { expect, it } from "vitest"
import { efaGenerations, SrdOptionsError, srdConfig, srdFlows, srdVerbs } from "../src/index.ts"

const options = Object.keys(srdConfig({ controller: idleController }))

for (const [name, make] of Object.entries({ srdConfig, srdFlows, srdVerbs }))
  optionsSuite(name, { make, errors: [SrdOptionsError], options })

it("srdVerbs refuses what a device cannot be of a wrong type, and names it", () => {
  const v3 = efaGenerations.v3
  const given = (more: object): unknown => refusalOf(() => srdVerbs({ controller: idleController, ...more }))
  for (const value of [null, "1", [1], {}, () => 0]) {
    for (const option of ["rnrDelayPs", "unsolicitedWrites", "seed", "datagrams"])
      expect(given({ [option]: value })).toMatchObject({ _tag: "SrdOptionsError", option, value })
    for (const field of Object.keys(v3)) {
      const error = given({ capabilities: { ...v3, [field]: value } })
      expect(error).toMatchObject({ _tag: "SrdOptionsError", option: `capabilities.${field}`, value })
    }
  }
  for (const value of [null, "v3", [v3]])
    expect(given({ capabilities: value })).toMatchObject({ option: "capabilities", value })
})
