import type { Engine, FlowCommand, FlowEngine, FlowEvent, Time } from "@rdmakit/protocol"
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

/** An end of a flow that counts the bytes of its peer's messages. */
export type CountingEnd = FlowEngine & { readonly bytesReceived: number }

/** What carries flows, as `transportSuite` and `transportChecks` take it. @param connect the two ends of a fresh connection */
export const flowsUnderTest = <End extends CountingEnd>(
  name: string,
  connect: (now: Time) => readonly [End, End],
): TransportUnderTest<FlowCommand, FlowEvent, End> => ({
  name,
  connect,
  send: (message, writeBytes) => ({ message, writeBytes }),
  outcome: ({ message, type, time, bytes }) => ({ message, completed: type === "completed", time, bytes }),
  received: (end) => end.bytesReceived,
  flow: (end) => end,
})

/** The same suite for what carries flows: what it tells its controllers is looked at too. @param connect as above */
export const flowSuite = <End extends CountingEnd>(
  name: string,
  connect: (now: Time) => readonly [End, End],
  expectations: TransportExpectations = {},
): void => transportSuite(flowsUnderTest(name, connect), expectations)
