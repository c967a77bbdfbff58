import { ns3Nanoseconds } from "@rdmakit/units"
import type { Ns3Note } from "./FormatError.ts"
import { POWERS_OF_TEN, Tokens } from "./Tokens.ts"
import { NODES_MAX, type Ns3Topology, switchFlags } from "./Topology.ts"

const FIELDS = 6
/** "0 1 3 1 1 2\n": a file cannot hold more flows than its octets allow, whatever its first line says. */
const FLOW_OCTETS_MIN = 12
const START_SECONDS_MAX = 9000
const U32_MAX = 0xffffffff
const PS_PER_SECOND = 1e12
const PORT_MAX = 65535

/** Flows in order of their start; flow i is element i of every array. */
export interface Ns3Flows {
  readonly count: number
  readonly src: Int32Array
  readonly dst: Int32Array
  /** Priority group 1..7. */
  readonly pg: Int32Array
  /** Destination port: a label, 100 for normal and 200 for incast flows by custom. */
  readonly dport: Int32Array
  /** Bytes; may exceed 4 GiB, which the original cannot read. */
  readonly sizeBytes: Float64Array
  /** The start as the original reads it: the nearest double. */
  readonly startSeconds: Float64Array
  /** The start as the original's clock has it: often 1 ns before what is written. */
  readonly startNs: Float64Array
  /** The start exactly as written, to 12 decimals. */
  readonly startPs: Float64Array
  /** Where each flow begins in the file; 0 for one made in code. */
  readonly line: Int32Array
  readonly notes: ReadonlyArray<Ns3Note>
}

/** One flow, for flows made in code. */
export interface Ns3Flow {
  readonly src: number
  readonly dst: number
  readonly pg: number
  readonly dport: number
  readonly sizeBytes: number
  readonly startPs: number
}

/**
 * Reads a flow file: the number of flows, then `src dst pg dport bytes seconds` for each.
 *
 * With a topology, ids are checked against it. Noted and kept: flows beyond the announced number (not read), a number
 * with stale digits behind the real one (as the public traffic generator leaves), starts out of order (sorted, equal
 * ones in file order), sizes of 0 and above 4 GiB. Throws {@link Ns3FormatError} for fewer flows than announced and
 * for wrong fields: pg 0 is the control queue, a flow from a node to itself or at a switch has no meaning, starts are
 * 0..9000 s.
 */
export const parseFlows = (
  text: string | Uint8Array,
  file: string,
  topology?: Pick<Ns3Topology, "nodes" | "switches">,
): Ns3Flows => {
  const tokens = new Tokens(text, file)
  tokens.need("number of flows", "a whole number")
  const announced = tokens.wholeNumber("number of flows", 0, Number.MAX_SAFE_INTEGER)
  const header = tokens.text()
  const reader = new FlowReader(tokens, Math.min(announced, Math.ceil(tokens.octetsTotal / FLOW_OCTETS_MIN)), topology)
  while (reader.count < announced && tokens.next()) reader.read()
  if (reader.count < announced) {
    const real = String(reader.count)
    if (reader.count === 0 || !header.startsWith(real)) {
      throw tokens.fault("flow", `${announced} flows, as the first line says`, `the file ends after ${reader.count}`)
    }
    const text = `the first line says ${header}, the file has ${real} flows: read as ${real} written over a longer number`
    tokens.notes.unshift({ file, line: 1, column: 1, text })
  } else noteRest(tokens, announced)
  return sorted(reader.flows(), file)
}

/** Flows made in code, sorted by start; throws RangeError for values that a file could not hold. */
export const flowsOf = (flows: ReadonlyArray<Ns3Flow>): Ns3Flows => {
  const text = [String(flows.length), ...flows.map(formatFlow)].join("\n")
  const { line, ...rest } = parseFlows(text, "flows")
  return { ...rest, line: line.fill(0) }
}

/** One flow as a line of a flow file, without its end: for files too long to be held as a whole. */
export const formatFlow = ({ src, dst, pg, dport, sizeBytes, startPs }: Ns3Flow): string =>
  `${src} ${dst} ${pg} ${dport} ${sizeBytes} ${formatStart(startPs / PS_PER_SECOND, startPs)}`

/** Writes a flow file. Starts have nine decimals, twelve when they need them. */
export const formatFlows = (flows: Ns3Flows): string => {
  const lines = [String(flows.count)]
  for (let i = 0; i < flows.count; i++) {
    const start = formatStart(flows.startSeconds[i]!, flows.startPs[i]!)
    lines.push(`${flows.src[i]} ${flows.dst[i]} ${flows.pg[i]} ${flows.dport[i]} ${flows.sizeBytes[i]} ${start}`)
  }
  return `${lines.join("\n")}\n`
}

class FlowReader {
  count = 0
  private readonly tokens: Tokens
  private readonly nodeMax: number
  private readonly isSwitch: Uint8Array | undefined
  private readonly columns: Ns3Flows
  private emptyNoted = false
  private hugeNoted = false

  constructor(tokens: Tokens, capacity: number, topology: Pick<Ns3Topology, "nodes" | "switches"> | undefined) {
    this.tokens = tokens
    this.nodeMax = (topology?.nodes ?? NODES_MAX) - 1
    this.isSwitch = topology === undefined ? undefined : switchFlags(topology)
    this.columns = {
      count: capacity,
      src: new Int32Array(capacity),
      dst: new Int32Array(capacity),
      pg: new Int32Array(capacity),
      dport: new Int32Array(capacity),
      sizeBytes: new Float64Array(capacity),
      startSeconds: new Float64Array(capacity),
      startNs: new Float64Array(capacity),
      startPs: new Float64Array(capacity),
      line: new Int32Array(capacity),
      notes: tokens.notes,
    }
  }

  // The first word of the flow is current.
  read(): void {
    const tokens = this.tokens
    const flows = this.columns
    const index = this.count
    const line = tokens.line
    const src = this.node("source node")
    tokens.need("destination node", "a host")
    const dst = this.node("destination node")
    if (dst === src) throw tokens.fault("destination node", `a host other than ${src}`, "a flow joins two hosts")
    tokens.need("pg", "a whole number 1..7")
    const pg = tokens.wholeNumber("pg", 1, 7, "1..7 carry data, 0 is the control queue")
    tokens.need("dport", "a whole number")
    const dport = tokens.wholeNumber("dport", 0, PORT_MAX)
    tokens.need("size", "a whole number of bytes")
    const sizeBytes = tokens.wholeNumber("size", 0, Number.MAX_SAFE_INTEGER, "sizes are whole bytes")
    this.noteSize(sizeBytes)
    tokens.need("start", "a time in seconds")
    const startSeconds = tokens.decimal("start", 0, START_SECONDS_MAX, "starts are in seconds")
    flows.src[index] = src
    flows.dst[index] = dst
    flows.pg[index] = pg
    flows.dport[index] = dport
    flows.sizeBytes[index] = sizeBytes
    flows.startSeconds[index] = startSeconds
    flows.startNs[index] = ns3Nanoseconds(startSeconds)
    flows.startPs[index] = exactPs(tokens, startSeconds)
    flows.line[index] = line
    if (tokens.line !== line) {
      tokens.suspicion ??= `a flow has ${FIELDS} fields, and the one that begins on line ${line} runs over the line's end`
    }
    this.count++
  }

  flows(): Ns3Flows {
    const flows = this.columns
    const count = this.count
    if (count === flows.count) return flows
    return {
      count,
      src: flows.src.slice(0, count),
      dst: flows.dst.slice(0, count),
      pg: flows.pg.slice(0, count),
      dport: flows.dport.slice(0, count),
      sizeBytes: flows.sizeBytes.slice(0, count),
      startSeconds: flows.startSeconds.slice(0, count),
      startNs: flows.startNs.slice(0, count),
      startPs: flows.startPs.slice(0, count),
      line: flows.line.slice(0, count),
      notes: flows.notes,
    }
  }

  private node(field: string): number {
    const id = this.tokens.wholeNumber(field, 0, this.nodeMax)
    if (this.isSwitch?.[id] === 1) {
      throw this.tokens.fault(field, "a host", `the topology says that node ${id} is a switch`)
    }
    return id
  }

  private noteSize(sizeBytes: number): void {
    if (sizeBytes === 0 && !this.emptyNoted) {
      this.emptyNoted = true
      this.tokens.note("a flow of 0 bytes: in the original it never finishes")
    } else if (sizeBytes > U32_MAX && !this.hugeNoted) {
      this.hugeNoted = true
      this.tokens.note("a flow over 4,294,967,295 bytes: the original cannot read it, nor any flow after it")
    }
  }
}

// Exact while the text has at most 12 decimals; beyond, what the double still tells.
const exactPs = (tokens: Tokens, seconds: number): number => {
  const decimals = tokens.plainDecimals()
  return decimals !== undefined && decimals <= 12
    ? tokens.mantissa() * POWERS_OF_TEN[12 - decimals]!
    : Math.round(seconds * PS_PER_SECOND)
}

const formatStart = (seconds: number, startPs: number): string => {
  if (startPs / PS_PER_SECOND !== seconds) return String(seconds)
  const whole = Math.floor(startPs / PS_PER_SECOND)
  const fraction = String(startPs - whole * PS_PER_SECOND).padStart(12, "0")
  return `${whole}.${fraction.endsWith("000") ? fraction.slice(0, 9) : fraction}`
}

const noteRest = (tokens: Tokens, announced: number): void => {
  if (!tokens.next()) return
  const place = { file: tokens.file, line: tokens.line, column: tokens.column }
  let words = 1
  while (tokens.next()) words++
  const rest = words % FIELDS === 0 ? `${words / FIELDS} more flows` : `${words} more words`
  tokens.notes.push({ ...place, text: `${rest} than the ${announced} flows the first line says: not read` })
}

const sorted = (flows: Ns3Flows, file: string): Ns3Flows => {
  const { startSeconds, count } = flows
  let unsorted = 1
  while (unsorted < count && startSeconds[unsorted]! >= startSeconds[unsorted - 1]!) unsorted++
  if (unsorted >= count) return flows
  const order = Uint32Array.from({ length: count }, (_, index) => index)
  order.sort((a, b) => startSeconds[a]! - startSeconds[b]! || a - b)
  const text = "starts before the flow above it: sorted by start, equal starts in file order"
  return {
    count,
    src: flows.src.map((_, index) => flows.src[order[index]!]!),
    dst: flows.dst.map((_, index) => flows.dst[order[index]!]!),
    pg: flows.pg.map((_, index) => flows.pg[order[index]!]!),
    dport: flows.dport.map((_, index) => flows.dport[order[index]!]!),
    sizeBytes: flows.sizeBytes.map((_, index) => flows.sizeBytes[order[index]!]!),
    startSeconds: flows.startSeconds.map((_, index) => flows.startSeconds[order[index]!]!),
    startNs: flows.startNs.map((_, index) => flows.startNs[order[index]!]!),
    startPs: flows.startPs.map((_, index) => flows.startPs[order[index]!]!),
    line: flows.line.map((_, index) => flows.line[order[index]!]!),
    notes: [...flows.notes, { file, line: flows.line[unsorted]!, column: 1, text }],
  }
}
