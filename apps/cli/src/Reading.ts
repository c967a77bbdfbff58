import { Ns3FormatError } from "@rdmakit/ns3"
import { InputsRefused } from "@rdmakit/scenario"
import { Effect } from "effect"

/** Reads with a parser that throws its fault. */
export const reading = <A>(read: () => A): Effect.Effect<A, InputsRefused> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(read())
    } catch (error) {
      if (error instanceof Ns3FormatError) return Effect.fail(refused(error))
      throw error
    }
  })

/** One fault is enough to refuse. */
export const refused = (fault: Ns3FormatError): InputsRefused => new InputsRefused({ faults: [fault], notes: [] })
