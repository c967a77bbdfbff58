import { Effect, Stdio, Stream } from "effect"
import { Refused } from "./Exit.ts"

/** The argument that stands for standard input, and what its faults are called. */
export const STDIN = "-"
export const STDIN_NAME = "standard input"

/** Everything on standard input. */
export const readStandardInput: Effect.Effect<Uint8Array, Refused, Stdio.Stdio> = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  const chunks = yield* Stream.runCollect(stdin)
  const octets = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const chunk of chunks) {
    octets.set(chunk, at)
    at += chunk.length
  }
  return octets
}).pipe(Effect.mapError((error) => new Refused({ message: `standard input cannot be read: ${error.reason.message}` })))
