import type { Provider } from "@rdmakit/device/layer"
import type { Effect, Scope } from "effect"
import { resultOf } from "./program.ts"

/** What the same program is run in. */
export interface TestWorld {
  readonly name: string
  /** The result of a program that succeeds, on two devices; it must leave nothing behind. */
  readonly resultOf: <A, E>(program: Effect.Effect<A, E, Provider | Scope.Scope>) => Promise<A>
}

export const worlds: ReadonlyArray<TestWorld> = [{ name: "loopback", resultOf: async (program) => resultOf(program) }]
