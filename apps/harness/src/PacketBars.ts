import { escapeHtml, tableHtml } from "@rdmakit/scenario/report"
import type { EvaluatedFigure } from "./Evaluation.ts"
import type { LinePacket, Part } from "./Octets.ts"

/** A picture for wide screens and one for narrow ones, as charts have. */
const sizes = [
  { className: "wide", width: 556 },
  { className: "narrow", width: 336 },
] as const
const ROW = 46
const BAR = 20
/** Width of a letter of the labels, roughly. */
const LETTER = 6.6
const COLOURS = 6
/** From the first octet on the line to the last. */
const ORDER = [
  ...["preamble", "Ethernet", "LRH", "GRH", "IPv4", "UDP", "TCP", "MPA", "DDP and RDMAP", "BTH", "RETH", "payload"],
  ...["padding", "ICRC", "MPA CRC", "VCRC", "frame padding", "FCS", "gap"],
]

/** The packets of formats, one under the other to one scale, and what their parts take; "" for other figures. */
export const packetsHtml = ({ runs }: EvaluatedFigure): string => {
  const formats = runs.flatMap(({ system, packets }) => (packets === undefined ? [] : [{ system, packets }]))
  if (formats.length === 0) return ""
  const all = new Set(formats.flatMap(({ packets }) => packets.only.map(({ name }) => name)))
  const names = [...all].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b))
  const octetsOf = (packet: LinePacket, name: string): string => {
    const found = packet.filter((part) => part.name === name)
    return found.length === 0 ? "" : String(found.reduce((sum, { octets }) => sum + octets, 0))
  }
  const rows = names.map((name) => [name, ...formats.map(({ packets }) => octetsOf(packets.only, name))])
  const totals = formats.map(({ packets }) => String(total(packets.only)))
  return `<h3>A WRITE of 64 bytes, octet by octet</h3>
${bars(
  formats.map(({ system, packets }) => ({ system, packet: packets.only })),
  names,
)}
${tableHtml(["octets", ...formats.map(({ system }) => system)], [...rows, ["all", ...totals]])}
`
}

const total = (packet: LinePacket): number => packet.reduce((sum, { octets }) => sum + octets, 0)

const bars = (
  formats: ReadonlyArray<{ readonly system: string; readonly packet: LinePacket }>,
  names: ReadonlyArray<string>,
): string => {
  const most = Math.max(...formats.map(({ packet }) => total(packet)))
  const height = ROW * formats.length
  const label = `A WRITE of 64 bytes: ${formats.map(({ system, packet }) => `${system} ${total(packet)} octets`).join(", ")}.`
  return sizes
    .map(({ className, width }) => {
      const rows = formats.map(({ system, packet }, row) => bar(system, packet, row * ROW, (width - 2) / most, names))
      return `<svg class="${className}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeHtml(label)}">${rows.join("")}</svg>`
    })
    .join("\n")
}

const bar = (system: string, packet: LinePacket, y: number, scale: number, names: ReadonlyArray<string>): string => {
  let x = 1
  const boxes = packet.map((part) => {
    const width = part.octets * scale
    const box = boxOf(part, x, y + ROW - BAR - 8, width, names.indexOf(part.name) % COLOURS)
    x += width
    return box
  })
  return `<text class="label" x="0" y="${y + 13}">${escapeHtml(`${system}, ${total(packet)}`)}</text>${boxes.join("")}`
}

/** The payload is filled; a part that is wide enough has its name. */
const boxOf = ({ name, octets }: Part, x: number, y: number, width: number, colour: number): string => {
  const fill = name === "payload" ? 0.6 : 0.18
  const shape = `x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${BAR}"`
  const text =
    name.length * LETTER > width
      ? ""
      : `<text class="label" x="${(x + width / 2).toFixed(1)}" y="${y + 14}" text-anchor="middle">${escapeHtml(name)}</text>`
  return `<g class="c${colour}"><rect ${shape} fill="currentColor" fill-opacity="${fill}" stroke="currentColor"/><title>${escapeHtml(`${name}: ${octets}`)}</title></g>${text}`
}
