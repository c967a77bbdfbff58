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
  /** The mandatory header, without its arrays. */
  readonly layout: Layout
}

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
): Shape => ({ code, fixed, tagged, classFlags, isRequest, layout: littleLayout(FORMAT, `${BASE} ${fields}`) })

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

const byCode = /* @__PURE__ */ ((): ReadonlyMap<number, Shape> => new Map(shapes.map((each) => [each.code, each])))()

const nameOf = (fixed: Readonly<Record<string, unknown>>, tagged: boolean): string =>
  `${fixed.kind}/${fixed.protocol ?? ""}/${fixed.deliveryComplete ?? false}/${tagged}`

const byName = /* @__PURE__ */ ((): ReadonlyMap<string, Shape> =>
  new Map(shapes.map((each) => [nameOf(each.fixed, each.tagged), each])))()

/** The shape of a type, or undefined for one that is deprecated, reserved or not supported. */
export const shapeOfType = (code: number): Shape | undefined => byCode.get(code)

/** The shape of a packet; undefined for one that TypeScript would not have let through. */
export const shapeOf = (value: EfaRdm): Shape | undefined =>
  byName.get(
    nameOf(value as unknown as Readonly<Record<string, unknown>>, value.kind === "message" && value.tag !== undefined),
  )
