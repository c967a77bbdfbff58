import { formatSize } from "@rdmakit/units"
import { Effect, Stdio, Stream } from "effect"
import { Refused } from "./Exit.ts"
import { systemWords } from "./SystemWords.ts"

/** The argument that stands for standard input, and what its faults are called. */
export const STDIN = "-"
export const STDIN_NAME = "standard input"

/** What is read whole: flow files and completion times of ten million flows are smaller. */
const BYTES_MAX = 2 ** 29

/** Everything on standard input. */
export const readStandardInput: Effect.Effect<Uint8Array, Refused, Stdio.Stdio> = Effect.gen(function* () {
  const { stdin } = yield* Stdio.Stdio
  const chunks: Array<Uint8Array> = []
  let length = 0
  yield* Stream.runForEachWhile(stdin, (chunk) =>
    Effect.sync(() => {
      chunks.push(chunk)
      length += chunk.length
      return length <= BYTES_MAX
    }),
  ).pipe(Effect.mapError((error) => new Refused({ message: `standard input cannot be read: ${systemWords(error)}` })))
  if (length > BYTES_MAX) {
    const message = `standard input: found more than ${formatSize(BYTES_MAX)}, expected less`
    return yield* new Refused({ message, hint: "name a file in its place" })
  }
  const octets = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    octets.set(chunk, at)
    at += chunk.length
  }
  return octets
})
