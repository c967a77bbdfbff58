import { describe, it } from "vitest"
import { type SwitchExpectations, type SwitchUnderTest, switchChecks } from "./switchChecks.ts"

/**
 * Registers, with vitest, what every switch policy has to pass. Call it at the top of a test file. The switch stands
 * between eight neighbours at 100 Gb/s and 1 µs, which obey its pauses; `SwitchBench` checks each of its answers.
 *
 * `expectations` says where a switch makes other promises, and is part of what its package tells its users.
 */
export const switchSuite = (subject: SwitchUnderTest, expectations: SwitchExpectations = {}): void => {
  describe(`${subject.name} keeps the contract of a switch`, () => {
    for (const { name, run } of switchChecks(subject, expectations)) it(name, run)
  })
}
