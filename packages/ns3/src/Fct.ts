import { mulDivFloor } from "@rdmakit/units"
import type { Ns3Note } from "./FormatError.ts"
import { isNodeIp, nodeIp, nodeOfIp } from "./NodeAddress.ts"
import { Tokens } from "./Tokens.ts"
import { NODES_MAX } from "./Topology.ts"

/** "0 1 1 1 1 1 1 1\n": a file cannot hold more lines than its octets allow. */
const LINE_OCTETS_MIN = 16
const PORT_MAX = 65535
const WHOLE_MAX = Number.MAX_SAFE_INTEGER
const DEFAULT_PAYLOAD_BYTES = 1000
/** Ethernet 14, IPv4 20, UDP 8, sequence number and priority group 6; INT is left out on purpose. */
const HEADER_BYTES = 48

/** How a file names hosts: `0b000101`, as HPCC's simulator does, or `1`, as ConWeave's does. */
export type FctForm = "ip" | "node"

/** Finished flows in order of completion; flow i is element i of every array. */
export interface Ns3Fcts {
  readonly count: number
  readonly form: FctForm
  /** Node ids. */
  readonly src: Int32Array
  readonly dst: Int32Array
  readonly sport: Int32Array
  readonly dport: Int32Array
  readonly sizeBytes: Float64Array
  readonly startNs: Float64Array
  /** From the making of the queue pair to the last ACK at the sender. */
  readonly fctNs: Float64Array
  /** The time the flow would take alone: see {@link standaloneFctNs}. */
  readonly standaloneFctNs: Float64Array
  readonly notes: ReadonlyArray<Ns3Note>
}

/**
 * Reads a file of flow completion times: `sip dip sport dport size start fct standalone` a line, the hosts as
 * addresses or as node ids (the first line decides, all others must agree).
 *
 * Throws {@link Ns3FormatError}, for a last line that was cut off too.
 */
export const parseFct = (text: string | Uint8Array, file: string): Ns3Fcts => {
  const tokens = new Tokens(text, file)
  const fcts = emptyFcts(Math.ceil((tokens.octetsTotal + 1) / LINE_OCTETS_MIN))
  let form: FctForm = "ip"
  let count = 0
  const whole = (field: string, max: number): number => {
    tokens.need(field, "a whole number")
    return tokens.wholeNumber(field, 0, max)
  }
  while (tokens.next()) {
    if (count === 0 && tokens.isDigits() && tokens.length < 8) form = "node"
    fcts.src[count] = readHost(tokens, form, "source host")
    tokens.need("destination host", "a host")
    fcts.dst[count] = readHost(tokens, form, "destination host")
    fcts.sport[count] = whole("sport", PORT_MAX)
    fcts.dport[count] = whole("dport", PORT_MAX)
    fcts.sizeBytes[count] = whole("size", WHOLE_MAX)
    fcts.startNs[count] = whole("start", WHOLE_MAX)
    fcts.fctNs[count] = whole("fct", WHOLE_MAX)
    fcts.standaloneFctNs[count] = whole("standalone fct", WHOLE_MAX)
    count++
  }
  return { ...cut(fcts, count), form, notes: tokens.notes }
}

/** Writes completion times, in `form` or that in which they were read. */
export const formatFct = (fcts: Ns3Fcts, form: FctForm = fcts.form): string => {
  const host = form === "ip" ? (node: number) => hex8(nodeIp(node)) : String
  const lines: Array<string> = []
  for (let i = 0; i < fcts.count; i++) lines.push(formatLine(fcts, i, host))
  return lines.join("")
}

/** One line of {@link formatFct} in HPCC's form, its end included: for writers that go flow by flow. */
export const formatFctLine = (
  src: number,
  dst: number,
  sport: number,
  dport: number,
  sizeBytes: number,
  startNs: number,
  fctNs: number,
  standaloneNs: number,
): string =>
  `${hex8(nodeIp(src))} ${hex8(nodeIp(dst))} ${sport} ${dport} ${sizeBytes} ${startNs} ${fctNs} ${standaloneNs}\n`

/** One link of a path. */
export interface Hop {
  readonly delayNs: number
  readonly rateBps: number
}

/** Twice the delays of the path, and one full payload's time on each link, each rounded down: whole nanoseconds. */
export const baseRttNs = (path: ReadonlyArray<Hop>, payloadBytes = DEFAULT_PAYLOAD_BYTES): number => {
  let rttNs = 0
  for (const { delayNs, rateBps } of path) rttNs += 2 * delayNs + mulDivFloor(payloadBytes, 8e9, rateBps)
  return rttNs
}

/**
 * The completion time that the original divides by: the base RTT and the time of all octets, 48 of headers a packet
 * but no INT, at the slowest link of the path. Rounded down to whole nanoseconds.
 *
 * Deviation, from where its whole numbers overflow: it keeps 32 bits of the octets (wrong from 4 GiB on, headers
 * included) and 64 of their product with 8·10⁹ (wrong from 2.3 GB on), and it counts the packets of a flow of 0 bytes
 * as 2⁶⁴ / payload. Here a flow of 0 bytes has no packet and takes the base RTT, and large ones are exact.
 */
export const standaloneFctNs = (
  rttNs: number,
  sizeBytes: number,
  bottleneckBps: number,
  payloadBytes = DEFAULT_PAYLOAD_BYTES,
): number => {
  const totalBytes = sizeBytes + Math.ceil(sizeBytes / payloadBytes) * HEADER_BYTES
  return rttNs + mulDivFloor(totalBytes, 8e9, bottleneckBps)
}

const readHost = (tokens: Tokens, form: FctForm, field: string): number => {
  if (form === "node") return tokens.wholeNumber(field, 0, NODES_MAX - 1, "the first line names hosts by node id")
  const ip = tokens.hex8(field)
  if (!isNodeIp(ip)) throw tokens.fault(field, "an address 0bxxxx01", "hosts are 11.x.y.1")
  return nodeOfIp(ip)
}

const hex8 = (value: number): string => value.toString(16).padStart(8, "0")

const formatLine = (fcts: Ns3Fcts, i: number, host: (node: number) => string): string =>
  `${host(fcts.src[i]!)} ${host(fcts.dst[i]!)} ${fcts.sport[i]} ${fcts.dport[i]} ${fcts.sizeBytes[i]} ${fcts.startNs[i]} ${fcts.fctNs[i]} ${fcts.standaloneFctNs[i]}\n`

const emptyFcts = (capacity: number) => ({
  src: new Int32Array(capacity),
  dst: new Int32Array(capacity),
  sport: new Int32Array(capacity),
  dport: new Int32Array(capacity),
  sizeBytes: new Float64Array(capacity),
  startNs: new Float64Array(capacity),
  fctNs: new Float64Array(capacity),
  standaloneFctNs: new Float64Array(capacity),
})

const cut = (fcts: ReturnType<typeof emptyFcts>, count: number) => ({
  count,
  src: fcts.src.slice(0, count),
  dst: fcts.dst.slice(0, count),
  sport: fcts.sport.slice(0, count),
  dport: fcts.dport.slice(0, count),
  sizeBytes: fcts.sizeBytes.slice(0, count),
  startNs: fcts.startNs.slice(0, count),
  fctNs: fcts.fctNs.slice(0, count),
  standaloneFctNs: fcts.standaloneFctNs.slice(0, count),
})
