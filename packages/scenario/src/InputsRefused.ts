import type { Ns3FormatError, Ns3Note } from "@rdmakit/ns3"
import { Data } from "effect"

/** Something about the inputs that their author should know; the run goes on. */
export interface InputNote extends Ns3Note {
  /** A warning says that something written has no effect, or may not have the one that was meant. */
  readonly kind: "note" | "warning"
  /** The key of a config that changes nothing, when that is what the warning is about. */
  readonly idleKey?: string
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
