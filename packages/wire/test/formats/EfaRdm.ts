import fc from "fast-check"
import {
  EFA_RDM_ADDRESS,
  EFA_RDM_ADDRESS_BYTES,
  type EfaRdm,
  emitEfaRdm,
  emitEfaRdmAddress,
  parseEfaRdm,
  parseEfaRdmAddress,
} from "../../src/EfaRdm.ts"
import { flag, octets, u16, u32, u64 } from "../arbitrary.ts"
import { format } from "../format.ts"

const is = <K extends string | boolean>(value: K) => fc.constant(value)
const perhaps = <A>(each: fc.Arbitrary<A>) => fc.option(each, { nil: undefined })

/** The cases of one kind are records of different fields: their union is typed where they meet. */
const record = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) => fc.record(fields)

const targets = fc.array(fc.record({ address: u64, bytes: u64, key: u64 }), { maxLength: 4 })
const options = {
  rawAddress: perhaps(fc.uint8Array({ maxLength: 40 })),
  cqData: perhaps(u64),
  connid: perhaps(u32),
}
const eager = [
  { protocol: is("eager"), deliveryComplete: is(false) },
  { protocol: is("eager"), deliveryComplete: is(true), sendId: u32 },
]
const medium = [
  { protocol: is("medium"), deliveryComplete: is(false), messageBytes: u64, offset: u64 },
  { protocol: is("medium"), deliveryComplete: is(true), sendId: u32, messageBytes: u64, offset: u64 },
]
const longCts = {
  protocol: is("longCts"),
  deliveryComplete: flag,
  messageBytes: u64,
  sendId: u32,
  creditRequest: u32,
  afterNack: flag,
}
const readBack = { deliveryComplete: is(false), messageBytes: u64, sendId: u32, sources: targets }
const longRead = { protocol: is("longRead"), ...readBack }
const runtRead = { protocol: is("runtRead"), ...readBack, offset: u64, runtBytes: u64 }
const message = { kind: is("message"), ...options, messageId: u32, tag: perhaps(u64) }
const write = { kind: is("write"), ...options, targets }
const atomic = { kind: is("atomic"), ...options, messageId: u32, datatype: u32, operation: u32, targets }
const ids = { sendId: u32, receiveId: u32, connid: perhaps(u32) }
/** The payload is not part of these, and a packet says how long it is. */
const segmentBytes = u64.map((value) => value % 1000n)

const packets = fc.oneof(
  ...[...eager, ...medium, longCts, longRead, runtRead].map((each) => record({ ...message, ...each })),
  ...[...eager, longCts, longRead].map((each) => record({ ...write, ...each })),
  fc.record({
    kind: is("read"),
    ...options,
    protocol: fc.constantFrom("short", "longCts"),
    messageBytes: u64,
    receiveId: u32,
    windowBytes: u32,
    targets,
  }),
  fc.record({ ...atomic, protocol: is("write"), deliveryComplete: is(false) }),
  fc.record({ ...atomic, protocol: is("write"), deliveryComplete: is(true), sendId: u32 }),
  fc.record({
    ...atomic,
    protocol: fc.constantFrom("fetch", "compare"),
    deliveryComplete: is(false),
    receiveId: u32,
  }),
  fc.record({ kind: is("cts"), ...ids, windowBytes: u64, emulatedRead: flag }),
  fc.record({ kind: is("ctsData"), receiveId: u32, segmentBytes, offset: u64, connid: perhaps(u32) }),
  fc.record({ kind: is("readResponse"), ...ids, segmentBytes }),
  fc.record({ kind: fc.constantFrom("endOfRead", "readNack"), ...ids }),
  fc.record({ kind: is("atomicResponse"), receiveId: u32, segmentBytes, connid: perhaps(u32) }),
  fc.record({
    kind: is("handshake"),
    extraInfo: fc.array(u64, { minLength: 1, maxLength: 5 }),
    connid: perhaps(u32),
    hostId: perhaps(u64),
    deviceVersion: perhaps(u32),
    userReceive: perhaps(fc.record({ qpn: u32, queueKey: u32 })),
  }),
  fc.record({ kind: is("receipt"), sendId: u32, messageId: u32, connid: perhaps(u32) }),
) as fc.Arbitrary<EfaRdm>

export const formats = [
  format({ name: "efaRdm", parse: parseEfaRdm, emit: emitEfaRdm, arbitrary: packets, bytesMax: 400 }),
  format({
    name: "efaRdmAddress",
    parse: parseEfaRdmAddress,
    emit: emitEfaRdmAddress,
    arbitrary: fc.record({ gid: octets(16), qpn: u16, connid: u32 }),
    layout: EFA_RDM_ADDRESS,
    bytesMax: EFA_RDM_ADDRESS_BYTES,
  }),
]
