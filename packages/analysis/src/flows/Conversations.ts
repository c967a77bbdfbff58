import { decode, nodeOf } from "@rdmakit/wire/decode"
import { CNP_NATIVE } from "@rdmakit/wire/infiniband"
import type { Sighting } from "../Sighting.ts"
import { Tally } from "../Tally.ts"
import { type Connection, Connections } from "./Connections.ts"
import { Flow } from "./Flow.ts"

/** Directions of queue pairs that are followed. What comes later is counted only. */
const FLOWS_MAX = 1 << 15
/** Answers that look for the other direction; later only one in so many does. */
const ATTEMPTS_MAX = 64
const MANAGEMENT_QP = 1

/** Numbers of queue pairs, and of addresses. */
const QPS = 0x100_0000
const HOSTS = 0x10_0000

/** What one host sends to another. */
interface HostPair {
  /** By queue pair, and of datagrams by the one they come from too. */
  readonly flows: Map<number, Flow>
  /** Those whose other direction is not known yet. */
  readonly lonely: Array<Flow>
}

/** Follows every queue pair of a capture, both directions of it. */
export class Conversations {
  readonly #pairs = new Map<number, HostPair>()
  #count = 0
  readonly connections = new Connections()
  /** The last flow, as packets come in runs. */
  #last: Flow | undefined
  /** Packets of queue pairs beyond those that are followed. */
  overflow = 0
  /** Transports whose opcode nobody knows, or that the capture cut off. */
  readonly unreadable = new Tally()
  /** The code that CNPs have on native InfiniBand, in RoCEv2. */
  readonly nativeCnps = new Tally()

  /** Packets that had been taken for late, of which the last one showed that they were sent again. */
  turned = 0

  /** The directions, in the order they were seen. */
  get flows(): ReadonlyArray<Flow> {
    const all = [...this.#pairs.values()].flatMap(({ flows }) => [...flows.values()])
    return all.sort((a, b) => a.firstFrame - b.firstFrame)
  }

  /** Whether anything of RDMA goes from one host to another. */
  talks(source: number, destination: number): boolean {
    return this.#pairOf(source, destination) !== undefined
  }

  /** Takes a packet with a transport. Of a request it says whether it is new, of a response whether it is a copy. */
  take(sighting: Sighting): "new" | "late" | "copy" | "repeat" | undefined {
    const { operation, destinationQp, timeNs } = sighting
    this.turned = 0
    if (operation === undefined) {
      if (sighting.opcode === CNP_NATIVE) this.nativeCnps.add(sighting.frame)
      else this.unreadable.add(sighting.frame)
      return undefined
    }
    if (destinationQp === MANAGEMENT_QP && operation.opcode.service === "Ud") {
      this.#manage(sighting)
      return undefined
    }
    const flow = this.#flowOf(sighting)
    if (flow === undefined) {
      this.overflow++
      return undefined
    }
    flow.count(sighting)
    if (operation.kind === "notify") {
      flow.cnps.add(sighting.frame)
      flow.reverse?.ownReaction().notified(timeNs)
      return undefined
    }
    if (operation.isResponse) {
      if (flow.reverse === undefined) this.#pair(flow, sighting)
      const outcome = flow.ownAnswers().take(sighting, operation, flow.reverse?.ownRequests())
      if (outcome === "copy") flow.payloadBytes -= sighting.payloadBytes
      return outcome
    }
    if (sighting.payloadBytes > 0) flow.ownReaction().sent(sighting.payloadBytes, timeNs)
    // The PSNs of datagrams count per sender, not per receiver: gaps say nothing.
    if (operation.opcode.service === "Ud") return undefined
    const requests = flow.ownRequests()
    const outcome = requests.take(sighting, operation)
    this.turned = requests.turned
    if (outcome === "copy") flow.payloadBytes -= sighting.payloadBytes
    const { rnr } = requests
    if (rnr?.answered === true && flow.reverse !== undefined) {
      flow.reverse.ownAnswers().waitedNs += Math.max(0, timeNs - rnr.timeNs)
      requests.rnr = undefined
    }
    return outcome
  }

  #flowOf(sighting: Sighting): Flow | undefined {
    const { source, destination, destinationQp, sourceQp, operation } = sighting
    const last = this.#last
    if (
      last?.qp === destinationQp &&
      last.source === source &&
      last.destination === destination &&
      last.sourceQp === sourceQp
    ) {
      return last
    }
    let pair = this.#pairOf(source, destination)
    const key = destinationQp + QPS * (sourceQp + 1)
    let flow = pair?.flows.get(key)
    if (flow === undefined) {
      if (this.#count === FLOWS_MAX) return undefined
      const { service } = operation!.opcode
      flow = new Flow(sighting, service === "Cnp" ? "Rc" : service)
      this.#count++
      if (pair === undefined) {
        pair = { flows: new Map(), lonely: [] }
        this.#pairs.set(source * HOSTS + destination, pair)
      }
      pair.flows.set(key, flow)
      this.#announce(flow, pair)
    }
    this.#last = flow
    return flow
  }

  /** Undefined where nothing that is followed goes from one to the other. */
  #pairOf(source: number, destination: number): HostPair | undefined {
    return this.#pairs.get(source * HOSTS + destination)
  }

  #known(source: number, destination: number, qp: number | undefined): Flow | undefined {
    return qp === undefined ? undefined : this.#pairOf(source, destination)?.flows.get(qp)
  }

  /** A new direction: connection management may know the other one already. */
  #announce(flow: Flow, pair: HostPair): void {
    const { source, destination, qp } = flow
    const other = this.#known(destination, source, this.connections.partnerOf(source, destination, qp))
    if (other !== undefined && other.reverse === undefined) this.#join(flow, other)
    else pair.lonely.push(flow)
  }

  /** Finds the direction whose requests an answer is for: the one that has sent its PSN. */
  #pair(flow: Flow, sighting: Sighting): void {
    if (flow.attempts++ >= ATTEMPTS_MAX && flow.attempts % ATTEMPTS_MAX !== 0) return
    const lonely = this.#pairOf(flow.destination, flow.source)?.lonely ?? []
    const candidates = lonely.filter(
      (other) => other.reverse === undefined && other.service === flow.service && other.requests.hasSent(sighting.psn),
    )
    const samePort = candidates.filter(({ sourcePort }) => sourcePort === flow.sourcePort)
    const [other, second] = samePort.length > 0 ? samePort : candidates
    // Two that both may be meant are told apart by a later answer.
    if (other !== undefined && second === undefined) this.#join(flow, other)
  }

  #join(flow: Flow, other: Flow): void {
    flow.reverse = other
    other.reverse = flow
    this.#forget(flow)
    this.#forget(other)
  }

  #forget(flow: Flow): void {
    const { lonely } = this.#pairOf(flow.source, flow.destination)!
    const at = lonely.indexOf(flow)
    if (at >= 0) lonely.splice(at, 1)
  }

  #manage(sighting: Sighting): void {
    const { data, link, wireBytes } = sighting
    const nodes = sighting.nodes ?? decode(data, { link, wireBytes, crc: () => 0 })
    const cm = nodeOf(nodes, "cm")
    if (cm === undefined) return
    const connection = this.connections.take(cm.value, sighting)
    if (connection !== undefined) this.#renew(connection)
  }

  /** A connection with known PSNs: queue pairs that were used before begin anew. */
  #renew({ client, server, request, serverQp, serverPsn }: Connection): void {
    const forth = this.#known(client, server, serverQp)
    const back = this.#known(server, client, request.qpn)
    if (forth?.requests.started === true) forth.ownRequests().restart(request.psn)
    if (back?.requests.started === true && serverPsn !== undefined) back.ownRequests().restart(serverPsn)
  }
}
