import type { Ns3Note } from "./FormatError.ts"
import { Tokens } from "./Tokens.ts"
import { NODES_MAX } from "./Topology.ts"

/** "0 0 0 0 0\n" */
const LINE_OCTETS_MIN = 10
const INTERFACE_MAX = 65535

/** PFC frames in the order in which they were received; event i is element i of every array. */
export interface PfcEvents {
  readonly count: number
  readonly timeNs: Float64Array
  /** The node that received the frame. */
  readonly node: Int32Array
  /** 0 for a host, 1 for a switch. */
  readonly nodeType: Uint8Array
  /** The interface at which it was received, from 1. */
  readonly intf: Int32Array
  /** 1 for a pause, 0 for a resume. */
  readonly pause: Uint8Array
  readonly notes: ReadonlyArray<Ns3Note>
}

/**
 * Reads a PFC file: `time node nodeType interface pause` a line. The file does not name the priority.
 *
 * Throws {@link Ns3FormatError}, for a last line that was cut off too.
 */
export const parsePfc = (text: string | Uint8Array, file: string): PfcEvents => {
  const tokens = new Tokens(text, file)
  const capacity = Math.ceil((tokens.octetsTotal + 1) / LINE_OCTETS_MIN)
  const timeNs = new Float64Array(capacity)
  const node = new Int32Array(capacity)
  const nodeType = new Uint8Array(capacity)
  const intf = new Int32Array(capacity)
  const pause = new Uint8Array(capacity)
  const whole = (field: string, max: number): number => {
    tokens.need(field, `a whole number 0..${max}`)
    return tokens.wholeNumber(field, 0, max)
  }
  let count = 0
  while (tokens.next()) {
    timeNs[count] = tokens.wholeNumber("time", 0, Number.MAX_SAFE_INTEGER)
    node[count] = whole("node", NODES_MAX - 1)
    nodeType[count] = whole("node type", 1)
    intf[count] = whole("interface", INTERFACE_MAX)
    pause[count] = whole("pause", 1)
    count++
  }
  return {
    count,
    timeNs: timeNs.slice(0, count),
    node: node.slice(0, count),
    nodeType: nodeType.slice(0, count),
    intf: intf.slice(0, count),
    pause: pause.slice(0, count),
    notes: tokens.notes,
  }
}

/** Writes a PFC file. */
export const formatPfc = (events: PfcEvents): string => {
  const lines: Array<string> = []
  for (let i = 0; i < events.count; i++) {
    lines.push(
      formatPfcLine(events.timeNs[i]!, events.node[i]!, events.nodeType[i]!, events.intf[i]!, events.pause[i] === 1),
    )
  }
  return lines.join("")
}

/** One line of a PFC file, its end included. */
export const formatPfcLine = (timeNs: number, node: number, nodeType: number, intf: number, pause: boolean): string =>
  `${timeNs} ${node} ${nodeType} ${intf} ${pause ? 1 : 0}\n`
