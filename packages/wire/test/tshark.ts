import { formatIpv4, formatIpv6, formatMac, ipv4OfGid } from "../src/Address.ts"
import { parseIpCm } from "../src/Cm.ts"
import type { Headers, Node } from "../src/Decode.ts"
import { opcodeOf } from "../src/Infiniband.ts"
import { captures, readCapture } from "./capture.ts"
import { inErf, madeFrames } from "./frames.ts"
import { type Asked, lldpFields, pfcFields } from "./tsharkControl.ts"

/** What tshark may say of one field: a number in any base, or text. Several, when a header comes twice. */
export type Said = ReadonlyArray<bigint | string>

type Value = number | bigint | boolean | string
const ipv4Fields: Asked<"ipv4"> = {
  "ip.dsfield": (ip) => ip.trafficClass,
  "ip.id": (ip) => ip.identification,
  "ip.flags.df": (ip) => ip.dontFragment,
  "ip.flags.mf": (ip) => ip.moreFragments,
  "ip.frag_offset": (ip) => ip.fragmentOffset,
  "ip.ttl": (ip) => ip.ttl,
  "ip.proto": (ip) => ip.protocol,
  "ip.src": (ip) => formatIpv4(ip.source),
  "ip.dst": (ip) => formatIpv4(ip.destination),
}
const asked: { readonly [F in keyof Headers]?: Asked<F> } = {
  ethernet: {
    "eth.dst": (eth) => formatMac(eth.destination),
    "eth.src": (eth) => formatMac(eth.source),
  },
  arp: {
    "arp.opcode": (arp) => arp.operation,
    "arp.src.hw_mac": (arp) => formatMac(arp.senderMac),
    "arp.src.proto_ipv4": (arp) => formatIpv4(arp.senderIp),
    "arp.dst.hw_mac": (arp) => formatMac(arp.targetMac),
    "arp.dst.proto_ipv4": (arp) => formatIpv4(arp.targetIp),
  },
  ipv4: ipv4Fields,
  ipv6: {
    "ipv6.tclass": (ip) => ip.trafficClass,
    "ipv6.flow": (ip) => ip.flowLabel,
    "ipv6.plen": (ip) => ip.payloadBytes,
    "ipv6.nxt": (ip) => ip.nextHeader,
    "ipv6.hlim": (ip) => ip.hopLimit,
    "ipv6.src": (ip) => formatIpv6(ip.source),
    "ipv6.dst": (ip) => formatIpv6(ip.destination),
  },
  udp: {
    "udp.srcport": (udp) => udp.sourcePort,
    "udp.dstport": (udp) => udp.destinationPort,
    "udp.length": (udp) => udp.payloadBytes + 8,
    "udp.checksum": (udp) => udp.checksum,
  },
  tcp: {
    "tcp.srcport": (tcp) => tcp.sourcePort,
    "tcp.dstport": (tcp) => tcp.destinationPort,
    "tcp.seq_raw": (tcp) => tcp.sequence,
    "tcp.ack_raw": (tcp) => tcp.acknowledgement,
    "tcp.flags": (tcp) => tcp.flags,
    "tcp.window_size_value": (tcp) => tcp.window,
    "tcp.checksum": (tcp) => tcp.checksum,
    "tcp.hdr_len": (tcp) => 20 + tcp.options.length,
  },
  vxlan: { "vxlan.vni": (vxlan) => vxlan.vni },
  gre: {
    "gre.proto": (gre) => gre.protocol,
    "gre.key": (gre) => gre.key,
    "gre.sequence_number": (gre) => gre.sequence,
  },
  erspan: {
    "erspan.vlan": (erspan) => erspan.vlan,
    "erspan.cos": (erspan) => erspan.priority,
    "erspan.encap": (erspan) => erspan.encapsulation,
    "erspan.truncated": (erspan) => erspan.truncated,
    "erspan.spanid": (erspan) => erspan.session,
    "erspan.index": (erspan) => erspan.index,
  },
  lrh: {
    "infiniband.lrh.vl": (lrh) => lrh.virtualLane,
    "infiniband.lrh.sl": (lrh) => lrh.serviceLevel,
    "infiniband.lrh.lnh": (lrh) => ["raw", "ipv6", "local", "global"].indexOf(lrh.next),
    "infiniband.lrh.dlid": (lrh) => lrh.destinationLid,
    "infiniband.lrh.pktlen": (lrh) => (lrh.payloadBytes + 8) / 4,
    "infiniband.lrh.slid": (lrh) => lrh.sourceLid,
  },
  grh: {
    "infiniband.grh.tclass": (grh) => grh.trafficClass,
    "infiniband.grh.flowlabel": (grh) => grh.flowLabel,
    "infiniband.grh.paylen": (grh) => grh.payloadBytes,
    "infiniband.grh.nxthdr": (grh) => grh.nextHeader,
    "infiniband.grh.hoplmt": (grh) => grh.hopLimit,
    "infiniband.grh.sgid": (grh) => formatIpv6(grh.sourceGid),
    "infiniband.grh.dgid": (grh) => formatIpv6(grh.destinationGid),
  },
  bth: {
    "infiniband.bth.opcode": (bth) => bth.opcode,
    "infiniband.bth.se": (bth) => bth.solicited,
    "infiniband.bth.m": (bth) => bth.migrated,
    "infiniband.bth.padcnt": (bth) => bth.padBytes,
    "infiniband.bth.p_key": (bth) => bth.partition,
    "infiniband.bth.destqp": (bth) => bth.destinationQp,
    "infiniband.bth.a": (bth) => bth.ackRequest,
    "infiniband.bth.psn": (bth) => bth.psn,
  },
  rdeth: { "infiniband.rdeth.eecnxt": (rdeth) => rdeth.context },
  deth: {
    "infiniband.deth.q_key": (deth) => deth.queueKey,
    "infiniband.deth.srcqp": (deth) => deth.sourceQp,
  },
  reth: {
    "infiniband.reth.va": (reth) => reth.virtualAddress,
    "infiniband.reth.r_key": (reth) => reth.remoteKey,
    "infiniband.reth.dmalen": (reth) => reth.dmaBytes,
  },
  // Address and key of an atomic are shown under the names of a RETH.
  atomicEth: {
    "infiniband.reth.va": (atomic) => atomic.virtualAddress,
    "infiniband.reth.r_key": (atomic) => atomic.remoteKey,
    "infiniband.atomiceth.swapdt": (atomic) => atomic.swapAdd,
    "infiniband.atomiceth.cmpdt": (atomic) => atomic.compare,
  },
  aeth: {
    "infiniband.aeth.msn": (aeth) => aeth.msn,
    "infiniband.aeth.syndrome.opcode": ({ syndrome }) => ["ack", "rnrNak", "", "nak"].indexOf(syndrome.kind),
    "infiniband.aeth.syndrome.credit_count": ({ syndrome }) => (syndrome.kind === "ack" ? syndrome.code : undefined),
    "infiniband.aeth.syndrome.timer": ({ syndrome }) => (syndrome.kind === "rnrNak" ? syndrome.code : undefined),
    "infiniband.aeth.syndrome.error_code": ({ syndrome }) => (syndrome.kind === "nak" ? syndrome.code : undefined),
  },
  atomicAckEth: { "infiniband.atomicacketh.origremdt": (ack) => ack.original },
  immDt: { "infiniband.immdt": (imm) => imm.immediate.toString(16).padStart(8, "0") },
  ieth: { "infiniband.ieth": (ieth) => ieth.remoteKey.toString(16).padStart(8, "0") },
  mad: {
    "infiniband.mad.mgmtclass": (mad) => mad.managementClass,
    "infiniband.mad.method": (mad) => mad.method,
    "infiniband.mad.status": (mad) => mad.status,
    "infiniband.mad.transactionid": (mad) => mad.transactionId,
    "infiniband.mad.attributeid": (mad) => mad.attribute,
    "infiniband.mad.attributemodifier": (mad) => mad.modifier,
  },
  pfc: pfcFields,
  lldp: lldpFields,
}

/** tshark's names of the fields of connection management that differ from ours. */
const cmNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  request: {
    localId: "infiniband.cm.req",
    caGuid: "infiniband.cm.req.localcaguid",
    qpn: "infiniband.cm.req.localqpn",
    responderResources: "infiniband.cm.req.responderres",
    initiatorDepth: "infiniband.cm.req.initdepth",
    remoteResponseTimeout: "infiniband.cm.req.remoteresptout",
    transport: "infiniband.cm.req.transpsvctype",
    flowControl: "infiniband.cm.req.e2eflowctrl",
    psn: "infiniband.cm.req.startpsn",
    localResponseTimeout: "infiniband.cm.req.localresptout",
    retries: "infiniband.cm.req.retrcount",
    partition: "infiniband.cm.req.pkey",
    mtuCode: "infiniband.cm.req.pppmtu",
    rnrRetries: "infiniband.cm.req.rnrretrcount",
    cmRetries: "infiniband.cm.req.maxcmretr",
    sharedReceive: "infiniband.cm.req.srq",
  },
  reply: {
    localId: "infiniband.cm.rep",
    remoteId: "infiniband.cm.rep.remotecommid",
    qpn: "infiniband.cm.rep.localqpn",
    psn: "infiniband.cm.rep.startpsn",
    responderResources: "infiniband.cm.rep.respres",
    initiatorDepth: "infiniband.cm.rep.initdepth",
    ackDelay: "infiniband.cm.rep.tgtackdelay",
    failover: "infiniband.cm.rep.failoveracc",
    flowControl: "infiniband.cm.rep.e2eflowctrl",
    rnrRetries: "infiniband.cm.rep.rnrretrcount",
    sharedReceive: "infiniband.cm.rep.srq",
    caGuid: "infiniband.cm.rep.localcaguid",
  },
  readyToUse: { localId: "infiniband.cm.rtu.localcommid", remoteId: "infiniband.cm.rtu.remotecommid" },
  reject: {
    localId: "infiniband.cm.rej.localcommid",
    remoteId: "infiniband.cm.rej.remotecommid",
    message: "infiniband.cm.rej.msgrej",
    informationBytes: "infiniband.cm.rej.rejinfolen",
    reason: "infiniband.cm.rej.reason",
  },
  disconnectRequest: {
    localId: "infiniband.cm.dreq.localcommid",
    remoteId: "infiniband.cm.dreq.remotecommid",
    qpn: "infiniband.cm.req.remoteqpneecn",
  },
  disconnectReply: { localId: "infiniband.cm.drsp.localcommid", remoteId: "infiniband.cm.drsp.remotecommid" },
}
const pathNames = {
  localLid: "infiniband.cm.req.prim_locallid",
  remoteLid: "infiniband.cm.req.prim_remotelid",
  trafficClass: "infiniband.cm.req.prim_tfcclass",
  hopLimit: "infiniband.cm.req.prim_hoplim",
  serviceLevel: "infiniband.cm.req.prim_sl",
  subnetLocal: "infiniband.cm.req.prim_subnetlocal",
  ackTimeout: "infiniband.cm.req.prim_localacktout",
} as const
const GIDS = { localGid: "infiniband.cm.req.prim_localgid_ipv4", remoteGid: "infiniband.cm.req.prim_remotegid_ipv4" }
const PORT = "infiniband.cm.req.serviceid.dport"
const IP_CM = ["infiniband.cm.req.ip_cm.sport", "infiniband.cm.req.ip_cm.sip4", "infiniband.cm.req.ip_cm.dip4"] as const
const ICRC = "infiniband.invariant.crc"
const VCRC = "infiniband.variant.crc"
const VLAN = ["vlan.id", "vlan.priority"] as const
/** The outer tag of QinQ has names of its own. */
const OUTER_VLAN = ["ieee8021ad.id", "ieee8021ad.priority"] as const

/** Every field that tshark is asked for. */
export const tsharkFields: ReadonlyArray<string> = [
  ...new Set([
    ...Object.values(asked).flatMap((fields) => Object.keys(fields)),
    ...Object.values(cmNames).flatMap((names) => Object.values(names)),
    ...Object.values(pathNames),
    ...Object.values(GIDS),
    PORT,
    ...IP_CM,
    ICRC,
    VCRC,
    ...VLAN,
    ...OUTER_VLAN,
  ]),
]

/** Protocols that are off since they take RoCE's payload or port for theirs; sequence numbers as they are sent. */
export const tsharkOptions = [
  ...["tftp", "rpcordma", "smb_direct", "nvme-rdma"].flatMap((name) => ["--disable-protocol", name]),
  "-o",
  "tcp.relative_sequence_numbers:false",
]

/** What our decoder says, under tshark's names. */
const ourFields = (nodes: ReadonlyArray<Node>): ReadonlyMap<string, Said> => {
  const all = new Map<string, Array<bigint | string>>()
  const say = (name: string, value: Value | ReadonlyArray<Value> | undefined): void => {
    const values = Array.isArray(value) ? (value as ReadonlyArray<Value>) : value === undefined ? [] : [value as Value]
    const said = values.map((one) => (typeof one === "string" ? one : BigInt(one)))
    if (said.length > 0) all.set(name, [...(all.get(name) ?? []), ...said])
  }
  for (const node of nodes) {
    const { format } = node
    if (format === "icrc" && node.value !== undefined) say(ICRC, swap32(node.value))
    if (format === "vcrc" && node.value !== undefined) say(VCRC, swap32(node.value) >>> 16)
    if (format === "ethernet") {
      for (const tag of node.value.tags) {
        const [vlan, priority] = tag.protocol === 0x88a8 ? OUTER_VLAN : VLAN
        say(vlan, tag.vlan)
        say(priority, tag.priority)
      }
    }
    if (format === "cm") sayCm(node.value, say)
    const fields = (
      asked as Readonly<
        Record<string, Readonly<Record<string, (value: unknown) => Value | ReadonlyArray<Value> | undefined>>>
      >
    )[format]
    if (fields === undefined || !("value" in node)) continue
    for (const [name, read] of Object.entries(fields)) say(name, read(node.value))
  }
  return all
}

/** CRCs are sent lowest octet first, and shown in the order of the octets. */
const swap32 = (value: number): number =>
  ((value >>> 24) | ((value >>> 8) & 0xff00) | ((value << 8) & 0xff_0000) | (value << 24)) >>> 0

const sayCm = (value: Headers["cm"], say: (name: string, value: Value | undefined) => void): void => {
  for (const [field, name] of Object.entries(cmNames[value.kind] ?? {}))
    say(name, (value as unknown as Readonly<Record<string, Value>>)[field])
  if (value.kind !== "request") return
  for (const [field, name] of Object.entries(pathNames)) say(name, value.primary[field as keyof typeof pathNames])
  for (const [field, name] of Object.entries(GIDS)) {
    const ipv4 = ipv4OfGid(value.primary[field as keyof typeof GIDS])
    say(name, ipv4 === undefined ? undefined : formatIpv4(ipv4))
  }
  say(PORT, value.serviceId & 0xffffn)
  const ip = parseIpCm(value.privateData)
  if (!ip.ok || ip.value.version !== 4) return
  say(IP_CM[0], ip.value.sourcePort)
  say(IP_CM[1], formatIpv4(ip.value.source))
  say(IP_CM[2], formatIpv4(ip.value.destination))
}

/** One row of tshark's output, fields separated by tabs and occurrences by semicolons. */
const theirFields = (row: string): ReadonlyMap<string, Said> =>
  new Map(
    row
      .split("\t")
      .map((cell, column) => {
        const said = cell === "" ? [] : cell.split(";").map(readCell)
        const name = tsharkFields[column]!
        return [name, TWICE.has(name) ? said.slice(0, said.length / 2) : said] as const
      })
      .filter(([, said]) => said.length > 0),
  )

/** Immediate data and the key of an invalidation are shown twice, as a header and as its one field. */
const TWICE = new Set(["infiniband.immdt", "infiniband.ieth"])

const readCell = (cell: string): bigint | string => (/^(0x[0-9a-f]+|[0-9]+)$/.test(cell) ? BigInt(cell) : cell)
const asNumber = (each: bigint | string): bigint | string =>
  typeof each === "string" && /^[0-9]+$/.test(each) ? BigInt(each) : each

/** What tshark 4.0 does not say right, with the reason: fields that are not compared in frames it concerns. */
export interface Quirk {
  readonly reason: string
  readonly concerns: (nodes: ReadonlyArray<Node>) => boolean
  readonly fields: RegExp
}

const bthIn = (
  nodes: ReadonlyArray<Node>,
  test: (opcode: NonNullable<ReturnType<typeof opcodeOf>>) => boolean,
): boolean => nodes.some((node) => node.format === "bth" && test(opcodeOf(node.value.opcode)!))
const EXTENDED = /^infiniband\.(rdeth|deth|reth|aeth|atomic|imm|ieth|invariant|variant)/
export const quirks: ReadonlyArray<Quirk> = [
  {
    reason: "RD: the RDETH is looked for four octets late, and everything after it",
    concerns: (nodes) => bthIn(nodes, ({ service }) => service === "Rd"),
    fields: EXTENDED,
  },
  {
    reason: "XRC: no opcode of it is known",
    concerns: (nodes) => bthIn(nodes, ({ service }) => service === "Xrc"),
    fields: EXTENDED,
  },
  {
    reason: "FLUSH and ATOMIC WRITE are not known",
    concerns: (nodes) => bthIn(nodes, ({ operation }) => operation === "Flush" || operation === "AtomicWrite"),
    fields: EXTENDED,
  },
  {
    reason: "CNP: 0x81 is not known, and the ICRC becomes part of its data",
    concerns: (nodes) => bthIn(nodes, ({ service }) => service === "Cnp"),
    fields: /^infiniband\.(invariant|variant)/,
  },
]

/** The fields on which the two differ, quirks left out. */
export const differences = (
  nodes: ReadonlyArray<Node>,
  row: string,
  known: ReadonlyArray<Quirk> = quirks,
): ReadonlyArray<string> => {
  const ours = ourFields(nodes)
  const theirs = theirFields(row)
  const skipped = known.filter(({ concerns }) => concerns(nodes)).map(({ fields }) => fields)
  return tsharkFields
    .filter((name) => !skipped.some((pattern) => pattern.test(name)))
    .filter((name) => `${(ours.get(name) ?? []).map(asNumber)}` !== `${(theirs.get(name) ?? []).map(asNumber)}`)
    .map((name) => `${name}: ${ours.get(name) ?? "-"} here, ${theirs.get(name) ?? "-"} there`)
}

/** Frames that are compared: each capture, and what we make, native packets in records of an Endace card. */
export const tsharkSources = (): ReadonlyArray<{
  readonly name: string
  readonly link: "ethernet" | "erf"
  readonly frames: ReadonlyArray<Uint8Array>
}> => [
  ...captures.map((name) => ({
    name,
    link: "ethernet" as const,
    frames: readCapture(name).map(({ octets }) => octets),
  })),
  {
    name: "made, Ethernet",
    link: "ethernet",
    frames: madeFrames.filter(({ link }) => link === "ethernet").map(({ octets }) => octets),
  },
  {
    name: "made, InfiniBand",
    link: "erf",
    frames: madeFrames.filter(({ link }) => link === "infiniband").map(({ octets }) => inErf(octets)),
  },
]
