import { Flag, Layout, type Packet } from "@rdmakit/packet"
import { type ExtendedHeaders, opcodeOf, syndromeOctet, syndromeOf } from "@rdmakit/wire/infiniband"
import { buildRoce, type RocePacket } from "@rdmakit/wire/roce"
import fc from "fast-check"

const { EXT } = Layout

/** Opcodes that a packet record can say: RC, UC, UD, XRC without FLUSH, and the notification. */
export const verbsOpcodes: ReadonlyArray<number> = Array.from({ length: 256 }, (_, code) => code).filter((code) => {
  const opcode = opcodeOf(code)
  if (opcode === undefined || opcode.service === "Rd" || opcode.operation === "Flush") return false
  return opcode.service !== "Cnp" || code === 0x81
})

/** What one packet of the verbs is, in words. */
export interface VerbsSaid {
  readonly opcode: number
  readonly v6: boolean
  readonly vlan: number | undefined
  readonly ethernet: boolean
  readonly source: Uint8Array
  readonly destination: Uint8Array
  readonly trafficClass: number
  readonly flowLabel: number
  readonly hopLimit: number
  readonly port: number
  readonly solicited: boolean
  readonly migrated: boolean
  readonly ackRequest: boolean
  readonly backward: boolean
  readonly partition: number
  readonly destinationQp: number
  readonly psn: number
  readonly words: ReadonlyArray<number>
  readonly long: ReadonlyArray<bigint>
  readonly syndrome: number
  readonly payload: Uint8Array
}

const syndromes = Array.from({ length: 256 }, (_, octet) => octet).filter((octet) => syndromeOf(octet) !== undefined)
const u32 = fc.integer({ min: 0, max: 0xffff_ffff })
const u24 = fc.nat(0xff_ffff)
const u64 = fc.bigInt(0n, 2n ** 64n - 1n)
const octets = (min: number, max: number) => fc.uint8Array({ minLength: min, maxLength: max })

/** An address of 16 octets, an IPv4 one mapped. */
const address = (v6: boolean): fc.Arbitrary<Uint8Array> =>
  octets(16, 16).map((each) => {
    if (v6) each[0] = 0xfd
    else each.set([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff])
    return each
  })

export const anyVerbs = (opcode: number): fc.Arbitrary<VerbsSaid> =>
  fc.boolean().chain((v6) =>
    fc.record({
      opcode: fc.constant(opcode),
      v6: fc.constant(v6),
      vlan: fc.option(fc.nat(4095), { nil: undefined }),
      ethernet: fc.boolean(),
      source: address(v6),
      destination: address(v6),
      trafficClass: fc.nat(255),
      flowLabel: fc.nat(0xf_ffff),
      hopLimit: fc.nat(255),
      port: fc.nat(0xffff),
      solicited: fc.boolean(),
      migrated: fc.boolean(),
      ackRequest: fc.boolean(),
      backward: fc.boolean(),
      partition: fc.nat(0xffff),
      destinationQp: u24,
      psn: u24,
      words: fc.array(u32, { minLength: 4, maxLength: 4 }),
      long: fc.array(u64, { minLength: 3, maxLength: 3 }),
      syndrome: fc.constantFrom(...syndromes),
      payload: opcodeOf(opcode)!.payload
        ? fc.oneof(octets(0, 9), octets(4090, 4096), octets(0, 600))
        : fc.constant(new Uint8Array(0)),
    }),
  )

/** The packet as `wire` takes it. */
export const rocePacket = (said: VerbsSaid): RocePacket => {
  const { trafficClass, source, destination, hopLimit } = said
  const tags =
    said.vlan === undefined ? [] : [{ protocol: 0x8100, priority: 3, dropEligible: false, vlan: said.vlan } as const]
  const ethernet = said.ethernet ? { destination: 0x5254_0000_0002, source: 0x5254_0000_0001, tags } : undefined
  const view = (each: Uint8Array) => new DataView(each.buffer, each.byteOffset).getUint32(12)
  const all: ExtendedHeaders = {
    rdeth: { context: 0 },
    deth: { queueKey: said.words[0]!, sourceQp: said.words[1]! & 0xff_ffff },
    xrceth: { receiveQueue: said.words[1]! >>> 8 },
    reth: { virtualAddress: said.long[0]!, remoteKey: said.words[0]!, dmaBytes: said.words[2]! },
    atomicEth: {
      virtualAddress: said.long[0]!,
      remoteKey: said.words[0]!,
      swapAdd: said.long[1]!,
      compare: said.long[2]!,
    },
    aeth: { syndrome: syndromeOf(said.syndrome)!, msn: said.words[1]! & 0xff_ffff },
    atomicAckEth: { original: said.long[2]! },
    immDt: { immediate: said.words[3]! },
    ieth: { remoteKey: said.words[3]! },
    feth: { selectivity: "range", globalVisibility: false, persistence: false },
    cnp: {},
  }
  const headers = Object.fromEntries(opcodeOf(said.opcode)!.headers.map((name) => [name, all[name]]))
  return {
    carrier: said.v6
      ? {
          kind: "ipv6",
          ethernet,
          ip: { trafficClass, flowLabel: said.flowLabel, hopLimit, source, destination },
          sourcePort: said.port,
        }
      : {
          kind: "ipv4",
          ethernet,
          ip: {
            trafficClass,
            identification: 0,
            dontFragment: true,
            ttl: hopLimit,
            source: view(source),
            destination: view(destination),
            options: new Uint8Array(0),
          },
          sourcePort: said.port,
        },
    bth: {
      opcode: said.opcode,
      solicited: said.solicited,
      migrated: said.migrated,
      partition: said.partition,
      fecn: false,
      becn: said.backward,
      destinationQp: said.destinationQp,
      ackRequest: said.ackRequest,
      psn: said.psn,
    },
    headers,
    payload: said.payload,
  }
}

/** The octets of the packet, by `wire`. */
export const built = (said: VerbsSaid): Uint8Array => {
  const out = new Uint8Array(4400)
  return out.slice(0, buildRoce(rocePacket(said), out))
}

/** Makes the packet in a pool. */
export const makeVerbs = (packet: Packet, said: VerbsSaid): void => {
  const { pool } = packet
  packet.at(pool.alloc())
  const flags =
    (said.solicited ? Flag.Solicited : 0) |
    (said.migrated ? Flag.Migrated : 0) |
    (said.ackRequest ? Flag.AckRequest : 0) |
    (said.backward ? Flag.Backward : 0)
  packet.meta = said.opcode | flags
  packet.psn = said.psn
  packet.udpPorts = said.port
  if (said.payload.length > 0) {
    const { octets: slab, start } = packet.addPayload(said.payload.length)
    slab.set(said.payload, start)
  }
  const x = packet.extend()
  const { extension } = pool
  const put64 = (at: number, value: bigint): void => {
    extension[x + at] = Number(BigInt.asIntN(32, value >> 32n))
    extension[x + at + 1] = Number(BigInt.asIntN(32, value))
  }
  extension[x + EXT.trafficClass] = said.trafficClass
  extension[x + EXT.flowLabel] = said.flowLabel
  extension[x + EXT.hopLimit] = said.hopLimit
  extension[x + EXT.partition] = said.partition
  extension[x + EXT.destinationQp] = said.destinationQp
  extension[x + EXT.queueKey] = said.words[0]!
  extension[x + EXT.sourceQp] = said.words[1]! & 0xff_ffff
  extension[x + EXT.receiveQueue] = said.words[1]! >>> 8
  extension[x + EXT.remoteKey] = said.words[0]!
  extension[x + EXT.dmaLength] = said.words[2]!
  extension[x + EXT.immediate] = said.words[3]!
  extension[x + EXT.aeth] = (syndromeOctet(syndromeOf(said.syndrome)!) << 24) | (said.words[1]! & 0xff_ffff)
  put64(EXT.remoteAddress, said.long[0]!)
  put64(EXT.swapAdd, said.long[1]!)
  put64(EXT.compare, said.long[2]!)
}
