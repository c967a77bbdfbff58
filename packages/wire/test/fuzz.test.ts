import { expect, it } from "vitest"
import { fuzz } from "./fuzz.ts"

// scripts/nightly/wire.ts runs ten million.
it("200,000 inputs, arbitrary and spoiled, through every parser", { timeout: 120_000 }, async () => {
  await expect(fuzz(1, 200_000)).resolves.toBeUndefined()
})
