import type { Ns3FormatError } from "@rdmakit/ns3"
import { InputsRefused } from "@rdmakit/scenario"
import {
  formatRate,
  formatSize,
  formatTime,
  tryParseRate,
  tryParseSize,
  tryParseTime,
  type UnitError,
} from "@rdmakit/units"
import { Effect, Option } from "effect"
import { withJsonFaults } from "../Faults.ts"
import { counted, grouped } from "../Figures.ts"
import { commandLineFault } from "../FlagFields.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen, tell } from "../Screen.ts"
import { tableLines } from "../Table.ts"
import { type Marking, type Sizing, type SwitchShape, sizing, sizingWarnings } from "./Sizing.ts"

export interface SizeInput {
  readonly rate: string
  readonly delay: Option.Option<string>
  readonly length: Option.Option<string>
  readonly mtu: string
  readonly response: string
  readonly ports: number
  readonly priorities: number
  readonly buffer: string
  readonly reserve: string
  readonly rtt: Option.Option<string>
  readonly json: boolean
}

/** Light takes 5 ns for a metre of fibre, and nearly as long for one of copper. */
const PS_PER_METRE = 5000

/** Reckons what a switch needs, and prints it. */
export const size = (input: SizeInput) =>
  Effect.gen(function* () {
    const shape = yield* shapeOf(input)
    const result = sizing(shape)
    if (result.poolBytes < shape.frameBytes) {
      const { ports, priorities } = shape
      const { losslessBytes } = result.headroom
      const hint = `${ports} ports with ${counted(priorities, "priority", "priorities")} keep ${losslessBytes} B of headroom and ${shape.reserveBytes} B of reserve each: enlarge the buffer, use fewer lossless priorities, or shorter cables`
      const fault = commandLineFault("--buffer", input.buffer, `at least ${formatSize(result.neededBytes)}`, hint)
      return yield* new InputsRefused({ faults: [fault], notes: [] })
    }
    const warnings = sizingWarnings(shape, result)
    if (input.json) return yield* print(JSON.stringify({ ok: true, given: shape, ...result, warnings }))
    yield* show(shape, result)
    const { err } = yield* Screen
    for (const warning of warnings) yield* tell(`${paintOf(err).yellow("warning:")} ${warning}`)
  }).pipe(withJsonFaults(input.json, "command line"))

/** The command line's quantities, or everything that is wrong with them. */
const shapeOf = (input: SizeInput): Effect.Effect<SwitchShape, InputsRefused> =>
  Effect.suspend(() => {
    const faults: Array<Ns3FormatError> = []
    const quantity = (
      flag: string,
      text: string,
      parse: (text: string) => number | UnitError,
      expected: string,
      least: number,
    ): number => {
      const value = parse(text)
      if (typeof value === "number" && value >= least && value < Infinity) return value
      faults.push(commandLineFault(flag, text, expected, typeof value === "number" ? undefined : value.message))
      return least
    }
    const time = (flag: string, text: string, example: string, least = 0): number =>
      quantity(flag, text, tryParseTime, `a time such as ${example}`, least)
    const rateBps = quantity("--rate", input.rate, tryParseRate, "a rate such as 100Gbps", 1)
    const delayPs = delayOf(input, faults, (text) => time("--delay", text, "1us"))
    const shape = {
      rateBps,
      delayPs,
      frameBytes: quantity("--mtu", input.mtu, tryParseSize, "a size of at least 64 bytes, such as 1500", 64),
      responsePs: time("--response", input.response, "300ns"),
      ports: input.ports,
      priorities: input.priorities,
      bufferBytes: quantity("--buffer", input.buffer, tryParseSize, "a size such as 32MiB", 1),
      reserveBytes: quantity("--reserve", input.reserve, tryParseSize, "a size such as 4096", 0),
      rttPs: Option.match(input.rtt, { onNone: () => 4 * delayPs, onSome: (text) => time("--rtt", text, "8us", 1) }),
    }
    return faults.length > 0 ? Effect.fail(new InputsRefused({ faults, notes: [] })) : Effect.succeed(shape)
  })

const delayOf = (
  { delay, length }: SizeInput,
  faults: Array<Ns3FormatError>,
  time: (text: string) => number,
): number => {
  if (Option.isSome(delay) && Option.isSome(length)) {
    faults.push(commandLineFault("--length", length.value, "either --delay or --length"))
    return 0
  }
  if (Option.isSome(delay)) return time(delay.value)
  if (Option.isNone(length)) {
    faults.push(commandLineFault("--delay", "", "a delay such as 1us, or --length such as 100m"))
    return 0
  }
  const [, metres, unit] = /^(\d+(?:\.\d+)?)\s*(m|km)$/.exec(length.value) ?? []
  if (metres === undefined) {
    faults.push(commandLineFault("--length", length.value, "a length such as 100m or 2km"))
    return 0
  }
  return Math.round(Number(metres) * (unit === "km" ? 1000 : 1) * PS_PER_METRE)
}

const show = Effect.fnUntraced(function* (shape: SwitchShape, result: Sizing) {
  const { out } = yield* Screen
  const { bold } = paintOf(out)
  const { headroom, dcqcn, dctcp } = result
  const bytes = (value: number): string => `${grouped(value)} B`
  const table = Effect.fnUntraced(function* (
    headers: ReadonlyArray<string>,
    rows: ReadonlyArray<ReadonlyArray<string>>,
  ) {
    const [first, ...others] = headers
    const last = others.pop()!
    const layout = [
      { header: first!, align: "left" as const },
      ...others.map((header) => ({ header })),
      { header: last, align: "left" as const },
    ]
    for (const line of tableLines(layout, rows, { columns: out.columns, header: bold })) yield* print(line)
    yield* print("")
  })
  const { rateBps, delayPs, frameBytes, ports, priorities } = shape
  const queues = ports * priorities
  yield* print(
    `${counted(ports, "port")} of ${formatRate(rateBps)}, ${formatTime(delayPs)} of cable, frames of ${grouped(frameBytes)} B, ${counted(priorities, "lossless priority", "lossless priorities")}`,
  )
  yield* print("")
  yield* table(
    ["headroom", "bytes", "by"],
    [
      ["port and priority", bytes(headroom.ruleBytes), "2 · delay · rate + 2 frames + response"],
      ["to lose nothing", bytes(headroom.losslessBytes), "+ the frame that brings a pause about + the pause"],
      ["HPCC simulator", bytes(headroom.simulatorBytes), "3 · delay · rate"],
      ["whole switch", bytes(result.allHeadroomBytes), `${queues} times the second`],
      ["reserve", bytes(result.allReserveBytes), `${queues} times ${grouped(shape.reserveBytes)} B`],
      ["shared pool", bytes(result.poolBytes), `what is left of ${grouped(shape.bufferBytes)} B`],
    ],
  )
  const [first, ...rest] = result.alphas.map(({ alpha, aloneBytes, eachBytes }) => [
    alpha < 1 ? `1/${1 / alpha}` : String(alpha),
    bytes(aloneBytes),
    bytes(eachBytes),
    "",
  ])
  yield* table(
    ["pause threshold, alpha", "one queue", `all ${queues} queues, each`, ""],
    [[...first!.slice(0, 3), "alpha · S / (1 + n · alpha), Choudhury and Hahne"], ...rest],
  )
  yield* table(
    ["static pause threshold", "bytes", "by"],
    [["at most", bytes(dcqcn.bounds.staticPauseBytes), "of the shared pool, S / n, DCQCN §4"]],
  )
  const marking = (name: string, { kminBytes, kmaxBytes, pmax }: Marking, by: string): ReadonlyArray<string> => [
    name,
    bytes(kminBytes),
    bytes(kmaxBytes),
    `${pmax * 100} %`,
    by,
  ]
  yield* table(
    ["marking", "Kmin", "Kmax", "Pmax", "by"],
    [
      marking("DCQCN, its paper", dcqcn.paper, "5 KB, 200 KB at 40 Gb/s, §5"),
      marking("DCQCN, HPCC's", dcqcn.hpcc, "100 KB, 400 KB at 25 Gb/s, HPCC §5.1"),
      ["DCQCN, less than", bytes(dcqcn.bounds.dynamicKminBytes), "", "", "marks before pauses, beta 8, §4"],
      ["DCTCP, at least", bytes(dctcp.leastBytes), bytes(dctcp.leastBytes), "100 %", "rate · RTT / 7, DCTCP §3.4"],
      marking("DCTCP, HPCC's", dctcp.hpcc, "30 KB at 10 Gb/s, HPCC §5.1"),
    ],
  )
})
