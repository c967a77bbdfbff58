import { lineOf, Observer, type Sighting } from "@rdmakit/analysis"
import type { PacketRecord } from "@rdmakit/pcap"
import { crc32 } from "@rdmakit/wire/node"
import { checkIcrc } from "@rdmakit/wire/roce"
import { Effect, Option } from "effect"
import { Exit, exitCodes } from "../Exit.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen, tell } from "../Screen.ts"
import { filterOf, packetVisitor, type SelectionInput, visitFile } from "./CaptureInput.ts"
import { frameOf } from "./Frame.ts"
import { treeLines, treeOf } from "./PacketTree.ts"
import { formatSeconds, formatTime } from "./Times.ts"

export interface ShowInput extends SelectionInput {
  readonly file: string
  readonly frame: Option.Option<number>
  readonly json: boolean
}

/** Prints packets, one a line, or everything about one of them. */
export const show = (input: ShowInput) =>
  Option.match(input.frame, { onNone: () => listPackets(input), onSome: (frame) => showFrame(input, frame) })

const listPackets = Effect.fnUntraced(function* (input: ShowInput) {
  const { readerGone } = yield* Screen
  const observer = new Observer()
  const filter = yield* filterOf(input, observer)
  const format = input.json ? lineJson : lineText
  let text = ""
  const visited = yield* visitFile(
    input.file,
    packetVisitor(observer, filter, (packet, sighting) => {
      text += `${format(packet, sighting, observer)}\n`
    }),
    {
      text: () => {
        const piece = text
        text = ""
        return piece
      },
    },
  )
  if (visited.fault === undefined || readerGone()) return
  yield* tell(`error: ${visited.fault}`)
  return yield* new Exit({ code: exitCodes.notWell })
})

/** "wrong", "cut"…; empty for what is right, or has no ICRC. */
const icrcText = ({ place, data, kind }: Sighting): string => {
  if (kind !== "roce") return ""
  const verdict = place === undefined ? "unknown" : checkIcrc(data, place, crc32)
  return verdict === "right" ? "" : verdict
}

const lineText = (_: PacketRecord, sighting: Sighting, { addresses }: Observer): string => {
  const { protocol, text } = lineOf(sighting)
  const verdict = icrcText(sighting)
  const parts = [
    String(sighting.frame).padStart(6),
    formatSeconds(sighting.timeNs).padStart(13),
    `${addresses.text(sighting.source)} → ${addresses.text(sighting.destination)}`,
    protocol,
    text,
    ...(verdict === "" ? [] : [`[ICRC ${verdict}]`]),
  ]
  return parts.join("  ")
}

const known = (value: number): number | undefined => (value < 0 ? undefined : value)

const lineJson = (packet: PacketRecord, sighting: Sighting, { addresses }: Observer): string => {
  const { protocol, text } = lineOf(sighting)
  const { kind, operation } = sighting
  const time = packet.timeNs
  return JSON.stringify({
    frame: sighting.frame,
    time: time === undefined ? undefined : formatTime(time),
    relativeNs: Number.isNaN(sighting.timeNs) ? undefined : sighting.timeNs,
    source: addresses.text(sighting.source),
    destination: addresses.text(sighting.destination),
    protocol,
    wireBytes: sighting.wireBytes,
    capturedBytes: packet.capturedOctets,
    opcode: known(sighting.opcode),
    operation: operation?.name,
    qp: known(sighting.destinationQp),
    psn: operation?.kind === "notify" ? undefined : known(sighting.psn),
    payloadBytes: kind === "roce" && sighting.opcode >= 0 ? sighting.payloadBytes : undefined,
    syndrome: known(sighting.syndrome),
    msn: known(sighting.msn),
    dmaBytes: known(sighting.dmaBytes),
    remoteKey: known(sighting.remoteKey),
    immediate: known(sighting.immediate),
    sourceQp: known(sighting.sourceQp),
    icrc: kind === "roce" ? icrcText(sighting) || "right" : undefined,
    text,
  })
}

const showFrame = Effect.fnUntraced(function* (input: ShowInput, frame: number) {
  const { packet, octets, nodes } = yield* frameOf(input.file, frame)
  const layers = treeOf(nodes, octets)
  const time = packet.timeNs === undefined ? undefined : formatTime(packet.timeNs)
  const { originalOctets, capturedOctets } = packet
  if (input.json) {
    const octetsText = Buffer.from(octets).toString("hex")
    yield* print(
      JSON.stringify({
        frame,
        time,
        wireBytes: originalOctets,
        capturedBytes: capturedOctets,
        octets: octetsText,
        layers,
      }),
    )
    return
  }
  const { out } = yield* Screen
  const paint = paintOf(out)
  const cut = packet.isTruncated ? `, ${capturedOctets} of them captured` : ""
  const head = `frame ${frame}  ${time ?? "no time"}  ${originalOctets} octets${cut}`
  yield* print([head, ...treeLines(layers, paint.bold, paint.red)].join("\n"))
})
