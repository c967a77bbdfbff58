import { readdirSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { DATA, referenceInputs, referenceText, runReference } from "./reference.ts"

const cases = readdirSync(new URL("program/", DATA)).sort()

/** Every key of the controllers and the network, at random; the simulator itself was not run on these. */
describe("random configs, as a separate program with the simulator's rules runs them", { timeout: 60_000 }, () => {
  it.each(cases)("%s: completion times and pauses, byte for byte", (name) => {
    const { simulation } = runReference(referenceInputs(`program/${name}/config.txt`))
    const { fct, pfc } = simulation.files()
    expect(fct).toBe(referenceText(`program/${name}/fct.txt`))
    const paused = readdirSync(new URL(`program/${name}/`, DATA)).includes("pfc.txt")
    expect(pfc).toBe(paused ? referenceText(`program/${name}/pfc.txt`) : "")
  })
})
