import { type Node, nodeOf } from "@rdmakit/wire/decode"
import { crc32 } from "@rdmakit/wire/node"
import { type Carrier, type IcrcPart, icrcOf, icrcParts, readIcrc } from "@rdmakit/wire/roce"
import { Effect } from "effect"
import { Refused } from "../Exit.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen } from "../Screen.ts"
import { nameOf } from "./CaptureInput.ts"
import { frameOf } from "./Frame.ts"

export interface ExplainInput {
  readonly file: string
  readonly frame: number
  readonly json: boolean
}

const ROW = 16

const carriers: Readonly<Record<Carrier, string>> = {
  ipv4: "RoCEv2 over IPv4: type of service, time to live, header checksum, UDP checksum and octet 4 of the BTH count as ones",
  ipv6: "RoCEv2 over IPv6: traffic class, flow label, hop limit, UDP checksum and octet 4 of the BTH count as ones",
  rocev1: "RoCEv1: traffic class, flow label, hop limit of the GRH and octet 4 of the BTH count as ones",
  local: "InfiniBand without a GRH: the virtual lane and octet 4 of the BTH count as ones",
  global: "InfiniBand with a GRH: the LRH, traffic class, flow label, hop limit and octet 4 of the BTH count as ones",
}

const hexOf = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

/** Shows what the ICRC of a packet covers, octet by octet. */
export const explain = Effect.fnUntraced(function* (input: ExplainInput) {
  const { octets, nodes } = yield* frameOf(input.file, input.frame)
  const place = `${nameOf(input.file)}: frame ${input.frame}`
  const icrc = nodeOf(nodes, "icrc")
  if (icrc === undefined)
    return yield* new Refused({ message: `${place}: found no ICRC, expected a packet of RoCE or InfiniBand` })
  const { covers } = icrc
  if (covers === undefined) {
    return yield* new Refused({
      message: `${place}: no rule says what an ICRC behind extension headers of IPv6 covers`,
    })
  }
  if (covers.icrc > octets.length) {
    const message = `${place}: found ${octets.length} octets, expected ${covers.icrc} up to the ICRC; the capture cut the packet`
    return yield* new Refused({ message })
  }
  const computed = icrcOf(octets, covers, crc32)
  const found = covers.icrc + 4 <= octets.length ? readIcrc(octets, covers.icrc) : undefined
  const parts = icrcParts(octets, covers)
  const verdict = found === undefined ? "cut" : found === computed ? "right" : "wrong"
  if (input.json) {
    const rows = parts.map(({ start, octets: covered, masks }) => ({
      start: start < 0 ? null : start,
      octets: hexOf(covered),
      masks: hexOf(masks),
    }))
    const values = { computed: wireHex(computed), found: found === undefined ? null : wireHex(found), verdict }
    const icrcAt = covers.icrc
    const coveredBytes = parts.reduce((sum, part) => sum + part.octets.length, 0)
    yield* print(
      JSON.stringify({ frame: input.frame, carrier: covers.carrier, icrcAt, coveredBytes, ...values, parts: rows }),
    )
    return
  }
  const { out } = yield* Screen
  const paint = paintOf(out)
  const lines = [carriers[covers.carrier], "[xx] is an octet that counts as ones, [6·] one of which half does", ""]
  for (const part of parts) lines.push(...partLines(part, nodes, paint.cyan))
  lines.push(
    "",
    `computed  ${wireHex(computed)}  as it is sent, lowest octet first: 0x${computed.toString(16).padStart(8, "0")}`,
    found === undefined
      ? "found     nothing: the capture cut it"
      : `found     ${wireHex(found)}  at octets ${covers.icrc}..${covers.icrc + 3}: ${verdict === "right" ? verdict : paint.red(verdict)}`,
  )
  yield* print(lines.join("\n"))
})

/** The octets in the order in which they are sent. */
const wireHex = (crc: number): string =>
  [0, 8, 16, 24].map((shift) => ((crc >>> shift) & 0xff).toString(16).padStart(2, "0")).join(" ")

const partLines = (
  part: IcrcPart,
  nodes: ReadonlyArray<Node>,
  mark: (text: string) => string,
): ReadonlyArray<string> => {
  if (part.start < 0) return [`     -  ${cells(part, 0, part.octets.length, mark)}  in place of an LRH`]
  const lines: Array<string> = []
  const end = part.start + part.octets.length
  for (const node of nodes) {
    const from = Math.max(node.start, part.start)
    const to = Math.min(node.end, end)
    for (let at = from; at < to; at += ROW) {
      const stop = Math.min(at + ROW, to)
      const name = at === from ? `  ${node.format}` : ""
      lines.push(`${String(at).padStart(6)}  ${cells(part, at - part.start, stop - part.start, mark)}${name}`.trimEnd())
    }
  }
  return lines
}

const cells = ({ octets, masks }: IcrcPart, from: number, to: number, mark: (text: string) => string): string => {
  let text = ""
  for (let at = from; at < to; at++) {
    const hex = octets[at]!.toString(16).padStart(2, "0")
    const mask = masks[at]!
    const halves = `${mask >= 0xf0 ? "·" : hex[0]}${(mask & 0x0f) === 0x0f ? "·" : hex[1]}`
    text += mask === 0xff ? mark(`[${hex}]`) : mask === 0 ? ` ${hex} ` : mark(`[${halves}]`)
  }
  return text + " ".repeat(4 * (ROW - (to - from)))
}
