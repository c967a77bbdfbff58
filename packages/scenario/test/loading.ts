import { loadScenario } from "@rdmakit/scenario"
import { Effect, Result } from "effect"
import { memoryFiles } from "./memoryFiles.ts"

/** A scenario of this text, or why it is refused. */
export const loading = (text: string | Uint8Array, overrides: ReadonlyArray<string> = []) =>
  Effect.runPromise(
    loadScenario("s.yaml", { workingDirectory: "/", overrides }).pipe(
      Effect.result,
      Effect.provide(memoryFiles({ "/s.yaml": text })),
    ),
  )

/** The same where it loads. */
export const loadedScenario = async (text: string, overrides: ReadonlyArray<string> = []) => {
  const result = await loading(text, overrides)
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

/** The messages of its faults. */
export const faultsIn = async (text: string | Uint8Array, overrides: ReadonlyArray<string> = []) => {
  const result = await loading(text, overrides)
  if (Result.isSuccess(result)) throw new Error("accepted")
  return result.failure.faults.map(({ message }) => message)
}
