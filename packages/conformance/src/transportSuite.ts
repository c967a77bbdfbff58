import type { Engine } from "@rdmakit/protocol"
import { describe, it } from "vitest"
import { type TransportExpectations, type TransportUnderTest, transportChecks } from "./transportChecks.ts"

/**
 * Registers, with vitest, what every transport has to pass. Call it at the top of a test file. The two ends are driven
 * by `EnginePair`, which checks every step; the network between them loses, duplicates and reorders packets, the same
 * ones at each run.
 *
 * `expectations` says where a transport makes weaker promises, and is part of what its package tells its users.
 */
export const transportSuite = <Command, Event, Endpoint extends Engine<Command, Event>>(
  transport: TransportUnderTest<Command, Event, Endpoint>,
  expectations: TransportExpectations = {},
): void => {
  describe(`${transport.name} keeps the contract of a transport`, () => {
    for (const { name, run } of transportChecks(transport, expectations)) it(name, run)
  })
}
