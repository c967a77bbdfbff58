import { Effect, Stdio, Stream } from "effect"
import { expect, test } from "vitest"
import { readStandardInput } from "../src/StandardInput.ts"

const reading = (stdin: Stream.Stream<Uint8Array>) =>
  Effect.runPromise(
    readStandardInput.pipe(
      Effect.catch(({ message }) => Effect.succeed(message)),
      Effect.provide(Stdio.layerTest({ stdin })),
    ),
  )

test("what has no end is refused, not kept", async () => {
  const chunk = new Uint8Array(2 ** 24)
  const message = await reading(Stream.forever(Stream.make(chunk)))
  expect(message).toBe("standard input: found more than 512MiB, expected less")
})

test("what has an end is read whole", async () => {
  expect(await reading(Stream.make(Uint8Array.of(1, 2), Uint8Array.of(3)))).toEqual(Uint8Array.of(1, 2, 3))
})
