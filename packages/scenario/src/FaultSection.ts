/** What a scenario says of links that fail and hosts that are slow. */
import type { Fault, Impairment } from "@rdmakit/fabric"
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { Graph, Ports } from "@rdmakit/topology"
import { formatTime, hash32, Random } from "@rdmakit/units"
import { Schema } from "effect"
import { type InputNote, warningAt } from "./InputsRefused.ts"
import type { FieldSource } from "./ScenarioDocument.ts"
import {
  field,
  Node,
  Nodes,
  positiveSize,
  positiveTime,
  readRate,
  Share,
  Time,
  whole,
  words,
} from "./ScenarioFields.ts"
import { portBetween } from "./SwitchChecks.ts"
import { writtenStallOrRate } from "./WrittenFields.ts"

const TIMES_MAX = 100_000
const FAULTS_MAX = 1_000_000
/** Keeps these draws apart from those of workloads. */
const STREAM = 0x6661756c

const StallOrRate = field(
  "a rate such as 10Gbps, or stall",
  (value) => (value === "stall" ? 0 : readRate(value)),
  writtenStallOrRate,
)

/** What happens to links or hosts, from when on and perhaps for how long. */
export const FaultEntry = Schema.Struct({
  at: Time,
  /** After this it is undone. Default: never. */
  for: Schema.optionalKey(positiveTime("50us")),
  /** It happens again and again, so many times in all. */
  every: Schema.optionalKey(positiveTime("100us")),
  times: Schema.optionalKey(whole(1, TIMES_MAX)),
  /** Each time it begins so much later at most, evenly drawn. Default 0. */
  within: Schema.optionalKey(positiveTime("1ms")),
  /** A link, by its two nodes; and which of several. Default 0. */
  from: Schema.optionalKey(Node),
  to: Schema.optionalKey(Node),
  link: Schema.optionalKey(whole(0, 65_535)),
  /** Or many: all, those of hosts, or those between switches; and so many of them alone, drawn each time anew. */
  links: Schema.optionalKey(words(["all", "hosts", "switches"])),
  random: Schema.optionalKey(whole(1, 65_535)),
  /** What is one way happens from `from` to `to` alone. Default both. */
  direction: Schema.optionalKey(words(["both", "forward"])),
  state: Schema.optionalKey(words(["down", "up"])),
  /** Shares of packets, by chance. */
  loss: Schema.optionalKey(Share),
  corruption: Schema.optionalKey(Share),
  duplication: Schema.optionalKey(Share),
  reordering: Schema.optionalKey(Share),
  /** How much later those come. Default 200us. */
  reorderBy: Schema.optionalKey(positiveTime("200us")),
  /** Every packet comes later by up to this, evenly drawn. */
  jitter: Schema.optionalKey(positiveTime("1us")),
  /** A share of flows, by a hash of hosts and UDP ports, whose packets vanish while the link is up. */
  blackHole: Schema.optionalKey(Share),
  /** Hosts that take packets no faster than a rate, and with what buffer. Default 1MiB. */
  host: Schema.optionalKey(Nodes),
  receive: Schema.optionalKey(StallOrRate),
  buffer: Schema.optionalKey(positiveSize),
})
export type ScenarioFault = typeof FaultEntry.Type

export interface FaultContext {
  readonly graph: Graph
  readonly ports: Ports
  readonly seed: number
  /** Slow hosts pause their switch; else they lose what finds no room. */
  readonly lossless: boolean
}

/** What is done and undone. */
interface Effects {
  readonly begin: Omit<Fault, "time">
  readonly end: Omit<Fault, "time">
}

/** What happens to links and hosts, by time. */
export const faultsOf = (list: ReadonlyArray<ScenarioFault>, context: FaultContext, document: FieldSource) => {
  const faults: Array<Ns3FormatError> = []
  const notes: Array<InputNote> = []
  const events: Array<Fault> = []
  for (const [index, entry] of list.entries()) {
    const refuse: Refuse = (key, expected, hint) => {
      const path = key === undefined ? ["faults", index] : ["faults", index, key]
      faults.push(document.fault(path, hint === undefined ? { expected } : { expected, hint }))
    }
    const before = faults.length
    checkTogether(entry, refuse)
    const choices = effectsOf(entry, context, refuse)
    if (faults.length > before) continue
    if (choices.length === 0 && entry.random === undefined) {
      const where = entry.links === "switches" ? "no link joins two switches" : "there is no such link"
      notes.push(warningAt(["faults", index], `${where}: nothing happens`, document))
    }
    if (entry.random !== undefined && entry.random > choices.length) {
      refuse("random", `at most ${choices.length}, for so many links are named`)
      continue
    }
    const { every = 0, times = 1, random = choices.length } = entry
    const last = entry.at + (times - 1) * every + (entry.within ?? 0) + (entry.for ?? 0)
    if (last > Number.MAX_SAFE_INTEGER)
      refuse(times > 1 ? "every" : undefined, `an end by ${formatTime(Number.MAX_SAFE_INTEGER)}, the last exact time`)
    else if (events.length + 2 * times * random > FAULTS_MAX)
      refuse("times", `fewer: at most ${FAULTS_MAX} happenings in a scenario`)
    else happen(entry, choices, new Random(context.seed, hash32(STREAM, index, 0)), { every, times, random }, events)
  }
  return { events: events.toSorted((a, b) => a.time - b.time), faults, notes }
}

type Refuse = (key: keyof ScenarioFault | undefined, expected: string, hint?: string) => void

const happen = (
  { at, for: duration, within = 0 }: ScenarioFault,
  choices: ReadonlyArray<Effects>,
  random: Random,
  { every, times, random: count }: { readonly every: number; readonly times: number; readonly random: number },
  events: Array<Fault>,
): void => {
  for (let turn = 0; turn < times; turn++) {
    for (const { begin, end } of drawn(choices, count, random)) {
      const time = at + turn * every + (within === 0 ? 0 : Math.floor(random.next() * within))
      events.push({ ...begin, time } as Fault)
      if (duration !== undefined) events.push({ ...end, time: time + duration } as Fault)
    }
  }
}

/** So many of them, each at most once; all of them, and no draw, when that is all. */
const drawn = <A>(from: ReadonlyArray<A>, count: number, random: Random): ReadonlyArray<A> => {
  if (count === from.length) return from
  const left = [...from]
  return Array.from({ length: count }, () => left.splice(random.int(left.length), 1)[0]!)
}

/** Fields that go with others, or do not. */
const checkTogether = (entry: ScenarioFault, refuse: Refuse): void => {
  const given = (key: keyof ScenarioFault): boolean => entry[key] !== undefined
  const need = (key: keyof ScenarioFault, other: keyof ScenarioFault): void => {
    if (given(key) && !given(other)) refuse(key, `${other} with it`)
  }
  need("times", "every")
  need("every", "times")
  need("random", "links")
  need("reorderBy", "reordering")
  need("buffer", "receive")
  need("host", "receive")
  need("receive", "host")
  if (given("host")) {
    for (const key of [...LINK_FIELDS, ...PLACES] as const) if (given(key)) refuse(key, "either this field or host")
    return
  }
  if (!LINK_FIELDS.some(given)) refuse(undefined, `one of ${LINK_FIELDS.join(", ")}, or host and receive`)
  if (given("links") && (given("from") || given("to"))) refuse("links", "either this field or from and to")
  if (!given("links") && !(given("from") && given("to"))) refuse(undefined, "from and to, or links, or host")
  if (entry.direction === "forward" && given("links")) refuse("direction", "from and to with it")
  if (entry.direction === "forward" && given("state")) refuse("direction", "both: a link goes down both ways")
  const { every, for: duration } = entry
  if (every !== undefined && duration !== undefined && duration > every) refuse("for", "at most every")
}

const LINK_FIELDS = ["state", "loss", "corruption", "duplication", "reordering", "jitter", "blackHole"] as const
const PLACES = ["from", "to", "links", "direction"] as const

const effectsOf = (entry: ScenarioFault, context: FaultContext, refuse: Refuse): ReadonlyArray<Effects> => {
  const { graph, lossless } = context
  const { host, receive, buffer } = entry
  if (host !== undefined && receive !== undefined) {
    const receiver = { rateBps: receive, pauses: lossless, ...(buffer === undefined ? {} : { bufferBytes: buffer }) }
    return host.flatMap((node): ReadonlyArray<Effects> => {
      if (graph.isSwitch[node] === 0)
        return [{ begin: { host: node, receiver }, end: { host: node, receiver: undefined } }]
      refuse("host", "hosts", node < graph.nodes ? `node ${node} is a switch` : `the topology has ${graph.nodes} nodes`)
      return []
    })
  }
  const { state } = entry
  const { begin, end } = impairmentsOf(entry)
  return placesOf(entry, context, refuse).map(({ link, direction }) => ({
    begin: { link, direction, ...begin, ...(state === undefined ? {} : { up: state === "up" }) },
    end: { link, direction, ...end, ...(state === undefined ? {} : { up: state === "down" }) },
  }))
}

const impairmentsOf = ({ loss, jitter, reorderBy, ...entry }: ScenarioFault) => {
  const begin: { -readonly [Key in keyof Impairment]: Impairment[Key] } = {}
  const end: typeof begin = {}
  for (const key of ["corruption", "duplication", "reordering", "blackHole"] as const) {
    if (entry[key] === undefined) continue
    begin[key] = entry[key]
    end[key] = 0
  }
  if (reorderBy !== undefined) begin.reorderPs = reorderBy
  if (jitter !== undefined) {
    begin.delayPs = [0, jitter]
    end.delayPs = [0, 0]
  }
  const some = Object.keys(begin).length > 0
  const of = (impairment: Impairment, lossRate: number | undefined) => ({
    ...(lossRate === undefined ? {} : { lossRate }),
    ...(some ? { impairment } : {}),
  })
  return { begin: of(begin, loss), end: of(end, loss === undefined ? undefined : 0) }
}

/** The links of an entry, and which way. */
const placesOf = (
  { from, to, link = 0, links, direction }: ScenarioFault,
  { graph, ports }: FaultContext,
  refuse: Refuse,
) => {
  if (links !== undefined) {
    return graph.links.flatMap(({ a, b }, index) => {
      const between = graph.isSwitch[a] === 1 && graph.isSwitch[b] === 1 ? "switches" : "hosts"
      return links === "all" || links === between ? [{ link: index, direction: "both" as const }] : []
    })
  }
  if (from === undefined || to === undefined) return []
  const port = portBetween(graph, ports, from, to, link)
  if (typeof port === "string") {
    refuse(undefined, "two nodes that a link joins", port)
    return []
  }
  const index = ports.link(port)
  if (direction !== "forward") return [{ link: index, direction: "both" as const }]
  return [{ link: index, direction: port === 2 * index ? ("forward" as const) : ("backward" as const) }]
}
