import type { Ns3Note } from "./FormatError.ts"
import { Tokens } from "./Tokens.ts"
import { NODES_MAX } from "./Topology.ts"

/** The nodes whose packets are traced. */
export interface TraceList {
  /** In file order, each once, all of them in the topology. */
  readonly nodes: ReadonlyArray<number>
  readonly notes: ReadonlyArray<Ns3Note>
}

/**
 * Reads a trace file: how many nodes, then their ids. Nodes beyond the topology are noted and dropped, as the original
 * drops them; a node named twice is noted and kept once (the original would write its packets twice); words after the
 * last id are noted.
 *
 * Throws {@link Ns3FormatError} for fewer ids than announced and for anything but node ids.
 */
export const parseTraceList = (text: string | Uint8Array, file: string, nodes = NODES_MAX): TraceList => {
  const tokens = new Tokens(text, file)
  tokens.need("number of nodes", `a whole number 0..${NODES_MAX}`)
  const count = tokens.wholeNumber("number of nodes", 0, NODES_MAX)
  const list = new Set<number>()
  for (let i = 0; i < count; i++) {
    if (!tokens.next()) throw tokens.fault("node", `${count} node ids`, `the file ends after ${i}`)
    const node = tokens.wholeNumber("node", 0, NODES_MAX - 1)
    if (node >= nodes) tokens.note(`node ${node} is not in the topology (0..${nodes - 1}): dropped`)
    else if (list.has(node)) tokens.note(`node ${node} again: traced once; the original writes its packets twice`)
    else list.add(node)
  }
  if (tokens.next()) tokens.note(`words after the last of ${count} nodes: not read`)
  return { nodes: Array.from(list), notes: tokens.notes }
}

/** Writes a trace file. */
export const formatTraceList = (nodes: ReadonlyArray<number>): string =>
  nodes.length === 0 ? "0\n" : `${nodes.length}\n${nodes.join(" ")}\n`
