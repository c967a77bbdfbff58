import { Observer, Overview, type OverviewCounts } from "@rdmakit/analysis"
import { type CaptureInterface, type CaptureRecord, interfaceName, optionCodes, optionTexts } from "@rdmakit/pcap"
import { linkTypeOf } from "@rdmakit/wire/decode"
import { Effect } from "effect"
import { Exit, exitCodes } from "../Exit.ts"
import { counted, grouped, percent, quantity } from "../Figures.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen } from "../Screen.ts"
import { inOneLine } from "../Shown.ts"
import { filterOf, packetVisitor, type SelectionInput, type Visited, visitFile } from "./CaptureInput.ts"
import { formatDuration, formatTime } from "./Times.ts"

export interface InfoInput extends SelectionInput {
  readonly files: ReadonlyArray<string>
  readonly json: boolean
}

interface FileInfo {
  readonly visited: Visited
  readonly counts: OverviewCounts
  readonly addresses: number
  readonly format: string
  /** The first of them. */
  readonly interfaces: ReadonlyArray<CaptureInterface>
  readonly interfaceCount: number
  readonly writer: string | undefined
}

const resolutionText = (ticksPerSecond: bigint): string => {
  const names: Readonly<Record<string, string>> = { "1000000": "microseconds", "1000000000": "nanoseconds" }
  return names[`${ticksPerSecond}`] ?? `1/${ticksPerSecond} s`
}

const linkText = ({ linkType }: CaptureInterface): string => linkTypeOf(linkType) ?? `link type ${linkType}`

/** Files made by joining many have one for each. */
const INTERFACES_KEPT = 4096
const INTERFACES_SHOWN = 16

/** Says what captures hold. */
export const info = Effect.fnUntraced(function* (input: InfoInput) {
  let ok = true
  for (const file of input.files) {
    const observer = new Observer()
    const filter = yield* filterOf(input, observer)
    const overview = new Overview()
    const interfaces: Array<CaptureInterface> = []
    let interfaceCount = 0
    let format = ""
    let writer: string | undefined
    const packets = packetVisitor(observer, filter, (packet, sighting) => overview.packet(packet, sighting))
    const visited = yield* visitFile(file, (record: CaptureRecord) => {
      if (record.kind === "interface") {
        if (interfaceCount++ < INTERFACES_KEPT) interfaces.push(record.interface)
      } else if (record.kind === "section" && format === "") {
        format = `${record.format}, ${record.littleEndian ? "little" : "big"}-endian`
        writer = optionTexts(record.options, optionCodes.section.application)[0]
      } else packets(record)
    })
    const result = {
      visited,
      counts: overview.counts(),
      addresses: observer.addresses.count,
      format,
      interfaces,
      interfaceCount,
      writer,
    }
    ok &&= visited.fault === undefined
    if (input.json) yield* print(JSON.stringify(infoJson(result)))
    else yield* tellInfo(result)
  }
  if (!ok) return yield* new Exit({ code: exitCodes.notWell })
})

const infoJson = ({ visited, counts, addresses, format, interfaces, interfaceCount, writer }: FileInfo) => ({
  file: visited.name,
  ok: visited.fault === undefined,
  format,
  writer,
  interfaces: interfaces.map((each) => ({
    name: interfaceName(each),
    linkType: each.linkType,
    link: linkText(each),
    snapLength: each.snapLength,
    ticksPerSecond: Number(each.ticksPerSecond),
    fcsOctets: each.fcsOctets,
  })),
  interfaceCount,
  start: visited.startNs === undefined ? undefined : formatTime(visited.startNs),
  addresses,
  ...counts,
  fault: visited.fault,
})

const listText = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${grouped(count)}`)
    .join(", ")

const tellInfo = Effect.fnUntraced(function* (result: FileInfo) {
  const { out } = yield* Screen
  const paint = paintOf(out)
  const { visited, counts, interfaces, addresses } = result
  const { packets, wireBytes, cut, durationNs, outOfOrder } = counts
  const lines = [
    `${paint.bold(visited.name)}  ${result.format}${result.writer === undefined ? "" : `, by ${inOneLine(result.writer)}`}`,
  ]
  for (const each of interfaces.slice(0, INTERFACES_SHOWN)) {
    const name = interfaceName(each)
    const snap = each.snapLength === 0 ? "no limit" : `snap length ${grouped(each.snapLength)}`
    const parts = [
      name === undefined ? undefined : inOneLine(name),
      linkText(each),
      snap,
      resolutionText(each.ticksPerSecond),
    ]
    if (each.fcsOctets !== undefined && each.fcsOctets > 0) parts.push(`check sequence of ${each.fcsOctets}`)
    lines.push(`  interface   ${parts.filter((part) => part !== undefined).join(", ")}`)
  }
  const further = result.interfaceCount - INTERFACES_SHOWN
  if (further > 0) lines.push(`  interfaces  ${grouped(further)} more`)
  lines.push(
    `  packets     ${grouped(packets)}, ${quantity(wireBytes, "B")} on the wire, ${counted(addresses, "address", "addresses")}`,
  )
  if (visited.startNs !== undefined && durationNs !== undefined) {
    const rate = durationNs > 0 ? `, ${quantity((wireBytes * 8e9) / durationNs, "b/s")}` : ""
    lines.push(`  time        ${formatTime(visited.startNs)} for ${formatDuration(durationNs)}${rate}`)
  }
  if (outOfOrder > 0) lines.push(`  order       ${counted(outOfOrder, "packet")} earlier than the one before`)
  if (cut > 0)
    lines.push(
      `  cut         ${counted(cut, "packet")} (${percent(cut, packets)}): payloads and ICRCs cannot be checked there`,
    )
  lines.push(`  protocols   ${listText(counts.protocols)}`)
  if (Object.keys(counts.operations).length > 0) {
    lines.push(`  operations  ${listText(counts.operations)}`)
    lines.push(`  queue pairs ${grouped(counts.queuePairs)}`)
    const { ecnCapable, ecnMarked, cnps, naks, rnrNaks } = counts
    lines.push(
      `  congestion  ${grouped(ecnCapable)} ECN capable, ${grouped(ecnMarked)} marked, ${counted(cnps, "CNP")}; ${counted(naks, "NAK")}, ${counted(rnrNaks, "RNR NAK")}`,
    )
  }
  if (counts.pauses > 0) lines.push(`  pauses      ${counted(counts.pauses, "frame")}`)
  if (counts.tunnelled > 0) lines.push(`  tunnels     ${counted(counts.tunnelled, "packet")} inside another`)
  if (visited.fault !== undefined) lines.push(`  ${paint.yellow("warning:")} ${visited.fault}`)
  yield* print(lines.join("\n"))
})
