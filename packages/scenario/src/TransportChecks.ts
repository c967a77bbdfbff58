/** What fields of a scenario's `transport` say together. */
import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { nativeTransport, type TransportSettings } from "@rdmakit/fabric"
import { type Ns3FormatError, nearestWord } from "@rdmakit/ns3"
import { type ControllerFactory, type FlowTransport, OptionError } from "@rdmakit/protocol"
import { RcOptionsError } from "@rdmakit/transport-ib"
import { formatTime } from "@rdmakit/units"
import { optionFault, readOptions } from "./ScenarioControllers.ts"
import type { FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioTransport } from "./ScenarioSchema.ts"
import { transportNames, transportSettings } from "./ScenarioSettings.ts"
import { type NamedTransport, transports } from "./Transports.ts"

/** What a connection is made of, whatever the controller: none of the fields depends on it. */
const made = (settings: TransportSettings) => nativeTransport(settings, hpcc(hpccPresets.paper), 1)

/** The scenario's field for a setting; undefined for what is none. */
const fieldOf = (setting: string): string | undefined =>
  Object.entries(transportNames).find(([, name]) => name === setting)?.[0]

/** What `ackTimeout` is by default with selective repeat, which alone has another. */
const selectiveTimeout = (): string => formatTime(made({ recovery: "selective-repeat" }).ackTimeoutPs)

/** The faults of a section whose fields are right one by one. What holds between them the transport says itself. */
export const transportFaults = (section: ScenarioTransport, document: FieldSource): ReadonlyArray<Ns3FormatError> => {
  if (section.name !== undefined && section.name !== "rc") return []
  if (section.recovery !== "selective-repeat") {
    const own = ["bdpPackets", "reorderPackets", "ackTimeoutHigh", "ackTimeoutFewPackets"] as const
    const hint = `${section.recovery ?? "go-back-n"} limits neither, and has one timeout`
    const misplaced = own.filter((key) => section[key] !== undefined)
    if (misplaced.length > 0)
      return misplaced.map((key) =>
        document.fault(["transport", key], { expected: "recovery: selective-repeat", hint }),
      )
  }
  try {
    made(transportSettings(section))
    return []
  } catch (error) {
    if (!(error instanceof RcOptionsError)) throw error
    const field = fieldOf(error.option)
    const expected = error.expected.replace(/\w+/g, (word) => fieldOf(word) ?? word)
    const isUnsaid = field === "ackTimeoutHigh" && section.ackTimeout === undefined
    const hint = isUnsaid ? `ackTimeout is ${selectiveTimeout()} unless it is given` : undefined
    return [document.fault(field === undefined ? ["transport"] : ["transport", field], { expected, hint })]
  }
}

/** A section's transport, ready for a controller; undefined for reliable connections. */
export interface ChosenTransport {
  readonly named: NamedTransport
  readonly make: (controller: ControllerFactory, hops: number) => FlowTransport
}

/** The transport that a section names; or what is wrong with what it says. */
export const chosenTransport = (
  section: ScenarioTransport,
  document: FieldSource,
): ChosenTransport | undefined | ReadonlyArray<Ns3FormatError> => {
  const { name = "rc" } = section
  if (name === "rc") {
    if (section.options === undefined) return undefined
    return [document.fault(["transport", "options"], { expected: "the fields of rc themselves: it has no options" })]
  }
  const named = transports.get(name)
  if (named === undefined) {
    const known = ["rc", ...transports.keys()]
    const near = nearestWord(name, known)
    const hint = near === undefined ? undefined : `did you mean ${near}?`
    return [document.fault(["transport", "name"], { expected: known.join(" or "), hint })]
  }
  const foreign = Object.keys(section).filter((key) => !["name", "options", "baseRtt"].includes(key))
  const hint = `what ${name} is set to goes under options: ${Object.keys(named.options).join(", ")}`
  const misplaced = foreign.map((key) => document.fault(["transport", key], { expected: "a transport of rc", hint }))
  const { options, faults } = readOptions(section.options ?? {}, named.options, document, "transport")
  if (misplaced.length + faults.length > 0) return [...misplaced, ...faults]
  try {
    named.make(options, named.controller, 1)
  } catch (error) {
    if (!(error instanceof OptionError)) throw error
    return [optionFault(document, "transport", section.options, error)]
  }
  return { named, make: (controller, hops) => named.make(options, controller, hops) }
}
