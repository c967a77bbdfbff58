import type { Endpoints } from "@rdmakit/nic"
import {
  EVENTS_MAX,
  endlessEvents,
  NEVER,
  type Time,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEvent,
} from "@rdmakit/protocol"
import { VerbsEndpoint } from "./VerbsEndpoint.ts"
import { NOBODY } from "./VerbsNic.ts"

/** The queue pairs of a network's devices, in the order in which they were first heard of. */
export class AttachedQueuePairs {
  private readonly endpoints: Endpoints<VerbsCommand, VerbsEvent>
  private readonly portOf: (node: number, engine: VerbsEngine) => number
  private readonly telemetryBytes: number
  private readonly byEngine = new Map<VerbsEngine, VerbsEndpoint>()
  private readonly freeIndices: Array<number> = []
  private indices = NOBODY + 1
  private kicked: Array<VerbsEndpoint> = []
  private readonly telling: Array<VerbsEndpoint> = []

  /** @param telemetryBytes what telemetry takes on the wire, where a packet has it */
  constructor(
    endpoints: Endpoints<VerbsCommand, VerbsEvent>,
    portOf: (node: number, engine: VerbsEngine) => number,
    telemetryBytes: number,
  ) {
    this.endpoints = endpoints
    this.portOf = portOf
    this.telemetryBytes = telemetryBytes
  }

  of(node: number, engine: VerbsEngine): VerbsEndpoint {
    const known = this.byEngine.get(engine)
    if (known !== undefined) return known
    const index = this.freeIndices.pop() ?? this.indices++
    const endpoint = new VerbsEndpoint(engine, node, index, this.portOf(node, engine), this.telemetryBytes, this.tell)
    this.byEngine.set(engine, endpoint)
    this.endpoints.add(endpoint)
    return endpoint
  }

  remove(engine: VerbsEngine): void {
    const endpoint = this.byEngine.get(engine)
    if (endpoint === undefined) return
    endpoint.isGone = true
    this.byEngine.delete(engine)
    this.endpoints.remove(endpoint.flow)
    this.freeIndices.push(endpoint.flow)
  }

  [Symbol.iterator](): Iterator<VerbsEndpoint> {
    return this.byEngine.values()
  }

  /** Whether none has anything to do, but to ask for receives that nobody has posted since this time. */
  areAtRest(lastDeed: Time): boolean {
    for (const endpoint of this) if (!isIdle(endpoint) && !asksInVain(endpoint, lastDeed)) return false
    return true
  }

  /** A queue pair is to be drained; true: it is the first of those that are. */
  kick(endpoint: VerbsEndpoint): boolean {
    if (endpoint.isKicked) return false
    endpoint.isKicked = true
    return this.kicked.push(endpoint) === 1
  }

  /** Those that were kicked and are still there, which are so no more. */
  takeKicked(): ReadonlyArray<VerbsEndpoint> {
    const { kicked } = this
    this.kicked = []
    for (const endpoint of kicked) endpoint.isKicked = false
    return kicked.filter((endpoint) => !endpoint.isGone)
  }

  private readonly tell = (endpoint: VerbsEndpoint): void => {
    if (endpoint.isTelling) return
    endpoint.isTelling = true
    this.telling.push(endpoint)
  }

  /** Calls back for each event that a queue pair has told of since. @throws TransportFault where they have no end */
  takeEvents(now: Time, onEvent: (endpoint: VerbsEndpoint, event: VerbsEvent) => void): void {
    const { telling } = this
    for (let at = 0; at < telling.length; at++) {
      const endpoint = telling[at]!
      endpoint.isTelling = false
      const { engine } = endpoint
      let count = 0
      for (let event = engine.pollEvent(); event !== undefined && !endpoint.isGone; event = engine.pollEvent()) {
        if (++count > EVENTS_MAX) throw endlessEvents(undefined, now, nameOf(endpoint))
        onEvent(endpoint, event)
      }
    }
    telling.length = 0
  }

  /** Those that have work posted, in words. */
  outstanding(): ReadonlyArray<string> {
    const lines: Array<string> = []
    for (const { engine, node } of this) {
      const { qpn, type, sendOutstanding: sends, receiveOutstanding: receives } = engine
      if (sends + receives === 0) continue
      lines.push(`node ${node}, queue pair 0x${qpn.toString(16)} (${type}): ${sends} sends, ${receives} receives`)
    }
    return lines
  }
}

const nameOf = ({ engine, node }: VerbsEndpoint): string => `queue pair 0x${engine.qpn.toString(16)} of node ${node}`

const isIdle = ({ hasData, controlPending, nextTimeout }: VerbsEndpoint): boolean =>
  !hasData && !controlPending && nextTimeout === NEVER

/** It waits for a receive, and has asked for it since anybody did anything. */
const asksInVain = ({ engine }: VerbsEndpoint, lastDeed: Time): boolean => {
  const since = engine.receiveAwaitedSince
  return since !== undefined && since > lastDeed
}
