import { formatIpv4, formatIpv6, formatMac } from "./Address.ts"
import { ARP } from "./Arp.ts"
import { CM_PATH, cmLayout, IP_CM, portOf } from "./Cm.ts"
import type { Headers, Node, NodeOf } from "./decode/Node.ts"
import { ETHERNET, VLAN_TAG } from "./Ethernet.ts"
import { ERSPAN, GRE, GRE_CHECKSUM, GRE_KEY, GRE_SEQUENCE } from "./Gre.ts"
import { ICMP_ECHO } from "./Icmp.ts"
import * as Ib from "./Infiniband.ts"
import { IPV4 } from "./Ipv4.ts"
import { IPV6, ipv6ExtensionLayout } from "./Ipv6.ts"
import type { FieldValue, Layout } from "./Layout.ts"
import { ERF, LINUX_COOKED, LINUX_COOKED2 } from "./Link.ts"
import { LLDP_TLV } from "./Lldp.ts"
import { MAD } from "./Mad.ts"
import { u16, u32 } from "./Octets.ts"
import { PAUSE, PFC } from "./Pfc.ts"
import { TCP } from "./Tcp.ts"
import { UDP } from "./Udp.ts"
import { VXLAN } from "./Vxlan.ts"

/** One field of a node, as it is in the octets. */
export interface FieldAt {
  /** `primary.flowLabel` for one of a part. */
  readonly name: string
  /** Bits from the start of the array. */
  readonly bit: number
  readonly bits: number
  readonly value: FieldValue
  /** For people: addresses in their form, octets and wide numbers in hexadecimal. */
  readonly text: string
}

const layouts: { readonly [F in keyof Headers]?: Layout } = /* @__PURE__ */ (() => ({
  erf: ERF,
  linuxCooked: LINUX_COOKED,
  linuxCooked2: LINUX_COOKED2,
  ethernet: ETHERNET,
  arp: ARP,
  ipv4: IPV4,
  ipv6: IPV6,
  udp: UDP,
  tcp: TCP,
  icmpEcho: ICMP_ECHO,
  vxlan: VXLAN,
  erspan: ERSPAN,
  lrh: Ib.LRH,
  grh: Ib.GRH,
  bth: Ib.BTH,
  rdeth: Ib.RDETH,
  deth: Ib.DETH,
  xrceth: Ib.XRCETH,
  reth: Ib.RETH,
  atomicEth: Ib.ATOMIC_ETH,
  aeth: Ib.AETH,
  atomicAckEth: Ib.ATOMIC_ACK_ETH,
  immDt: Ib.IMM_DT,
  ieth: Ib.IETH,
  feth: Ib.FETH,
  mad: MAD,
}))()

/** Fields of 32 bits that are IPv4 addresses. */
const ipv4Fields = /* @__PURE__ */ new Set(["ipv4.source", "ipv4.destination", "arp.senderIp", "arp.targetIp"])

/** Numbers of 16 bits that nobody writes in decimal. */
const codes = /* @__PURE__ */ new Set(["checksum", "partition", "identification", "protocol", "etherType"])

const hex = (octets: Uint8Array): string => Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join("")

const textOf = (format: string, name: string, bits: number, value: FieldValue): string => {
  if (value instanceof Uint8Array) return bits === 128 ? formatIpv6(value) : hex(value)
  if (typeof value === "boolean") return value ? "1" : "0"
  if (typeof value === "number" && bits === 48) return formatMac(value)
  if (typeof value === "number" && ipv4Fields.has(`${format}.${name}`)) return formatIpv4(value)
  return bits >= 24 || (bits === 16 && codes.has(name)) ? `0x${value.toString(16).padStart(bits / 4, "0")}` : `${value}`
}

/** The fields of a layout that lie before `end`. */
const fieldsIn = (layout: Layout, octets: Uint8Array, start: number, end: number, prefix = ""): Array<FieldAt> =>
  layout.fields
    .filter(({ bit, bits }) => 8 * start + bit + bits <= 8 * end)
    .map(({ name, bit, bits, read }) => {
      const value = read(octets, start)
      const text = textOf(layout.format, name, bits, value)
      return { name: prefix + name, bit: 8 * start + bit, bits, value, text }
    })

const opaque = (name: string, octets: Uint8Array, start: number, end: number): ReadonlyArray<FieldAt> => {
  if (start >= end) return []
  const value = octets.subarray(start, end)
  return [{ name, bit: 8 * start, bits: 8 * value.length, value, text: hex(value) }]
}

const ethernetFields = (octets: Uint8Array, start: number, end: number): ReadonlyArray<FieldAt> => {
  const addresses = fieldsIn(ETHERNET, octets, start, start + 12)
  const tags: Array<FieldAt> = []
  for (let at = start + 12, tag = 1; at + 4 < end; at += 4, tag++)
    tags.push(...fieldsIn(VLAN_TAG, octets, at, at + 4, `tag${tag}.`))
  const value = u16(octets, end - 2)
  const text = `0x${value.toString(16).padStart(4, "0")}`
  return [...addresses, ...tags, { name: "etherType", bit: 8 * (end - 2), bits: 16, value, text }]
}

const greFields = ({ start, end, value }: NodeOf<"gre">, octets: Uint8Array): ReadonlyArray<FieldAt> => {
  const fields = fieldsIn(GRE, octets, start, end)
  const words = [
    [value.checksum, GRE_CHECKSUM],
    [value.key, GRE_KEY],
    [value.sequence, GRE_SEQUENCE],
  ] as const
  let at = start + GRE.bytes
  for (const [said, layout] of words) {
    if (said === undefined) continue
    fields.push(...fieldsIn(layout, octets, at, end))
    at += layout.bytes
  }
  return fields
}

/** Each element with its type and length, the end mark too. */
const lldpFields = (octets: Uint8Array, start: number, end: number): ReadonlyArray<FieldAt> => {
  const fields: Array<FieldAt> = []
  for (let at = start, tlv = 1; at < end; tlv++) {
    const data = at + LLDP_TLV.bytes
    const next = data + (u16(octets, at) & 0x1ff)
    fields.push(...fieldsIn(LLDP_TLV, octets, at, data, `tlv${tlv}.`), ...opaque(`tlv${tlv}.data`, octets, data, next))
    at = next
  }
  return fields
}

/** IPv4 addresses lie in the last four octets of sixteen. */
const ipCmFields = (octets: Uint8Array, start: number, end: number): ReadonlyArray<FieldAt> => {
  const fields = fieldsIn(IP_CM, octets, start, end, "ip.")
  if (fields.find(({ name }) => name === "ip.version")?.value !== 4) return fields
  return fields.map((field) => {
    const { value } = field
    return value instanceof Uint8Array && value.length === 16 && value.subarray(0, 12).every((octet) => octet === 0)
      ? { ...field, text: formatIpv4(u32(value, 12)) }
      : field
  })
}

const cmFields = (node: NodeOf<"cm">, octets: Uint8Array): ReadonlyArray<FieldAt> => {
  const { start, end, value } = node
  const layout = cmLayout(value.kind)
  const fields = fieldsIn(layout, octets, start, end)
  if (value.kind !== "request") return fields
  const primary = start + layout.bytes
  const alternate = primary + CM_PATH.bytes
  const own = alternate + CM_PATH.bytes
  const isIp = portOf(value.serviceId) !== undefined
  const ipEnd = isIp ? own + IP_CM.bytes : own
  return [
    ...fields,
    ...fieldsIn(CM_PATH, octets, primary, alternate, "primary."),
    ...fieldsIn(CM_PATH, octets, alternate, own, "alternate."),
    ...(isIp ? ipCmFields(octets, own, ipEnd) : []),
    ...opaque("privateData", octets, ipEnd, end),
  ]
}

const layoutOf = (node: Node): Layout | undefined => {
  if (node.format === "pfc") return node.value.kind === "pause" ? PAUSE : PFC
  if (node.format === "ipv6Extension") return ipv6ExtensionLayout(node.value.kind)
  return Object.hasOwn(layouts, node.format) ? layouts[node.format as keyof Headers] : undefined
}

/**
 * Every field of a node with its place, reserved ones too, in the order of the octets and without a gap. What a node
 * without a layout holds is one field.
 */
export const fieldsOf = (node: Node, octets: Uint8Array): ReadonlyArray<FieldAt> => {
  const { format, start, end } = node
  if (format === "ethernet") return ethernetFields(octets, start, end)
  if (format === "cm") return cmFields(node, octets)
  if (format === "gre") return greFields(node, octets)
  if (format === "lldp") return lldpFields(octets, start, end)
  const layout = layoutOf(node)
  if (layout === undefined) return opaque(format, octets, start, end)
  const fields = fieldsIn(layout, octets, start, end)
  const last = fields.at(-1)
  const rest = last === undefined ? start : (last.bit + last.bits) / 8
  const hasOptions = "value" in node && typeof node.value === "object" && "options" in node.value
  return [...fields, ...opaque(hasOptions ? "options" : "rest", octets, rest, end)]
}
