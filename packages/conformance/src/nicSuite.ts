import { describe, it } from "vitest"
import { type NicExpectations, type NicUnderTest, nicChecks } from "./nicChecks.ts"

/**
 * Registers, with vitest, what every NIC has to pass. Call it at the top of a test file. The NIC has three ports at
 * 100 Gb/s, and queue pairs of every kind; `NicBench` checks each of its steps.
 *
 * `expectations` says where a NIC makes weaker promises, and is part of what its package tells its users.
 */
export const nicSuite = (nic: NicUnderTest, expectations: NicExpectations = {}): void => {
  describe(`${nic.name} keeps the contract of a NIC`, () => {
    for (const { name, run } of nicChecks(nic, expectations)) it(name, run)
  })
}
