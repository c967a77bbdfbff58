import type { Ns3FormatError, Ns3Note } from "@rdmakit/ns3"
import { Data } from "effect"
import type { FieldPath, FieldSource } from "./ScenarioDocument.ts"

/** Something about the inputs that their author should know; the run goes on. */
export interface InputNote extends Ns3Note {
  /** A warning says that something written has no effect, or may not have the one that was meant. */
  readonly kind: "note" | "warning"
  /** The key of a config that changes nothing, when that is what the warning is about. */
  readonly idleKey?: string
}

export const asNote = (note: Ns3Note): InputNote => ({ ...note, kind: "note" })

/** A warning at a field of a scenario. */
export const warningAt = (path: FieldPath, text: string, document: FieldSource): InputNote => {
  const { file, line, column } = document.fault(path, { expected: "" })
  return { file, line, column, kind: "warning", text }
}

/**
 * Inputs that cannot be run. Each fault names file, line, column, what was found and what was expected; a file that
 * cannot be read gives its first fault only, since what follows one is guesswork.
 */
export class InputsRefused extends Data.TaggedError("InputsRefused")<{
  /** At least one. */
  readonly faults: ReadonlyArray<Ns3FormatError>
  /** What was noticed on the way. */
  readonly notes: ReadonlyArray<InputNote>
}> {
  override get message(): string {
    return this.faults.map((fault) => fault.message).join("\n")
  }
}
