/** What fields of a scenario's `transport` say together. */
import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { nativeTransport, type TransportSettings } from "@rdmakit/fabric"
import type { Ns3FormatError } from "@rdmakit/ns3"
import { RcOptionsError } from "@rdmakit/transport-ib"
import { formatTime } from "@rdmakit/units"
import type { FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioTransport } from "./ScenarioSchema.ts"
import { transportNames, transportSettings } from "./ScenarioSettings.ts"

/** What a connection is made of, whatever the controller: none of the fields depends on it. */
const made = (settings: TransportSettings) => nativeTransport(settings, hpcc(hpccPresets.paper), 1)

/** The scenario's field for a setting; undefined for what is none. */
const fieldOf = (setting: string): string | undefined =>
  Object.entries(transportNames).find(([, name]) => name === setting)?.[0]

/** The faults of a section whose fields are right one by one. What holds between them the transport says itself. */
export const transportFaults = (section: ScenarioTransport, document: FieldSource): ReadonlyArray<Ns3FormatError> => {
  if (section.recovery !== "selective-repeat") {
    const own = ["bdpPackets", "reorderPackets", "ackTimeoutHigh", "ackTimeoutFewPackets"] as const
    const hint = "go-back-n limits neither, and has one timeout"
    return own
      .filter((key) => section[key] !== undefined)
      .map((key) => document.fault(["transport", key], { expected: "recovery: selective-repeat", hint }))
  }
  try {
    made(transportSettings(section))
    return []
  } catch (error) {
    if (!(error instanceof RcOptionsError)) throw error
    const field = fieldOf(error.option)
    const expected = error.expected.replace(/\w+/g, (word) => fieldOf(word) ?? word)
    const timeout = formatTime(made({ recovery: section.recovery }).ackTimeoutPs)
    const isUnsaid = field === "ackTimeoutHigh" && section.ackTimeout === undefined
    const hint = isUnsaid ? `ackTimeout is ${timeout} unless it is given` : undefined
    return [document.fault(field === undefined ? ["transport"] : ["transport", field], { expected, hint })]
  }
}
