import { DDP_TAGGED, DDP_UNTAGGED, parseDdp } from "@rdmakit/wire/ddp"
import { crcVerdict, FPDU, FPDU_BYTES, FPDU_CRC_BYTES, fpduBytes, MPA, parseMpa } from "@rdmakit/wire/mpa"
import { parseRdmap, RDMAP_READ_REQUEST, terminateText } from "@rdmakit/wire/rdmap"
import type { TreeField, TreeLayer } from "./PacketTree.ts"

type Layout = typeof FPDU | typeof MPA | typeof DDP_TAGGED | typeof DDP_UNTAGGED | typeof RDMAP_READ_REQUEST

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

const fieldsOf = (layout: Layout, octets: Uint8Array, start: number): Array<TreeField> =>
  layout.fields.map(({ name, bit, bits, read }) => {
    const value = read(octets, start)
    const text =
      value instanceof Uint8Array
        ? hex(value)
        : typeof value === "boolean"
          ? String(Number(value))
          : bits >= 24
            ? `0x${value.toString(16).padStart(bits / 4, "0")}`
            : String(value)
    const at = 8 * start + bit
    return { name, offset: Math.floor(at / 8), bit: at % 8, bits, value: text }
  })

const octetsField = (name: string, octets: Uint8Array, start: number, end: number): ReadonlyArray<TreeField> =>
  start < end ? [{ name, offset: start, bit: 0, bits: 8 * (end - start), value: hex(octets.subarray(start, end)) }] : []

/**
 * The frames of MPA in the payload of a TCP segment, when it starts with one: an opening frame, or units that fill it.
 * Undefined for anything else: what lies across segments `flows` and `verify` put together.
 */
export const iwarpLayers = (octets: Uint8Array, start: number, end: number): ReadonlyArray<TreeLayer> | undefined => {
  const mpa = parseMpa(octets, start, end)
  if (mpa.ok) {
    const data = octetsField("privateData", octets, start + MPA.bytes, mpa.payloadStart)
    const head = fieldsOf(MPA, octets, start)
    const fields = [...head, ...data]
    const opening: TreeLayer = { format: "mpa", of: mpa.value.kind, start, end: mpa.payloadStart, fields, faults: [] }
    const rest = mpa.payloadStart < end ? iwarpLayers(octets, mpa.payloadStart, end) : []
    return rest === undefined ? undefined : [opening, ...rest]
  }
  const layers: Array<TreeLayer> = []
  for (let at = start; at < end; ) {
    const unit = unitLayers(octets, at, end)
    if (unit === undefined) return undefined
    layers.push(...unit.layers)
    at = unit.end
  }
  return layers
}

const unitLayers = (octets: Uint8Array, start: number, end: number) => {
  if (start + FPDU_BYTES > end) return undefined
  const bytes = (octets[start]! << 8) | octets[start + 1]!
  const unitEnd = start + fpduBytes(bytes)
  if (unitEnd > end) return undefined
  const ulpdu = start + FPDU_BYTES
  const ddp = parseDdp(octets, ulpdu, ulpdu + bytes)
  const rdmap = parseRdmap(octets, ulpdu, ulpdu + bytes)
  if (!ddp.ok || !rdmap.ok) return undefined
  const crc = unitEnd - FPDU_CRC_BYTES
  const kind = rdmap.value.kind
  const faults = kind === "terminate" ? [terminateText(rdmap.value.terminate)] : []
  const body = ddp.payloadStart
  const bodyEnd = ulpdu + bytes
  const request = kind === "readRequest" ? fieldsOf(RDMAP_READ_REQUEST, octets, body) : undefined
  const bodyFields = request ?? octetsField("octets", octets, body, bodyEnd)
  const head = fieldsOf(ddp.value.kind === "tagged" ? DDP_TAGGED : DDP_UNTAGGED, octets, ulpdu)
  const layers: Array<TreeLayer> = [
    { format: "fpdu", start, end: ulpdu, fields: fieldsOf(FPDU, octets, start), faults: [] },
    { format: "ddp", of: ddp.value.kind, start: ulpdu, end: body, fields: head, faults: [] },
    { format: "rdmap", of: kind, start: body, end: bodyEnd, fields: bodyFields, faults },
    ...(bodyEnd < crc
      ? [
          {
            format: "padding",
            start: bodyEnd,
            end: crc,
            fields: octetsField("octets", octets, bodyEnd, crc),
            faults: [],
          },
        ]
      : []),
    {
      format: "crc32c",
      verdict: crcVerdict(octets, start, crc),
      start: crc,
      end: unitEnd,
      fields: octetsField("crc", octets, crc, unitEnd),
      faults: [],
    },
  ]
  return { layers, end: unitEnd }
}
