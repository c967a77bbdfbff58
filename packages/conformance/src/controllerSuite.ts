import type { ControllerFactory } from "@rdmakit/protocol"
import { describe, it } from "vitest"
import { type ControllerExpectations, controllerChecks } from "./controllerChecks.ts"

/**
 * Registers, with vitest, what every congestion controller has to pass. Call it at the top of a test file:
 *
 * ```ts
 * controllerSuite(hpcc({ variant: "paper" }))
 * ```
 *
 * Some laws are slower than others, or make weaker promises: `expectations` says so, and is part of what the package
 * tells its users.
 */
export const controllerSuite = (factory: ControllerFactory, expectations: ControllerExpectations = {}): void => {
  describe(`${factory.name} keeps the contract of a controller`, () => {
    for (const { name, run } of controllerChecks(factory, expectations)) it(name, run)
  })
}
