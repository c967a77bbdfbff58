import fc from "fast-check"
import { type Ddp, emitDdp, parseDdp } from "../../src/Ddp.ts"
import { ERDMA_MPA, type ErdmaMpa, emitErdmaMpa, parseErdmaMpa } from "../../src/Erdma.ts"
import { emitFpdu, emitMpa, FPDU, MPA, type Mpa, parseFpdu, parseMpa } from "../../src/Mpa.ts"
import { emitRdmap, parseRdmap, type Rdmap, type Terminate } from "../../src/Rdmap.ts"
import { bits, flag, octets, u8, u16, u32, u64 } from "../arbitrary.ts"
import { format } from "../format.ts"

const enhanced = fc.record({
  inboundReads: bits(14),
  outboundReads: bits(14),
  peerToPeer: flag,
  readyBySend: flag,
  readyByWrite: flag,
  readyByRead: flag,
})
const opening = fc.record({ markers: flag, crc: flag, privateData: fc.uint8Array({ maxLength: 508 }) })
const mpa: fc.Arbitrary<Mpa> = fc
  .tuple(opening, flag, flag, fc.option(enhanced, { nil: undefined }), fc.constantFrom<1 | 2>(1, 2))
  .map(([common, isReply, rejects, more, revision]) => ({
    ...common,
    kind: isReply ? "reply" : "request",
    rejected: isReply && rejects,
    revision,
    enhanced: revision === 2 ? more : undefined,
  }))

const erdmaMpa: fc.Arbitrary<ErdmaMpa> = fc.record({
  kind: fc.constantFrom("request" as const, "reply" as const),
  markers: flag,
  crc: flag,
  rejected: flag,
  cookie: u32,
  congestionControl: bits(4),
  privateData: fc.uint8Array({ maxLength: 512 }),
})

const ddp: fc.Arbitrary<Ddp> = fc.oneof(
  fc.record({ kind: fc.constant("tagged" as const), last: flag, ulpOctet: u8, stag: u32, taggedOffset: u64 }),
  fc.record({
    kind: fc.constant("untagged" as const),
    last: flag,
    ulpOctet: u8,
    ulpWord: u32,
    queue: u32,
    messageSequence: u32,
    messageOffset: u32,
  }),
)

const taggedHeader = octets(14).map((header) =>
  Uint8Array.from(header, (octet, at) => (at === 0 ? octet | 0x80 : octet)),
)
const untaggedHeader = octets(18).map((header) =>
  Uint8Array.from(header, (octet, at) => (at === 0 ? octet & 0x7f : octet)),
)
const terminate: fc.Arbitrary<Terminate> = fc.record({
  layer: bits(4),
  errorType: bits(4),
  errorCode: u8,
  segment: fc.option(
    fc.record({
      bytes: fc.option(u16, { nil: undefined }),
      header: fc.oneof(taggedHeader, untaggedHeader),
      readRequest: fc.option(octets(28), { nil: undefined }),
    }),
    { nil: undefined },
  ),
})

const is = <K extends string>(kind: K) => fc.constant(kind)
const placed = { last: flag, sinkStag: u32, sinkOffset: u64 }
const queued = { last: flag, messageSequence: u32 }
const operation = fc.oneof(
  fc.record({ kind: is("fetchAdd"), add: u64, addMask: u64 }),
  fc.record({ kind: is("swap"), swap: u64, swapMask: u64 }),
  fc.record({ kind: is("compareSwap"), swap: u64, swapMask: u64, compare: u64, compareMask: u64 }),
)
export const rdmap: fc.Arbitrary<Rdmap> = fc.oneof(
  fc.record({ kind: is("write"), ...placed }),
  fc.record({ kind: is("readResponse"), ...placed }),
  fc.record({ kind: is("readRequest"), ...placed, ...queued, bytes: u32, sourceStag: u32, sourceOffset: u64 }),
  fc.record({
    kind: is("send"),
    ...queued,
    solicited: flag,
    invalidatedStag: fc.option(u32, { nil: undefined }),
    messageOffset: u32,
  }),
  fc.record({ kind: is("terminate"), ...queued, terminate }),
  fc.record({ kind: is("immediate"), ...queued, solicited: flag, data: u64 }),
  fc.record({ kind: is("atomicRequest"), ...queued, requestId: u32, remoteStag: u32, remoteOffset: u64, operation }),
  fc.record({ kind: is("atomicResponse"), ...queued, requestId: u32, original: u64 }),
)

export const formats = [
  format({ name: "mpa", parse: parseMpa, emit: emitMpa, arbitrary: mpa, layout: MPA, bytesMax: 532 }),
  format({
    name: "erdmaMpa",
    parse: parseErdmaMpa,
    emit: emitErdmaMpa,
    arbitrary: erdmaMpa,
    layout: ERDMA_MPA,
    bytesMax: 540,
  }),
  format({
    name: "fpdu",
    parse: parseFpdu,
    emit: emitFpdu,
    arbitrary: fc.record({ ulpduBytes: u16 }),
    layout: FPDU,
    bytesMax: 2,
  }),
  format({ name: "ddp", parse: parseDdp, emit: emitDdp, arbitrary: ddp, bytesMax: 18 }),
  format({ name: "rdmap", parse: parseRdmap, emit: emitRdmap, arbitrary: rdmap, bytesMax: 70 }),
]
