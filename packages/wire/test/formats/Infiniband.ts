import fc from "fast-check"
import * as Ib from "../../src/Infiniband.ts"
import { bits, flag, octets, u8, u16, u24, u32, u64 } from "../arbitrary.ts"
import { format } from "../format.ts"

const opcode = u8.filter((code) => Ib.opcodeOf(code) !== undefined)
const bth: fc.Arbitrary<Ib.Bth> = fc.record({
  opcode,
  solicited: flag,
  migrated: flag,
  padBytes: bits(2),
  partition: u16,
  fecn: flag,
  becn: flag,
  destinationQp: u24,
  ackRequest: flag,
  psn: u24,
})
const syndrome = u8.map(Ib.syndromeOf).filter((each) => each !== undefined)
const atomic = { virtualAddress: u64, remoteKey: u32, swapAdd: u64, compare: u64 }
const feth: fc.Arbitrary<Ib.Feth> = fc.record({
  selectivity: fc.constantFrom<Ib.Feth["selectivity"]>("range", "region"),
  globalVisibility: flag,
  persistence: flag,
})
const lrh: fc.Arbitrary<Ib.Lrh> = fc.record({
  virtualLane: bits(4),
  serviceLevel: bits(4),
  next: fc.constantFrom<Ib.LinkNextHeader>("raw", "ipv6", "local", "global"),
  destinationLid: u16,
  payloadBytes: fc.integer({ min: 3, max: 2045 }).map((words) => 4 * words),
  sourceLid: u16,
})
const grh: fc.Arbitrary<Ib.Grh> = fc.record({
  trafficClass: u8,
  flowLabel: bits(20),
  payloadBytes: u16,
  nextHeader: u8,
  hopLimit: u8,
  sourceGid: octets(16),
  destinationGid: octets(16),
})

const headers: Readonly<Record<Ib.ExtendedHeader, fc.Arbitrary<unknown>>> = {
  rdeth: fc.record({ context: u24 }),
  deth: fc.record({ queueKey: u32, sourceQp: u24 }),
  xrceth: fc.record({ receiveQueue: u24 }),
  reth: fc.record({ virtualAddress: u64, remoteKey: u32, dmaBytes: u32 }),
  atomicEth: fc.record(atomic),
  aeth: fc.record({ syndrome, msn: u24 }),
  atomicAckEth: fc.record({ original: u64 }),
  immDt: fc.record({ immediate: u32 }),
  ieth: fc.record({ remoteKey: u32 }),
  feth,
  cnp: fc.constant({}),
}
/** A BTH with the headers of its opcode. */
export const transport: fc.Arbitrary<Ib.Transport> = bth.chain((each) =>
  fc
    .record(Object.fromEntries(Ib.opcodeOf(each.opcode)!.headers.map((name) => [name, headers[name]])))
    .map((values) => ({ bth: each, headers: values as Ib.Transport["headers"] })),
)

export const formats = [
  format({
    name: "cnp",
    parse: Ib.parseCnp,
    emit: Ib.emitCnp,
    arbitrary: headers.cnp as fc.Arbitrary<Ib.Cnp>,
    bytesMax: 16,
  }),
  format({ name: "bth", parse: Ib.parseBth, emit: Ib.emitBth, arbitrary: bth, layout: Ib.BTH, bytesMax: 12 }),
  format({
    name: "aeth",
    parse: Ib.parseAeth,
    emit: Ib.emitAeth,
    arbitrary: fc.record({ syndrome, msn: u24 }),
    layout: Ib.AETH,
    bytesMax: 4,
  }),
  format({
    name: "deth",
    parse: Ib.parseDeth,
    emit: Ib.emitDeth,
    arbitrary: fc.record({ queueKey: u32, sourceQp: u24 }),
    layout: Ib.DETH,
    bytesMax: 8,
  }),
  format({
    name: "rdeth",
    parse: Ib.parseRdeth,
    emit: Ib.emitRdeth,
    arbitrary: fc.record({ context: u24 }),
    layout: Ib.RDETH,
    bytesMax: 4,
  }),
  format({
    name: "xrceth",
    parse: Ib.parseXrceth,
    emit: Ib.emitXrceth,
    arbitrary: fc.record({ receiveQueue: u24 }),
    layout: Ib.XRCETH,
    bytesMax: 4,
  }),
  format({
    name: "reth",
    parse: Ib.parseReth,
    emit: Ib.emitReth,
    arbitrary: fc.record({ virtualAddress: u64, remoteKey: u32, dmaBytes: u32 }),
    layout: Ib.RETH,
    bytesMax: 16,
  }),
  format({
    name: "atomicEth",
    parse: Ib.parseAtomicEth,
    emit: Ib.emitAtomicEth,
    arbitrary: fc.record(atomic),
    layout: Ib.ATOMIC_ETH,
    bytesMax: 28,
  }),
  format({
    name: "atomicAckEth",
    parse: Ib.parseAtomicAckEth,
    emit: Ib.emitAtomicAckEth,
    arbitrary: fc.record({ original: u64 }),
    layout: Ib.ATOMIC_ACK_ETH,
    bytesMax: 8,
  }),
  format({
    name: "immDt",
    parse: Ib.parseImmDt,
    emit: Ib.emitImmDt,
    arbitrary: fc.record({ immediate: u32 }),
    layout: Ib.IMM_DT,
    bytesMax: 4,
  }),
  format({
    name: "ieth",
    parse: Ib.parseIeth,
    emit: Ib.emitIeth,
    arbitrary: fc.record({ remoteKey: u32 }),
    layout: Ib.IETH,
    bytesMax: 4,
  }),
  format({ name: "feth", parse: Ib.parseFeth, emit: Ib.emitFeth, arbitrary: feth, layout: Ib.FETH, bytesMax: 4 }),
  format({ name: "lrh", parse: Ib.parseLrh, emit: Ib.emitLrh, arbitrary: lrh, layout: Ib.LRH, bytesMax: 8 }),
  format({ name: "grh", parse: Ib.parseGrh, emit: Ib.emitGrh, arbitrary: grh, layout: Ib.GRH, bytesMax: 40 }),
]
