import { mappedGid, parseIpv6Address } from "../src/Address.ts"
import { cmPrivateData, emitCm, emitIpCm, serviceIdOf } from "../src/Cm.ts"
import { crc32 } from "../src/Crc.ts"
import type { DecodeOptions } from "../src/Decode.ts"
import { EtherType, emitEthernet } from "../src/Ethernet.ts"
import { emitErspan, emitGre, GreProtocol } from "../src/Gre.ts"
import * as Ib from "../src/Infiniband.ts"
import { emitIpv4 } from "../src/Ipv4.ts"
import { emitIpv6, emitIpv6Extension } from "../src/Ipv6.ts"
import { ErfType, emitErf } from "../src/Link.ts"
import { emitLldp, LLDP_MAC } from "../src/Lldp.ts"
import { emitMad, MAD_METHOD_SEND, ManagementClass } from "../src/Mad.ts"
import { emitPfc, PFC_MAC } from "../src/Pfc.ts"
import { buildRoce, type RoceCarrier, rocePacketBytes } from "../src/Roce.ts"
import { emitTcp, TcpFlag } from "../src/Tcp.ts"
import { emitUdp } from "../src/Udp.ts"
import { emitVxlan, VXLAN_PORT } from "../src/Vxlan.ts"

/** A frame made from its fields: what no capture at hand has. */
export interface MadeFrame {
  readonly name: string
  readonly link: NonNullable<DecodeOptions["link"]>
  readonly octets: Uint8Array
}

const ethernet = { destination: 0x5254_0000_0002, source: 0x5254_0000_0001, tags: [] }
const none = new Uint8Array(0)
const ip = {
  trafficClass: 0x6a,
  identification: 0x1234,
  dontFragment: true,
  ttl: 64,
  source: 0x0a00_0001,
  destination: 0x0a00_0002,
  options: none,
}
const gids = { sourceGid: parseIpv6Address("fd00::1")!, destinationGid: parseIpv6Address("fd00::2")! }
const grh = { trafficClass: 0x6a, flowLabel: 0x12345, hopLimit: 64, ...gids }
const ip6 = {
  trafficClass: 0x6a,
  flowLabel: 0x12345,
  hopLimit: 64,
  source: gids.sourceGid,
  destination: gids.destinationGid,
}
const lrh = { virtualLane: 3, serviceLevel: 5, destinationLid: 0x12, sourceLid: 0x34 }
export const overIpv4: RoceCarrier = { kind: "ipv4", ethernet, ip, sourcePort: 0xc123 }
const carriers: ReadonlyArray<RoceCarrier> = [
  overIpv4,
  { kind: "ipv6", ethernet, ip: ip6, sourcePort: 0xc123, udpChecksum: true },
  { kind: "rocev1", ethernet, grh },
  { kind: "local", lrh },
  { kind: "global", lrh, grh },
]

const headers: Ib.ExtendedHeaders = {
  rdeth: { context: 0x112233 },
  deth: { queueKey: 0x8001_0001, sourceQp: 0x445566 },
  xrceth: { receiveQueue: 0x778899 },
  reth: { virtualAddress: 0x0102_0304_0506_0708n, remoteKey: 0xdead_beef, dmaBytes: 4096 },
  atomicEth: {
    virtualAddress: 0x1112_1314_1516_1718n,
    remoteKey: 0xcafe_babe,
    swapAdd: 0xffff_ffff_ffff_fff0n,
    compare: 42n,
  },
  aeth: { syndrome: Ib.acknowledgement(12), msn: 0x000102 },
  atomicAckEth: { original: 0x2122_2324_2526_2728n },
  immDt: { immediate: 0x89ab_cdef },
  ieth: { remoteKey: 0x0bad_f00d },
  feth: { selectivity: "range", globalVisibility: true, persistence: false },
  cnp: {},
}

const bthOf = (opcode: number) => ({
  opcode,
  solicited: opcode % 2 === 1,
  migrated: true,
  partition: 0xffff,
  fecn: false,
  becn: opcode === Ib.CNP,
  destinationQp: 0x123 + opcode,
  ackRequest: opcode % 3 === 0,
  psn: 0xabcd00 + opcode,
})

const roce = (carrier: RoceCarrier, opcode: Ib.Opcode, payloadBytes = 61, more: Partial<Ib.ExtendedHeaders> = {}) => {
  const wanted = Object.fromEntries(opcode.headers.map((name) => [name, more[name] ?? headers[name]]))
  // 0xff is the start of no protocol that a dissector would guess.
  const bytes = opcode.operation === "AtomicWrite" ? 8 : opcode.payload ? payloadBytes : 0
  const payload = new Uint8Array(bytes).fill(0xff)
  const packet = { carrier, bth: bthOf(opcode.code), headers: wanted as Partial<Ib.ExtendedHeaders>, payload }
  const octets = new Uint8Array(rocePacketBytes(packet))
  buildRoce(packet, octets)
  return octets
}

const linkOf = ({ kind }: RoceCarrier): MadeFrame["link"] =>
  kind === "local" || kind === "global" ? "infiniband" : "ethernet"

const everyOpcode = (): ReadonlyArray<MadeFrame> =>
  carriers.flatMap((carrier) =>
    Array.from({ length: 256 }, (_, code) => Ib.opcodeOf(code))
      .filter((opcode) => opcode !== undefined)
      .filter(({ code }) => code !== (linkOf(carrier) === "infiniband" ? Ib.CNP : Ib.CNP_NATIVE))
      .map((opcode) => ({
        name: `${carrier.kind} ${opcode.service} ${opcode.operation}`,
        link: linkOf(carrier),
        octets: roce(carrier, opcode),
      })),
  )

const everySyndrome = (): ReadonlyArray<MadeFrame> =>
  [0x00, 0x1f, 0x20, 0x39, 0x3f, 0x60, 0x61, 0x62, 0x63, 0x64].map((octet) => ({
    name: `syndrome ${octet}`,
    link: "ethernet",
    octets: roce(overIpv4, Ib.opcodeOf(0x11)!, 0, { aeth: { syndrome: Ib.syndromeOf(octet)!, msn: 7 } }),
  }))

/** Writes parts one after the other; each gets what is before it and returns its end. */
const frame = (bytes: number, write: (octets: Uint8Array) => number): Uint8Array => {
  const octets = new Uint8Array(bytes)
  return octets.subarray(0, Math.max(write(octets), Math.min(bytes, 60)))
}
const inner = roce(overIpv4, Ib.opcodeOf(0x04)!, 100)

const tunnels = (): ReadonlyArray<MadeFrame> => {
  const outer = (octets: Uint8Array, protocol: number, payloadBytes: number): number =>
    emitIpv4(
      { ...ip, protocol, moreFragments: false, fragmentOffset: 0, payloadBytes },
      octets,
      emitEthernet({ ...ethernet, etherType: EtherType.Ipv4 }, octets),
    )
  const put = (octets: Uint8Array, at: number): number => {
    octets.set(inner, at)
    return at + inner.length
  }
  const gre = { checksum: undefined, key: undefined, sequence: undefined }
  const vxlan = frame(400, (octets) => {
    const bytes = 8 + inner.length
    const at = outer(octets, 17, 8 + bytes)
    const udp = { sourcePort: 50_000, destinationPort: VXLAN_PORT, payloadBytes: bytes, checksum: 0 }
    return put(octets, emitVxlan({ vni: 0x123456 }, octets, emitUdp(udp, octets, at)))
  })
  const bridged = frame(400, (octets) => {
    const at = outer(octets, 47, 8 + inner.length)
    const header = { ...gre, protocol: GreProtocol.TransparentBridging, key: 0x0102_0304 }
    return put(octets, emitGre(header, octets, at))
  })
  const mirrored = frame(400, (octets) => {
    const at = emitGre(
      { ...gre, protocol: GreProtocol.Erspan, sequence: 99 },
      octets,
      outer(octets, 47, 16 + inner.length),
    )
    const header = { vlan: 7, priority: 3, encapsulation: 3, truncated: false, session: 513, index: 0x12345 }
    return put(octets, emitErspan(header, octets, at))
  })
  const tagged = frame(400, (octets) => {
    const tag = { priority: 3, dropEligible: false, vlan: 7 }
    const tags = [
      { protocol: 0x88a8, ...tag, vlan: 100 },
      { protocol: 0x8100, ...tag },
    ] as const
    const at = emitEthernet({ ...ethernet, tags, etherType: EtherType.Ipv4 }, octets)
    octets.set(inner.subarray(14), at)
    return at + inner.length - 14
  })
  return Object.entries({ vxlan, bridged, mirrored, tagged }).map(([name, octets]) => ({
    name,
    link: "ethernet",
    octets,
  }))
}

const controls = (): ReadonlyArray<MadeFrame> => {
  const control = { ...ethernet, destination: PFC_MAC, etherType: EtherType.MacControl }
  const quanta = [undefined, undefined, undefined, 0xffff, undefined, 0, undefined, undefined]
  const bandwidths = [50, 0, 0, 50, 0, 0, 0, 0]
  const selections = ["ets", "strict", "strict", "ets", "strict", "strict", "strict", "strict"] as const
  const tables = { trafficClasses: [0, 0, 0, 3, 0, 0, 6, 7], bandwidths, selections }
  const lldp = [
    { kind: "chassisId", subtype: 4, id: Uint8Array.of(0x52, 0x54, 0, 0, 0, 1) },
    { kind: "portId", subtype: 5, id: new TextEncoder().encode("swp1") },
    { kind: "timeToLive", seconds: 120 },
    { kind: "text", type: 5, octets: new TextEncoder().encode("leaf01") },
    { kind: "etsConfiguration", willing: true, creditBasedShaper: false, trafficClassesMax: 0, ...tables },
    { kind: "etsRecommendation", ...tables },
    {
      kind: "pfcConfiguration",
      willing: true,
      macsecBypass: false,
      capability: 8,
      enabled: [false, false, false, true, false, false, false, false],
    },
    {
      kind: "applicationPriority",
      table: [
        { priority: 3, selector: 1, protocol: 0x8915 },
        { priority: 3, selector: 3, protocol: 4791 },
        { priority: 6, selector: 5, protocol: 48 },
      ],
    },
  ] as const
  return [
    {
      name: "pause",
      octets: frame(60, (o) => emitPfc({ kind: "pause", quanta: 65_535 }, o, emitEthernet(control, o))),
    },
    { name: "pfc", octets: frame(60, (o) => emitPfc({ kind: "pfc", quanta }, o, emitEthernet(control, o))) },
    {
      name: "lldp",
      octets: frame(400, (o) =>
        emitLldp({ tlvs: lldp }, o, emitEthernet({ ...ethernet, destination: LLDP_MAC, etherType: EtherType.Lldp }, o)),
      ),
    },
  ].map((each) => ({ ...each, link: "ethernet" }))
}

/** Frames of Ethernet that show what IP may do. */
const ips = (): ReadonlyArray<MadeFrame> => {
  const ipv4 = { ...ip, moreFragments: false, fragmentOffset: 0, protocol: 17 }
  const fragment = frame(100, (o) => {
    const header = { ...ipv4, fragmentOffset: 185, payloadBytes: 40 }
    return emitIpv4(header, o, emitEthernet({ ...ethernet, etherType: EtherType.Ipv4 }, o)) + 40
  })
  const options = frame(100, (o) => {
    // Record route, one address of three still free.
    const route = Uint8Array.of(7, 7, 4, 0, 0, 0, 0, 0)
    const at = emitIpv4(
      { ...ipv4, options: route, payloadBytes: 8 },
      o,
      emitEthernet({ ...ethernet, etherType: EtherType.Ipv4 }, o),
    )
    return emitUdp({ sourcePort: 1, destinationPort: 2, payloadBytes: 0, checksum: 0 }, o, at)
  })
  const extended = frame(200, (o) => {
    const bytes = inner.length - 34
    const header = { ...ip6, nextHeader: 60, payloadBytes: 8 + bytes }
    const at = emitIpv6(header, o, emitEthernet({ ...ethernet, etherType: EtherType.Ipv6 }, o))
    const padding = { kind: "destinationOptions", nextHeader: 17, options: Uint8Array.of(1, 4, 0, 0, 0, 0) } as const
    const end = emitIpv6Extension(padding, o, at)
    o.set(inner.subarray(34), end)
    return end + bytes
  })
  const tcp = frame(100, (o) => {
    const options = Uint8Array.of(2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 3, 3, 7)
    const header = {
      sourcePort: 40_000,
      destinationPort: 7471,
      sequence: 0xffff_fff0,
      acknowledgement: 0,
      flags: TcpFlag.Syn | TcpFlag.EcnEcho | TcpFlag.CongestionWindowReduced,
      window: 64_240,
      checksum: 0,
      urgentPointer: 0,
      options,
    }
    const at = emitIpv4(
      { ...ipv4, protocol: 6, payloadBytes: 40 },
      o,
      emitEthernet({ ...ethernet, etherType: EtherType.Ipv4 }, o),
    )
    return emitTcp(header, o, at)
  })
  return Object.entries({ fragment, options, extended, tcp }).map(([name, octets]) => ({
    name,
    link: "ethernet",
    octets,
  }))
}

/** A record of an Endace card around a native packet. */
export const inErf = (packet: Uint8Array): Uint8Array => {
  const octets = new Uint8Array(16 + packet.length)
  const header = {
    timestamp: Uint8Array.of(0, 0, 0, 0x80, 1, 2, 3, 4),
    type: ErfType.Infiniband,
    flags: 4,
    recordBytes: octets.length,
    lossCounter: 0,
    wireBytes: packet.length,
    extensions: none,
  }
  octets.set(packet, emitErf(header, octets))
  return octets
}

/** A request of connection management over RoCEv2, from its fields. */
const connection = (): MadeFrame => {
  const privateData = cmPrivateData(none, 92)
  emitIpCm({ version: 4, sourcePort: 40_000, source: ip.source, destination: ip.destination }, privateData)
  const path = {
    localLid: 0xffff,
    remoteLid: 0xffff,
    localGid: mappedGid(ip.source),
    remoteGid: mappedGid(ip.destination),
    flowLabel: 0x12345,
    rate: 3,
    trafficClass: 0x6a,
    hopLimit: 64,
    serviceLevel: 3,
    subnetLocal: true,
    ackTimeout: 18,
    suggestions: false,
  }
  const payload = new Uint8Array(256)
  const at = emitMad(
    {
      managementClass: ManagementClass.Communication,
      classVersion: 2,
      method: MAD_METHOD_SEND,
      status: 0,
      classSpecific: 0,
      transactionId: 0x0000_0007_1234_5678n,
      attribute: 0x10,
      modifier: 0,
    },
    payload,
  )
  emitCm(
    {
      kind: "request",
      localId: 0x1122_3344,
      serviceId: serviceIdOf(6, 7471),
      caGuid: 0x0253_54ff_fe00_0001n,
      queueKey: 0,
      qpn: 0x28,
      responderResources: 1,
      localContext: 0,
      initiatorDepth: 16,
      remoteContext: 0,
      remoteResponseTimeout: 20,
      transport: 0,
      flowControl: true,
      psn: 0x654321,
      localResponseTimeout: 20,
      retries: 7,
      partition: 0xffff,
      mtuCode: 3,
      rdcExists: false,
      rnrRetries: 7,
      cmRetries: 15,
      sharedReceive: false,
      extendedTransport: 0,
      primary: path,
      alternate: { ...path, ackTimeout: 5, flowLabel: 0x54321 },
      privateData,
    },
    payload,
    at,
  )
  const packet = {
    carrier: overIpv4,
    bth: { ...bthOf(0x64), destinationQp: 1 },
    headers: { deth: { queueKey: Ib.GENERAL_SERVICE_QUEUE_KEY, sourceQp: 1 } },
    payload,
  }
  const octets = new Uint8Array(rocePacketBytes(packet))
  buildRoce(packet, octets)
  return { name: "connection request", link: "ethernet", octets }
}

/** What carries an FCS, and is decoded as such. */
export const withFcs = (octets: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(octets.length + 4)
  whole.set(octets)
  new DataView(whole.buffer).setUint32(octets.length, crc32(octets), true)
  return whole
}

export const madeFrames: ReadonlyArray<MadeFrame> = [
  ...everyOpcode(),
  ...everySyndrome(),
  ...tunnels(),
  ...controls(),
  ...ips(),
  { name: "erf", link: "erf", octets: inErf(roce({ kind: "global", lrh, grh }, Ib.opcodeOf(0x06)!)) },
  connection(),
]
