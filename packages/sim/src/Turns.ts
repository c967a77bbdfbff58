import type { PacketPool } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { Inboxes } from "./Inboxes.ts"
import type { Network } from "./Network.ts"
import { NodeEvents } from "./NodeEvents.ts"

/** Windows shorter than this, ps, and this for each node, hold too little to make up for looking at every node. */
const WINDOW_LEAST_PS = 10_000
const WINDOW_PS_PER_NODE = 100
/** Times in a window are words. */
const WINDOW_MOST_PS = 2 ** 30
/** Windows that a packet may be ahead at most: longer links among short ones need too many boxes. */
const WINDOWS_MAX = 64

/** Gives what is known of the future beforehand, bit by bit: flows that start, say. */
export interface NoteSource {
  /** Time of the first note that has not been given, ps; NEVER: none is left. */
  readonly next: Time
  /** Gives all notes before `end`, each by the kernel's `noteAt`. */
  give(end: Time): void
}

/** Where the events of a kernel are whose nodes take turns. */
export interface Turns {
  readonly inboxes: Inboxes
  readonly own: NodeEvents
}

/** The shortest delay of any link, ps. */
export const leastDelayPs = ({ delayPs, ports }: Network): Time => {
  let least = ports > 0 ? delayPs[0]! : 0
  for (let port = 1; port < ports; port++) least = Math.min(least, delayPs[port]!)
  return least
}

/** For the nodes of a network; undefined where its links are too short, or of lengths too different. */
export const turnsOf = (
  network: Network,
  pool: PacketPool,
  fixed: number,
  serializationPs: (rateBps: number) => Time,
): Turns | undefined => {
  const width = Math.min(leastDelayPs(network), WINDOW_MOST_PS)
  if (!(width >= Math.max(WINDOW_LEAST_PS, WINDOW_PS_PER_NODE * network.nodes))) return undefined
  let longest = 0
  for (let port = 0; port < network.ports; port++) {
    longest = Math.max(longest, network.delayPs[port]! + serializationPs(network.rateBps[port]!))
  }
  let windows = 4
  while (windows < longest / width + 2) windows *= 2
  if (windows > WINDOWS_MAX) return undefined
  return { inboxes: new Inboxes(pool, network.nodes, width, windows), own: new NodeEvents(fixed, lonePorts(network)) }
}

/** The port of each host that has but one; -1 for all other nodes. */
const lonePorts = ({ isSwitch, nodes, portNode, ports }: Network): Int32Array => {
  const count = new Int32Array(nodes)
  const lone = new Int32Array(nodes)
  for (let port = 0; port < ports; port++) {
    count[portNode[port]!]!++
    lone[portNode[port]!] = port
  }
  return lone.map((port, node) => (count[node] === 1 && isSwitch[node] !== 1 ? port : -1))
}
