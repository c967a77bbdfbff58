import type { Ns3Note } from "./FormatError.ts"
import { Tokens } from "./Tokens.ts"
import { NODES_MAX } from "./Topology.ts"

const INTERFACE_MAX = 65535
const COUNT_MAX = 0xffffffff

/** How often one port's queue had each length, since the first sample. */
export interface QlenPort {
  /** The switch. */
  readonly node: number
  /** From 1. */
  readonly intf: number
  /** Element k counts the samples of k·1000 to k·1000 + 999 bytes; it ends with the longest queue seen. */
  readonly counts: Float64Array
}

/** One dump of every port. Counts are cumulative: a dump holds all samples of the ones before. */
export interface QlenDump {
  readonly timeNs: number
  readonly ports: ReadonlyArray<QlenPort>
}

export interface QlenFile {
  readonly dumps: ReadonlyArray<QlenDump>
  readonly notes: ReadonlyArray<Ns3Note>
}

/**
 * Reads a queue length file: `time: ns`, then `switch interface count…` a line, any number of times. Here alone the
 * end of a line matters, since a port has as many counts as its queue was long.
 *
 * Throws {@link Ns3FormatError}. A dump whose counts are below those of the one before is noted.
 */
export const parseQlen = (text: string | Uint8Array, file: string): QlenFile => {
  const tokens = new Tokens(text, file)
  const dumps: Array<QlenDump> = []
  let more = tokens.next()
  let samples = new Map<number, number>()
  while (more) {
    if (tokens.text() !== "time:") throw tokens.fault("dump", '"time:"')
    tokens.need("time", "a whole number of nanoseconds")
    const timeNs = tokens.wholeNumber("time", 0, Number.MAX_SAFE_INTEGER)
    const ports: Array<QlenPort> = []
    const before = samples
    samples = new Map()
    more = tokens.next()
    while (more && (tokens.length !== 5 || tokens.text() !== "time:")) {
      const { line } = tokens
      const node = tokens.wholeNumber("switch", 0, NODES_MAX - 1)
      tokens.need("interface", "a whole number")
      if (tokens.line !== line) throw tokens.fault("interface", `the interface on line ${line}, after its switch`)
      const intf = tokens.wholeNumber("interface", 0, INTERFACE_MAX)
      const counts: Array<number> = []
      let total = 0
      for (more = tokens.next(); more && tokens.line === line; more = tokens.next()) {
        const count = tokens.wholeNumber("count", 0, COUNT_MAX)
        total += count
        counts.push(count)
      }
      const port = node * (INTERFACE_MAX + 1) + intf
      if (total < (before.get(port) ?? 0)) {
        const text = `port ${node}.${intf} has fewer samples than in the dump before: counts should be cumulative`
        tokens.notes.push({ file, line, column: 1, text })
      }
      samples.set(port, total)
      ports.push({ node, intf, counts: Float64Array.from(counts) })
    }
    dumps.push({ timeNs, ports })
  }
  return { dumps, notes: tokens.notes }
}

/** Writes a queue length file. */
export const formatQlen = (file: Pick<QlenFile, "dumps">): string => file.dumps.map(formatDump).join("")

const formatDump = (dump: QlenDump): string => {
  const lines = dump.ports.map(({ node, intf, counts }) => [node, intf, ...counts].join(" "))
  return `${[`time: ${dump.timeNs}`, ...lines].join("\n")}\n`
}
