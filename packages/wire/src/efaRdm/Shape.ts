import type { Layout } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import type { EfaRdm } from "./Packet.ts"

export const FORMAT = "efaRdm"

/** What of a packet follows from its type. */
export interface Shape {
  readonly code: number
  /** `kind`, and where the kind has them `protocol` and `deliveryComplete`. */
  readonly fixed: Readonly<Record<string, string | boolean>>
  readonly tagged: boolean
  /** Flags that tell the class of a request (table 3.1). */
  readonly classFlags: number
  /** It may have the optional headers of requests. */
  readonly isRequest: boolean
  /** Octets of the mandatory header, without its arrays. */
  readonly bytes: number
  /** The fields that packets have by their names: 32 or 64 bits each. */
  readonly words: ReadonlyArray<Word>
  /** Where reserved words of 32 bits lie. */
  readonly reserved: ReadonlyArray<number>
  /** Where counts and the connection lie in the mandatory header; -1: not there. */
  readonly targetsAt: number
  readonly sourcesAt: number
  readonly infoAt: number
  readonly connidAt: number
}

export interface Word {
  readonly name: string
  /** Octets before it. */
  readonly at: number
  readonly bits: 32 | 64
}

/** Fields that packets do not have by their names: they follow from the rest, or are optional. */
const DERIVED: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "type",
  "version",
  "flags",
  "targetCount",
  "sourceCount",
  "infoCount",
  "connid",
])

const BASE = "type:8 version:8 flags:16"
const MESSAGE = 0x04
const TAGGED = 0x08
const RMA = 0x10
const ATOMIC = 0x20

const CONFIRMED = "sendId:32 _:32"
const WINDOWED = "messageBytes:64 sendId:32 creditRequest:32"
const READ_BACK = "messageBytes:64 sendId:32 sourceCount:32"

const shape = (
  code: number,
  fixed: Shape["fixed"],
  fields: string,
  classFlags: number,
  isRequest: boolean,
  tagged = false,
): Shape => {
  const layout: Layout = littleLayout(FORMAT, `${BASE} ${fields}`)
  const atOf = (name: string): number => {
    const field = layout.fields.find((each) => each.name === name)
    return field === undefined ? -1 : field.bit / 8
  }
  const words = layout.fields.flatMap(
    ({ name, bit, bits }): ReadonlyArray<Word> =>
      DERIVED.has(name) || name === "reserved" ? [] : [{ name, at: bit / 8, bits: bits === 64 ? 64 : 32 }],
  )
  const reserved = layout.fields.flatMap(({ name, bit }) => (name === "reserved" ? [bit / 8] : []))
  return {
    code,
    fixed,
    tagged,
    classFlags,
    isRequest,
    bytes: layout.bytes,
    words,
    reserved,
    targetsAt: atOf("targetCount"),
    sourcesAt: atOf("sourceCount"),
    infoAt: atOf("infoCount"),
    connidAt: atOf("connid"),
  }
}

const reply = (code: number, kind: string, fields: string): Shape => shape(code, { kind }, fields, 0, false)

/** The type of a tagged message is the next one. */
const messages = (code: number, protocol: string, deliveryComplete: boolean, fields: string): ReadonlyArray<Shape> => {
  const fixed = { kind: "message", protocol, deliveryComplete }
  const text = `messageId:32 ${fields}`.trim()
  return [
    shape(code, fixed, text, MESSAGE, true),
    shape(code + 1, fixed, `${text} tag:64`, MESSAGE | TAGGED, true, true),
  ]
}

const write = (code: number, protocol: string, deliveryComplete: boolean, fields: string): Shape =>
  shape(code, { kind: "write", protocol, deliveryComplete }, `targetCount:32 ${fields}`.trim(), RMA, true)

const read = (code: number, protocol: string): Shape =>
  shape(code, { kind: "read", protocol }, "targetCount:32 messageBytes:64 receiveId:32 windowBytes:32", RMA, true)

const atomic = (code: number, protocol: string, deliveryComplete: boolean, last: string): Shape =>
  shape(
    code,
    { kind: "atomic", protocol, deliveryComplete },
    `messageId:32 targetCount:32 datatype:32 operation:32 ${last}`,
    ATOMIC,
    true,
  )

/** All types that are read and written, as efa_rdm_protocol.h numbers them. */
const shapes = /* @__PURE__ */ ((): ReadonlyArray<Shape> => [
  reply(3, "cts", "connid:32 sendId:32 receiveId:32 windowBytes:64"),
  reply(4, "ctsData", "receiveId:32 segmentBytes:64 offset:64"),
  reply(5, "readResponse", "connid:32 receiveId:32 sendId:32 segmentBytes:64"),
  reply(7, "endOfRead", "sendId:32 receiveId:32 connid:32"),
  reply(8, "atomicResponse", "connid:32 _:32 receiveId:32 segmentBytes:64"),
  reply(9, "handshake", "infoCount:32"),
  reply(10, "receipt", "sendId:32 messageId:32 connid:32"),
  reply(11, "readNack", "sendId:32 receiveId:32 connid:32"),
  ...messages(64, "eager", false, ""),
  ...messages(66, "medium", false, "messageBytes:64 offset:64"),
  ...messages(68, "longCts", false, WINDOWED),
  write(70, "eager", false, ""),
  write(71, "longCts", false, WINDOWED),
  read(72, "short"),
  read(73, "longCts"),
  atomic(74, "write", false, "_:32"),
  atomic(75, "fetch", false, "receiveId:32"),
  atomic(76, "compare", false, "receiveId:32"),
  ...messages(128, "longRead", false, READ_BACK),
  write(130, "longRead", false, READ_BACK),
  ...messages(133, "eager", true, CONFIRMED),
  ...messages(135, "medium", true, `${CONFIRMED} messageBytes:64 offset:64`),
  ...messages(137, "longCts", true, WINDOWED),
  write(139, "eager", true, CONFIRMED),
  write(140, "longCts", true, WINDOWED),
  atomic(141, "write", true, "sendId:32"),
  ...messages(145, "runtRead", false, `${READ_BACK} offset:64 runtBytes:64`),
])()

const byCode = /* @__PURE__ */ ((): ReadonlyArray<Shape | undefined> => {
  const table = new Array<Shape | undefined>(256).fill(undefined)
  for (const each of shapes) table[each.code] = each
  return table
})()

/** By kind, protocol ("" where the kind has none), and whether it is confirmed (1) and tagged (2). */
const byName = /* @__PURE__ */ ((): Readonly<Record<string, Record<string, Array<Shape | undefined>>>> => {
  const table: Record<string, Record<string, Array<Shape | undefined>>> = {}
  for (const each of shapes) {
    const [kind, protocol] = [`${each.fixed.kind}`, `${each.fixed.protocol ?? ""}`]
    const place = (each.fixed.deliveryComplete === true ? 1 : 0) + (each.tagged ? 2 : 0)
    table[kind] ??= {}
    table[kind][protocol] ??= [undefined, undefined, undefined, undefined]
    table[kind][protocol][place] = each
  }
  return table
})()

/** The shape of a type, or undefined for one that is deprecated, reserved or not supported. */
export const shapeOfType = (code: number): Shape | undefined => byCode[code]

/** The shape of a packet; undefined for one that TypeScript would not have let through. */
export const shapeOf = (value: EfaRdm): Shape | undefined => {
  const { kind } = value
  const tagged = kind === "message" && value.tag !== undefined ? 2 : 0
  const confirmed = "deliveryComplete" in value && value.deliveryComplete ? 1 : 0
  return byName[kind]?.["protocol" in value ? value.protocol : ""]?.[confirmed + tagged]
}
