import fc from "fast-check"
import {
  emitHpccInt,
  emitNs3Int,
  emitNs3SeqTs,
  emitNs3Timestamp,
  HPCC_INT,
  NS3_INT,
  NS3_SEQ_TS,
  NS3_TIMESTAMP,
  parseHpccInt,
  parseNs3Int,
  parseNs3SeqTs,
  parseNs3Timestamp,
} from "../../src/Hpcc.ts"
import {
  emitIfa,
  emitIfaChecksum,
  emitIfaFragment,
  emitIfaHop,
  emitIfaMetadata,
  IFA,
  IFA_CHECKSUM,
  IFA_FRAGMENT,
  IFA_HOP,
  IFA_METADATA,
  parseIfa,
  parseIfaChecksum,
  parseIfaFragment,
  parseIfaHop,
  parseIfaMetadata,
} from "../../src/Ifa.ts"
import { emitIntMd, INT_MD, type IntMd, parseIntMd } from "../../src/IntMd.ts"
import { emitIoam, IOAM, type Ioam, ioamNodeWords, parseIoam } from "../../src/Ioam.ts"
import { emitSrd, parseSrd, SRD, type Srd } from "../../src/Srd.ts"
import { bits, blocks, flag, u8, u16, u32, u64 } from "../arbitrary.ts"
import { format } from "../format.ts"

const is = <K extends string>(kind: K) => fc.constant(kind)
const perhaps = (each: fc.Arbitrary<number>) => fc.option(each, { nil: undefined })

const hpccHop = fc.record({ speedCode: bits(4), time: bits(24), txUnits: bits(20), queueUnits: u16 })
const ns3Hop = fc.record({ rateCode: bits(3), time: bits(24), txUnits: bits(20), queueUnits: bits(17) })

const intMd: fc.Arbitrary<IntMd> = fc.record({
  next: fc.oneof(
    fc.record({ kind: is("udpPort"), port: u16 }),
    fc.record({ kind: is("ipProtocol"), protocol: u8 }),
    fc.record({ kind: is("dscp"), dscp: bits(6) }),
  ),
  discard: flag,
  hopCountExceeded: flag,
  mtuExceeded: flag,
  hopWords: bits(5),
  remainingHops: u8,
  instructions: u16,
  domain: u16,
  domainInstructions: u16,
  domainFlags: u16,
  stack: blocks(4, 0, 1008),
})

const ioam: fc.Arbitrary<Ioam> = fc
  .record({
    mutable: flag,
    nameSpace: u16,
    overflow: flag,
    loopback: flag,
    active: flag,
    remaining: bits(6),
    traceType: bits(23).map((type) => 2 * type),
    nodeData: blocks(4, 0, 244),
  })
  .map(({ remaining, ...rest }) => ({
    ...rest,
    traceType: ioamNodeWords(rest.traceType) < 32 ? rest.traceType : 0x800000,
    remainingWords: Math.min(remaining, rest.nodeData.length / 4),
  }))

const common = { repeated: flag, generation: u16, timestamp: u64 }
const remote = { remoteKey: u32, remoteAddress: u64, bytes: u32 }
const srd: fc.Arbitrary<Srd> = fc.oneof(
  fc.record({
    kind: is("ack"),
    ...common,
    congestion: flag,
    status: u8,
    cumulative: bits(24),
    base: bits(24),
    selectiveLow: u64,
    selectiveHigh: u64,
  }),
  fc.record({
    kind: is("data"),
    ...common,
    queueKey: u32,
    sourceQp: bits(24),
    oldest: bits(24),
    operation: fc.oneof(
      fc.record({ kind: is("send"), immediate: perhaps(u32) }),
      fc.record({ kind: is("write"), immediate: perhaps(u32), ...remote }),
      fc.record({ kind: is("readRequest"), ...remote, message: u32 }),
      fc.record({ kind: is("readResponse"), message: u32, offset: u32, status: u8 }),
    ),
  }),
)

const ifaHop = fc.record({
  nameSpace: bits(4),
  device: bits(20),
  timeToLive: u8,
  speedCode: fc.nat(6),
  congestion: bits(2),
  queue: bits(6),
  rxSeconds: bits(20),
  egressPort: u16,
  ingressPort: u16,
  rxNanoseconds: u32,
  residenceNs: u32,
  txBytes: u32,
  queueLength: u16,
})

export const formats = [
  format({
    name: "hpccInt",
    parse: parseHpccInt,
    emit: emitHpccInt,
    arbitrary: fc.record({ pathId: bits(12), hops: fc.array(hpccHop, { maxLength: 15 }) }),
    layout: HPCC_INT,
    bytesMax: 122,
  }),
  format({
    name: "ns3Int",
    parse: parseNs3Int,
    emit: emitNs3Int,
    arbitrary: fc.record({ hopCount: u16, hops: fc.array(ns3Hop, { minLength: 5, maxLength: 5 }) }),
    layout: NS3_INT,
    bytesMax: 42,
  }),
  format({
    name: "ns3Timestamp",
    parse: parseNs3Timestamp,
    emit: emitNs3Timestamp,
    arbitrary: fc.record({ timeNs: u64 }),
    layout: NS3_TIMESTAMP,
    bytesMax: 8,
  }),
  format({
    name: "ns3SeqTs",
    parse: parseNs3SeqTs,
    emit: emitNs3SeqTs,
    arbitrary: fc.record({ sequence: u32, priorityGroup: u16 }),
    layout: NS3_SEQ_TS,
    bytesMax: 6,
  }),
  format({ name: "intMd", parse: parseIntMd, emit: emitIntMd, arbitrary: intMd, layout: INT_MD, bytesMax: 1024 }),
  format({ name: "ioam", parse: parseIoam, emit: emitIoam, arbitrary: ioam, layout: IOAM, bytesMax: 256 }),
  format({
    name: "ifa",
    parse: parseIfa,
    emit: emitIfa,
    arbitrary: fc.record({ nameSpace: bits(4), protocol: u8, flags: u8, wordsMax: u8 }),
    layout: IFA,
    bytesMax: 4,
  }),
  format({
    name: "ifaChecksum",
    parse: parseIfaChecksum,
    emit: emitIfaChecksum,
    arbitrary: fc.record({ checksum: u16 }),
    layout: IFA_CHECKSUM,
    bytesMax: 4,
  }),
  format({
    name: "ifaFragment",
    parse: parseIfaFragment,
    emit: emitIfaFragment,
    arbitrary: fc.record({ packet: bits(26), fragment: bits(5), last: flag }),
    layout: IFA_FRAGMENT,
    bytesMax: 4,
  }),
  format({
    name: "ifaMetadata",
    parse: parseIfaMetadata,
    emit: emitIfaMetadata,
    arbitrary: fc.record({ request: u8, action: u8, hopLimit: u8, payloadBytes: u8.map((words) => 4 * words) }),
    layout: IFA_METADATA,
    bytesMax: 4,
  }),
  format({ name: "ifaHop", parse: parseIfaHop, emit: emitIfaHop, arbitrary: ifaHop, layout: IFA_HOP, bytesMax: 32 }),
  format({ name: "srd", parse: parseSrd, emit: emitSrd, arbitrary: srd, layout: SRD, bytesMax: 52 }),
]
