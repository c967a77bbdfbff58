/** What fields of a scenario's `transport` say together. */
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioTransport } from "./ScenarioSchema.ts"

const REORDER_PACKETS = 2048

export const transportFaults = (section: ScenarioTransport, document: FieldSource): ReadonlyArray<Ns3FormatError> => {
  const faults: Array<Ns3FormatError> = []
  const refuse = (key: keyof ScenarioTransport, expected: string, hint?: string): void => {
    faults.push(document.fault(["transport", key], { expected, hint }))
  }
  if (section.recovery !== "selective-repeat") {
    for (const key of ["bdpPackets", "reorderPackets", "ackTimeoutHigh", "ackTimeoutFewPackets"] as const) {
      if (section[key] === undefined) continue
      refuse(key, "recovery: selective-repeat", "go-back-n limits neither, and has one timeout")
    }
    return faults
  }
  const { bdpPackets = 1, reorderPackets = REORDER_PACKETS, ackTimeout = 0, ackTimeoutHigh } = section
  if (bdpPackets > reorderPackets) refuse("bdpPackets", `at most reorderPackets, ${reorderPackets}`)
  if (ackTimeoutHigh !== undefined && ackTimeoutHigh < ackTimeout) refuse("ackTimeoutHigh", "at least ackTimeout")
  return faults
}
