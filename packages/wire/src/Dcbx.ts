import type { LldpTlv } from "./Lldp.ts"
import { EmitError, put16, put32, u16, u24, u32, uint } from "./Octets.ts"

/** How a traffic class is served (IEEE 802.1Q Table D-7). */
export type TransmissionSelection = "strict" | "creditBasedShaper" | "ets" | "vendor"

/** Which priority an application's frames take (IEEE 802.1Q §D.2.11). */
export interface ApplicationPriority {
  /** 0 to 7. */
  readonly priority: number
  /** What `protocol` is: 1 an EtherType, 2 a TCP or SCTP port, 3 a UDP or DCCP port, 4 any of these ports, 5 a DSCP. */
  readonly selector: 1 | 2 | 3 | 4 | 5
  readonly protocol: number
}

/** Data centre bridging exchange (IEEE 802.1Q Annex D): the elements that a lossless fabric agrees on. */
export type Dcbx =
  | {
      readonly kind: "etsConfiguration"
      readonly willing: boolean
      readonly creditBasedShaper: boolean
      /** 0 stands for 8. */
      readonly trafficClassesMax: number
      /** For each of the eight priorities its traffic class, 0 to 15. */
      readonly trafficClasses: ReadonlyArray<number>
      /** For each of the eight traffic classes its percentage. */
      readonly bandwidths: ReadonlyArray<number>
      readonly selections: ReadonlyArray<TransmissionSelection>
    }
  | {
      readonly kind: "etsRecommendation"
      readonly trafficClasses: ReadonlyArray<number>
      readonly bandwidths: ReadonlyArray<number>
      readonly selections: ReadonlyArray<TransmissionSelection>
    }
  | {
      readonly kind: "pfcConfiguration"
      readonly willing: boolean
      /** The port cannot bypass MACsec: it takes longer to answer a pause. */
      readonly macsecBypass: boolean
      /** How many classes may have PFC at once, 0 to 15. */
      readonly capability: number
      /** For each of the eight priorities whether PFC is on. */
      readonly enabled: ReadonlyArray<boolean>
    }
  | { readonly kind: "applicationPriority"; readonly table: ReadonlyArray<ApplicationPriority> }

const OUI = 0x00_80c2
const subtypes = { etsConfiguration: 9, etsRecommendation: 10, pfcConfiguration: 11, applicationPriority: 12 } as const
const CLASSES = 8
const ETS_BYTES = 25
const PFC_BYTES = 6
const selectionCodes: Readonly<Record<TransmissionSelection, number>> = {
  strict: 0,
  creditBasedShaper: 1,
  ets: 2,
  vendor: 255,
}
const selectionNames = /* @__PURE__ */ new Map(
  Object.entries(selectionCodes).map(([name, code]) => [code, name as TransmissionSelection]),
)

export const isDcbx = (tlv: LldpTlv): tlv is Dcbx => Object.hasOwn(subtypes, tlv.kind)

const readTables = (data: Uint8Array) => {
  const selections: Array<TransmissionSelection> = []
  for (const code of data.subarray(17, 25)) {
    const selection = selectionNames.get(code)
    if (selection === undefined) return undefined
    selections.push(selection)
  }
  const assignment = u32(data, 5)
  const trafficClasses = Array.from({ length: CLASSES }, (_, priority) => (assignment >>> (28 - 4 * priority)) & 15)
  return { trafficClasses, bandwidths: [...data.subarray(9, 17)], selections }
}

/** Reads the data of an organisationally specific element; undefined when it is none of these, or not legal. */
export const dcbxTlv = (data: Uint8Array): Dcbx | undefined => {
  if (data.length < 5 || u24(data, 0) !== OUI) return undefined
  const subtype = data[3]!
  const flags = data[4]!
  if (subtype === subtypes.etsConfiguration && data.length === ETS_BYTES && (flags & 0x38) === 0) {
    const tables = readTables(data)
    const willing = (flags & 0x80) !== 0
    const creditBasedShaper = (flags & 0x40) !== 0
    return tables && { kind: "etsConfiguration", willing, creditBasedShaper, trafficClassesMax: flags & 7, ...tables }
  }
  if (subtype === subtypes.etsRecommendation && data.length === ETS_BYTES && flags === 0) {
    const tables = readTables(data)
    return tables && { kind: "etsRecommendation", ...tables }
  }
  if (subtype === subtypes.pfcConfiguration && data.length === PFC_BYTES && (flags & 0x30) === 0) {
    const enabled = Array.from({ length: CLASSES }, (_, priority) => ((data[5]! >> priority) & 1) === 1)
    const willing = (flags & 0x80) !== 0
    return { kind: "pfcConfiguration", willing, macsecBypass: (flags & 0x40) !== 0, capability: flags & 15, enabled }
  }
  if (subtype === subtypes.applicationPriority && (data.length - 5) % 3 === 0 && flags === 0) {
    const table: Array<ApplicationPriority> = []
    for (let at = 5; at < data.length; at += 3) {
      const selector = data[at]! & 7
      if ((data[at]! & 0x18) !== 0 || selector === 0 || selector > 5) return undefined
      const priority = data[at]! >> 5
      table.push({ priority, selector: selector as ApplicationPriority["selector"], protocol: u16(data, at + 1) })
    }
    return { kind: "applicationPriority", table }
  }
  return undefined
}

const bytesOf = (value: Dcbx): number => {
  if (value.kind === "pfcConfiguration") return PFC_BYTES
  return value.kind === "applicationPriority" ? 5 + 3 * value.table.length : ETS_BYTES
}

/** The data of the organisationally specific element. */
export const emitDcbx = (value: Dcbx): Uint8Array => {
  const data = new Uint8Array(bytesOf(value))
  put16(data, 0, OUI >> 8)
  data[2] = OUI & 0xff
  data[3] = subtypes[value.kind]
  if (value.kind === "pfcConfiguration") {
    const flags = (value.willing ? 0x80 : 0) | (value.macsecBypass ? 0x40 : 0)
    data[4] = flags | uint(value.capability, 4, "lldp", "capability")
    eight(value.enabled, "enabled").forEach((on, priority) => {
      if (on) data[5]! |= 1 << priority
    })
    return data
  }
  if (value.kind === "applicationPriority") {
    value.table.forEach(({ priority, selector, protocol }, index) => {
      data[5 + 3 * index] = (uint(priority, 3, "lldp", "priority") << 5) | selector
      put16(data, 6 + 3 * index, uint(protocol, 16, "lldp", "protocol"))
    })
    return data
  }
  if (value.kind === "etsConfiguration") {
    const flags = (value.willing ? 0x80 : 0) | (value.creditBasedShaper ? 0x40 : 0)
    data[4] = flags | uint(value.trafficClassesMax, 3, "lldp", "trafficClassesMax")
  }
  let assignment = 0
  for (const trafficClass of eight(value.trafficClasses, "trafficClasses"))
    assignment = assignment * 16 + uint(trafficClass, 4, "lldp", "trafficClasses")
  put32(data, 5, assignment)
  eight(value.bandwidths, "bandwidths").forEach((percent, index) => {
    data[9 + index] = uint(percent, 8, "lldp", "bandwidths")
  })
  eight(value.selections, "selections").forEach((selection, index) => {
    data[17 + index] = selectionCodes[selection]
  })
  return data
}

const eight = <A>(values: ReadonlyArray<A>, field: string): ReadonlyArray<A> => {
  if (values.length === CLASSES) return values
  throw new EmitError("lldp", field, values.length, "8 entries")
}
