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

/** Follows every queue pair of a capture, both directions of it. */
export class Conversations {
  /** By source, destination, and queue pair. */
  readonly #flows = new Map<string, Flow>()
  /** Directions between two hosts whose other one is not known yet. */
  readonly #lonely = new Map<string, Array<Flow>>()
  readonly #hosts = new Set<string>()
  readonly connections = new Connections()
  /** The last flow, as packets come in runs. */
  #last: Flow | undefined
  /** Packets of queue pairs beyond those that are followed. */
  overflow = 0
  /** Transports whose opcode nobody knows, or that the capture cut off. */
  readonly unreadable = new Tally()
  /** The code that CNPs have on native InfiniBand, in RoCEv2. */
  readonly nativeCnps = new Tally()

  /** The directions, in the order they were seen. */
  get flows(): ReadonlyArray<Flow> {
    return [...this.#flows.values()]
  }

  /** Whether anything of RDMA goes from one host to another. */
  talks(source: number, destination: number): boolean {
    return this.#hosts.has(`${source}>${destination}`)
  }

  /** Takes a packet with a transport. Of a request it says whether it is new. */
  take(sighting: Sighting): "new" | "late" | "copy" | "repeat" | undefined {
    const { operation, destinationQp, timeNs } = sighting
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
      flow.reverse?.reaction.notified(timeNs)
      return undefined
    }
    if (operation.isResponse) {
      if (flow.reverse === undefined) this.#pair(flow, sighting)
      flow.answers.take(sighting, operation, flow.reverse?.requests)
      return undefined
    }
    if (sighting.payloadBytes > 0) flow.reaction.sent(sighting.payloadBytes, timeNs)
    // The PSNs of datagrams count per sender, not per receiver: gaps say nothing.
    if (operation.opcode.service === "Ud") return undefined
    const outcome = flow.requests.take(sighting, operation)
    const rnr = flow.requests.rnr
    if (rnr?.answered === true && flow.reverse !== undefined) {
      flow.reverse.answers.waitedNs += Math.max(0, timeNs - rnr.timeNs)
      flow.requests.rnr = undefined
    }
    return outcome
  }

  #flowOf(sighting: Sighting): Flow | undefined {
    const { source, destination, destinationQp, operation } = sighting
    const last = this.#last
    const sourceQp = sighting.sourceQp
    if (
      last?.qp === destinationQp &&
      last.source === source &&
      last.destination === destination &&
      last.sourceQp === sourceQp
    ) {
      return last
    }
    const key = `${source}>${destination}:${destinationQp}:${sourceQp}`
    let flow = this.#flows.get(key)
    if (flow === undefined) {
      if (this.#flows.size === FLOWS_MAX) return undefined
      const { service } = operation!.opcode
      flow = new Flow(sighting, service === "Cnp" ? "Rc" : service)
      this.#flows.set(key, flow)
      const hosts = `${source}>${destination}`
      this.#hosts.add(hosts)
      this.#announce(flow, hosts)
    }
    this.#last = flow
    return flow
  }

  /** A new direction: connection management may know the other one already. */
  #announce(flow: Flow, hosts: string): void {
    const partner = this.connections.partnerOf(`${hosts}:${flow.qp}`)
    const other = partner === undefined ? undefined : this.#flows.get(`${partner}:-1`)
    if (other !== undefined && other.reverse === undefined) {
      this.#join(flow, other, "cm")
      return
    }
    const list = this.#lonely.get(hosts)
    if (list === undefined) this.#lonely.set(hosts, [flow])
    else list.push(flow)
  }

  /** Finds the direction whose requests an answer is for: the one that has sent its PSN. */
  #pair(flow: Flow, sighting: Sighting): void {
    if (flow.attempts++ >= ATTEMPTS_MAX && flow.attempts % ATTEMPTS_MAX !== 0) return
    const candidates = (this.#lonely.get(`${flow.destination}>${flow.source}`) ?? []).filter(
      (other) => other.reverse === undefined && other.service === flow.service && other.requests.hasSent(sighting.psn),
    )
    const samePort = candidates.filter(({ sourcePort }) => sourcePort === flow.sourcePort)
    const [other, second] = samePort.length > 0 ? samePort : candidates
    // Two that both may be meant are told apart by a later answer.
    if (other !== undefined && second === undefined) this.#join(flow, other, "psn")
  }

  #join(flow: Flow, other: Flow, by: "cm" | "psn"): void {
    flow.reverse = other
    other.reverse = flow
    flow.pairedBy = by
    other.pairedBy = by
    this.#forget(flow)
    this.#forget(other)
  }

  #forget(flow: Flow): void {
    const list = this.#lonely.get(`${flow.source}>${flow.destination}`)
    const at = list?.indexOf(flow) ?? -1
    if (at >= 0) list!.splice(at, 1)
  }

  #manage(sighting: Sighting): void {
    const { data, link, wireBytes } = sighting
    const nodes = sighting.nodes ?? decode(data, { link, wireBytes, crc: () => 0 })
    const cm = nodeOf(nodes, "cm")
    if (cm === undefined) return
    const connection = this.connections.take(cm.value, sighting)
    if (connection !== undefined) this.#renew(connection, sighting.frame)
  }

  /** A connection with known PSNs: queue pairs that were used before begin anew. */
  #renew({ client, server, request, serverQp, serverPsn }: Connection, frame: number): void {
    const forth = this.#flows.get(`${client}>${server}:${serverQp}:-1`)
    const back = this.#flows.get(`${server}>${client}:${request.qpn}:-1`)
    if (forth?.requests.started === true) forth.requests.restart(request.psn, frame)
    if (back?.requests.started === true && serverPsn !== undefined) back.requests.restart(serverPsn, frame)
  }
}
