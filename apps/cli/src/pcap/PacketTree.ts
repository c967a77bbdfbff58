import { operationOf, syndromeText } from "@rdmakit/analysis"
import { formatError } from "@rdmakit/wire"
import type { Node } from "@rdmakit/wire/decode"
import { type FieldAt, fieldsOf } from "@rdmakit/wire/fields"
import { iwarpLayers } from "./IwarpTree.ts"

/** A field of a frame, for programs and people. */
export interface TreeField {
  readonly name: string
  /** The octet it starts in, from the start of the frame, and the bit in it from the left. */
  readonly offset: number
  readonly bit: number
  readonly bits: number
  readonly value: string
  /** What the value means, where it is a code. */
  readonly meaning?: string
}

export interface TreeLayer {
  readonly format: string
  readonly start: number
  readonly end: number
  /** What kind of payload or padding. */
  readonly of?: string
  readonly verdict?: string
  readonly fields: ReadonlyArray<TreeField>
  readonly faults: ReadonlyArray<string>
}

const ECN = ["not ECN capable", "ECT(1)", "ECT(0)", "CE"]
const PORTS: Readonly<Record<number, string>> = { 4791: "RoCEv2", 4789: "VXLAN" }
const ETHER_TYPES: Readonly<Record<number, string>> = {
  2048: "IPv4",
  2054: "ARP",
  34525: "IPv6",
  34824: "MAC control",
  35093: "RoCEv1",
  35020: "LLDP",
}
const PROTOCOLS: Readonly<Record<number, string>> = { 1: "ICMP", 6: "TCP", 17: "UDP", 47: "GRE", 58: "ICMPv6" }

const meaningOf = (format: string, { name, value }: FieldAt): string | undefined => {
  if (typeof value !== "number") return undefined
  switch (`${format}.${name}`) {
    case "bth.opcode":
      return operationOf(value)?.name ?? "reserved"
    case "aeth.syndrome":
      return syndromeText(value)
    case "ipv4.trafficClass":
    case "ipv6.trafficClass":
    case "grh.trafficClass":
      return `DSCP ${value >> 2}, ${ECN[value & 3]}`
    case "tcp.flags":
      return TCP_FLAGS.filter((_, bit) => (value >> bit) & 1).join(" ") || "none"
    case "udp.destinationPort":
      return PORTS[value]
    case "ethernet.etherType":
      return ETHER_TYPES[value]
    case "ipv4.protocol":
    case "ipv6.nextHeader":
      return PROTOCOLS[value]
    default:
      return undefined
  }
}

const TCP_FLAGS = ["FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR", "NS"]

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

/** Frames carry payloads of thousands of octets: a tree shows where they are, and `--json` what they are. */
export const treeOf = (nodes: ReadonlyArray<Node>, octets: Uint8Array): ReadonlyArray<TreeLayer> =>
  nodes.flatMap((node) => {
    const { format, start, end } = node
    const iwarp = format === "payload" && node.of === "tcp" ? iwarpLayers(octets, start, end) : undefined
    return iwarp ?? [layerOf(node, octets)]
  })

const layerOf = (node: Node, octets: Uint8Array): TreeLayer => {
  const { format, start, end } = node
  const isOpaque = format === "payload" || format === "padding" || format === "raw"
  const fields = isOpaque
    ? [{ name: "octets", offset: start, bit: 0, bits: 8 * (end - start), value: hex(octets.subarray(start, end)) }]
    : fieldsOf(node, octets).map((field) => {
        const meaning = meaningOf(format, field)
        const place = { offset: Math.floor(field.bit / 8), bit: field.bit % 8, bits: field.bits }
        return { name: field.name, ...place, value: field.text, ...(meaning === undefined ? {} : { meaning }) }
      })
  return {
    format,
    start,
    end,
    ...("of" in node ? { of: node.of } : {}),
    ...("verdict" in node ? { verdict: node.verdict } : {}),
    fields,
    faults: node.format === "raw" ? [formatError(node.error)] : "faults" in node ? node.faults.map(formatError) : [],
  }
}

const OCTETS_SHOWN = 16

const placeText = ({ offset, bit, bits }: TreeField): string => {
  if (bits % 8 !== 0 || bit !== 0) return `${offset}.${bit}+${bits}`
  return bits === 8 ? `${offset}` : `${offset}..${offset + bits / 8 - 1}`
}

const shortened = (value: string): string =>
  value.length > 2 * OCTETS_SHOWN && /^[0-9a-f]+$/.test(value) ? `${value.slice(0, 2 * OCTETS_SHOWN)}…` : value

/** The tree in lines: each layer with the octets it has, each field with its octet, and bits where it has only some. */
export const treeLines = (
  layers: ReadonlyArray<TreeLayer>,
  bold: (text: string) => string,
  alarm: (text: string) => string,
): ReadonlyArray<string> =>
  layers.flatMap((layer) => {
    const { format, start, end, of, verdict, fields, faults } = layer
    const title = of === undefined ? format : `${format} (${of})`
    const said = verdict === undefined ? "" : `  ${verdict === "wrong" ? alarm(verdict) : verdict}`
    const lines = [`${bold(title)}  ${end > start ? `octets ${start}..${end - 1}` : "no octets"}${said}`]
    const width = Math.max(...fields.map(({ name }) => name.length), 0)
    for (const field of fields) {
      if (end === start) break
      const meaning = field.meaning === undefined ? "" : `  (${field.meaning})`
      lines.push(`  ${placeText(field).padEnd(9)} ${field.name.padEnd(width)}  ${shortened(field.value)}${meaning}`)
    }
    for (const fault of faults) lines.push(`  ${alarm("fault:")} ${fault}`)
    return lines
  })
