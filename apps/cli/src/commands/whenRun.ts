import { Effect } from "effect"

/** What a command does, from a module that is loaded when the command is run, and so not for its help. */
export const whenRun =
  <Input, A, E, R>(load: () => Promise<(input: Input) => Effect.Effect<A, E, R>>) =>
  (input: Input): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.promise(load), (run) => run(input))
