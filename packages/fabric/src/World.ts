import { Endpoints, type HostNic, type NicQueuePair } from "@rdmakit/nic"
import {
  type FlowAddress,
  type FlowCommand,
  type FlowEngine,
  type FlowEvent,
  NEVER,
  type Time,
} from "@rdmakit/protocol"
import { type ExactKernel, FusedKernel, type NoteSource } from "@rdmakit/sim"
import { WatchdogSwitch } from "@rdmakit/switch"
import { Ports, Routes } from "@rdmakit/topology"
import type { FlowAdmission } from "./FlowAdmission.ts"
import { flowEnds, flowOf } from "./FlowEnds.ts"
import { FlowFailures } from "./FlowFailures.ts"
import type { FlowTable } from "./FlowTable.ts"
import { type CallAt, LinkFaults } from "./LinkFaults.ts"
import { checkKernel, makeKernel } from "./makeKernel.ts"
import { madeNics, madeSwitch } from "./PartChecks.ts"
import { PfcWatchdog, type WatchdogSettings } from "./PfcWatchdog.ts"
import type { WorldParts } from "./WorldParts.ts"

/** Start + n are the steps to a start; Alarm is beyond them, and from Fault on all are those of faults. */
const Call = { Reader: 0, Start: 1, Sample: 2, Alarm: 32, Fault: 33 } as const

/** A periodic look at the world, in order with its events. */
export interface Sampler {
  readonly first: Time
  readonly every: Time
  /** The last sample is the first at or after this. */
  readonly last: Time
  readonly sample: (now: Time) => void
}

/** A simulated network and the flows it carries. Plain code: nothing here waits, allocates per event or reads a clock. */
export class World {
  readonly kernel: ExactKernel
  readonly flows: FlowTable
  readonly ports: Ports
  readonly routes: Routes
  readonly endpoints = new Endpoints<FlowCommand, FlowEvent>()
  /** Called when a flow has finished. */
  onFinish: (flow: number, now: Time) => void = () => {}
  /** Times the controllers of finished flows set their rate. */
  controllerActions = 0
  retransmissions = 0
  /** Flows that admission control had held back and has let go, and how long they waited in all, ps. */
  flowsHeldBack = 0
  heldBackPs = 0

  readonly parts: WorldParts
  readonly watchdog: PfcWatchdog | undefined
  readonly faults: LinkFaults | undefined = undefined
  private readonly hostNics: HostNic<FlowCommand, FlowEvent>
  private readonly samplers: Array<Sampler> = []
  private readonly makeEnd: (now: Time, address: FlowAddress) => FlowEngine
  readonly failures = new FlowFailures()
  private readonly admission: FlowAdmission | undefined
  /** A grant travels, then its flow starts. */
  private readonly admit = (flow: number): void => {
    const { kernel, parts } = this
    kernel.callAt(kernel.now + (parts.admission?.grantDelayPs ?? 0), Call.Start, flow)
  }
  private next = 0

  constructor(parts: WorldParts, flows: FlowTable) {
    const { graph } = parts
    this.parts = parts
    this.flows = flows
    this.admission = parts.admission?.make(flows)
    this.ports = new Ports(graph)
    this.routes = new Routes(graph, this.ports, parts.routes)
    const { kernel, faulty, longest } = makeKernel(parts, this.ports, this.routes)
    this.kernel = kernel
    this.makeEnd = flowEnds(parts.transport, longest)
    this.kernel.paths.ensure(2 * flows.count + 1)
    this.watchdog = parts.watchdog === undefined ? undefined : this.watched(parts.watchdog)
    for (let node = 0; node < graph.nodes; node++) if (graph.isSwitch[node] === 1) this.addSwitch(node)
    checkKernel(parts, kernel.switches)
    this.hostNics = this.addNics()
    this.kernel.onCall = (now, target, argument) => this.called(now, target, argument)
    this.kernel.onNote = (now, note) => this.noted(now, note)
    if (kernel instanceof FusedKernel && kernel.takesTurns) kernel.notes = this.starts(kernel)
    else if (flows.count > 0) this.kernel.callAt(flows.start[0]!, Call.Reader, 0)
    if (faulty !== undefined) {
      const callAt: CallAt = (time, call, argument) => kernel.callAt(time, Call.Fault + call, argument)
      this.faults = new LinkFaults(this, faulty, parts.faults!, callAt)
    }
  }

  private addSwitch(node: number): void {
    const { graph, makeSwitch, seed } = this.parts
    const { kernel, ports, routes } = this
    const policy = madeSwitch(makeSwitch, { node, kernel, graph, ports, routes, seed })
    const dropping = this.watchdog?.dropping
    kernel.switches[node] =
      dropping === undefined
        ? policy
        : new WatchdogSwitch({ inner: policy, ports: kernel, portIds: [...ports.portsOf(node)], dropping })
  }

  private watched(settings: WatchdogSettings): PfcWatchdog {
    const { kernel, ports, parts } = this
    const isWatched = (port: number): boolean => parts.graph.isSwitch[ports.node[port]!] === 1
    const watchdog = new PfcWatchdog(kernel, { count: ports.count, isWatched }, settings, (time, place) =>
      kernel.callAt(time, Call.Alarm, place),
    )
    kernel.onPause = (now, port, priority, pause) => watchdog.paused(now, port, priority, pause)
    return watchdog
  }

  /** One object for the NICs of all hosts. */
  private addNics(): HostNic<FlowCommand, FlowEvent> {
    const { graph, makeNic, controlPauseMask } = this.parts
    const hosts = Array.from({ length: graph.nodes }, (_, node) => node).filter((node) => graph.isSwitch[node] === 0)
    const { nic, watched } = madeNics(makeNic, {
      ports: this.kernel,
      endpoints: this.endpoints,
      portIds: hosts.flatMap((node) => [...this.ports.portsOf(node)]),
      controlPauseMask,
      onEvent: (endpoint, event) => this.flowEvent(endpoint, event),
      makeLate: this.parts.answersLate === true ? this.makeLate : undefined,
    })
    const seen = watched(nic)
    for (const node of hosts) this.kernel.nics[node] = seen
    return nic
  }

  /** The NIC of a host, an object that serves them all; undefined for a switch. */
  nic(node: number): HostNic<FlowCommand, FlowEvent> | undefined {
    return this.parts.graph.isSwitch[node] === 1 ? undefined : this.hostNics
  }

  /** Adds a sampler; before the run, or from within it with a `first` not before now. */
  addSampler(sampler: Sampler): void {
    this.samplers.push(sampler)
    this.kernel.callAt(sampler.first, Call.Sample, this.samplers.length - 1)
  }

  /** Executes at most `budget` events strictly before `until`; returns how many. */
  run(until: Time, budget: number): number {
    return this.kernel.run(until, budget)
  }

  private called(now: Time, target: number, argument: number): void {
    if (target === Call.Reader) this.readFlows(now)
    else if (target === Call.Sample) this.takeSample(now, argument)
    else if (target === Call.Alarm) this.watchdog!.alarm(now, argument)
    else if (target >= Call.Fault) this.faults!.called(target - Call.Fault, argument)
    else if (target >= Call.Start + 2) this.startStep(now, target, argument)
    else this.createFlow(now, argument)
  }

  private takeSample(now: Time, index: number): void {
    const sampler = this.samplers[index]!
    sampler.sample(now)
    if (now < sampler.last) this.kernel.callAt(now + sampler.every, Call.Sample, index)
  }

  /** Starts of flows, each at its source, for nodes that take turns: a note is twice the flow. */
  private starts(kernel: FusedKernel): NoteSource {
    const { count, source, start } = this.flows
    let given = 0
    return {
      get next() {
        return given < count ? start[given]! : NEVER
      },
      give: (end) => {
        for (; given < count && start[given]! < end; given++) kernel.noteAt(source[given]!, start[given]!, 2 * given)
      },
    }
  }

  /** A flow starts, or what took its data is no longer needed. */
  private noted(now: Time, note: number): void {
    if ((note & 1) === 1) {
      this.endpoints.remove(note)
      return
    }
    this.next++
    this.createFlow(now, note >> 1)
  }

  /** Flows that start now; then the reader waits for the next start. */
  private readFlows(now: Time): void {
    const { flows } = this
    const steps = this.parts.startEvents
    while (this.next < flows.count && flows.start[this.next] === now) {
      const flow = this.next++
      if (this.admission?.offer(flow) === false) flows.created[flow] = now
      else if (steps === 0) this.createFlow(now, flow)
      else this.kernel.callAt(now, steps === 1 ? Call.Start : Call.Start + steps, flow)
    }
    if (this.next < flows.count) this.kernel.callAt(flows.start[this.next]!, Call.Reader, 0)
  }

  /** A start event that leads to another: target Start + n has n - 1 more to go. */
  private startStep(now: Time, target: number, flow: number): void {
    const left = target - Call.Start - 1
    this.kernel.callAt(now, left === 1 ? Call.Start : Call.Start + left, flow)
  }

  private createFlow(now: Time, flow: number): void {
    const { flows, parts } = this
    const source = flows.source[flow]!
    const destination = flows.destination[flow]!
    const sourcePort = flows.sourcePort[flow]!
    const destinationPort = flows.destinationPort[flow]!
    if (flows.created[flow] === NEVER) flows.created[flow] = now
    else {
      this.flowsHeldBack++
      this.heldBackPs += now - flows.created[flow]!
    }
    const wayless = this.wayless(flow)
    if (wayless !== undefined) {
      this.failures.add(now, flow, wayless)
      this.admission?.ended(flow, this.admit)
      return
    }
    const port = this.portOf(2 * flow)!
    const priority = flows.priority[flow]!
    const path = parts.path(flow, source, destination, this.ports.rateBps[port]!)
    const requester = this.makeEnd(now, {
      node: source,
      peer: destination,
      udpPort: sourcePort,
      peerUdpPort: destinationPort,
      priority,
      flow: 2 * flow,
      path,
    })
    requester.port = port
    this.endpoints.add(requester)
    this.makeResponder(now, 2 * flow + 1)
    requester.command(now, { writeBytes: flows.bytes[flow]!, message: flow })
    this.hostNics.add(now, requester)
  }

  /** Of a flow that has ended; undefined without a way for what it would answer. */
  private readonly makeLate = (now: Time, index: number): FlowEngine | undefined =>
    this.portOf(index) === undefined ? undefined : this.makeResponder(now, index)

  /** Makes the end of a flow that takes its data. @param index of the endpoint */
  private makeResponder(now: Time, index: number): FlowEngine {
    const { flows } = this
    const flow = index >> 1
    const responder = this.makeEnd(now, {
      node: flows.destination[flow]!,
      peer: flows.source[flow]!,
      udpPort: flows.destinationPort[flow]!,
      peerUdpPort: flows.sourcePort[flow]!,
      priority: flows.priority[flow]!,
      flow: index,
      path: undefined,
    })
    responder.port = this.portOf(index)!
    this.endpoints.add(responder)
    return responder
  }

  /** Port through which a queue pair of `node` sends to `peer`; undefined without a way. */
  hostPort(node: number, peer: number, udpPorts: number): number | undefined {
    const { routes } = this
    const count = routes.nextHopCount(node, peer)
    if (count === 0) return undefined
    return routes.nextHop(node, peer, count === 1 ? 0 : this.parts.choosePort(node, peer, udpPorts, count))
  }

  /** Port through which an endpoint, by its index, sends as routes are now; undefined without a way. */
  portOf(index: number): number | undefined {
    const { flows } = this
    const flow = index >> 1
    const from = flows.source[flow]!
    const to = flows.destination[flow]!
    const here = flows.sourcePort[flow]!
    const there = flows.destinationPort[flow]!
    return (index & 1) === 0
      ? this.hostPort(from, to, (here | (there << 16)) >>> 0)
      : this.hostPort(to, from, (there | (here << 16)) >>> 0)
  }

  private flowEvent(endpoint: NicQueuePair<FlowCommand, FlowEvent>, event: FlowEvent): void {
    const flow = flowOf(event, endpoint.flow >> 1, this.kernel.now)
    const requester = endpoint as FlowEngine
    this.controllerActions += requester.controllerActions
    this.retransmissions += requester.retransmissions
    if (event.type !== "completed") {
      const wayless = this.wayless(flow)
      const { failure } = requester
      this.failures.add(event.time, flow, wayless === undefined ? failure : `${wayless}: ${failure}`)
      this.admission?.ended(flow, this.admit)
      return
    }
    this.flows.finish(flow, event.time)
    this.endpoints.remove(2 * flow)
    this.forgetResponder(event.time, flow)
    this.admission?.ended(flow, this.admit)
    this.onFinish(flow, event.time)
  }

  /**
   * A flow has finished at its source: the end that took its data is forgotten as soon as the other host may know, or in
   * the model that makes it anew at once. Data that come a second time are answered until then.
   */
  private forgetResponder(now: Time, flow: number): void {
    const { flows, kernel, parts } = this
    const responder = 2 * flow + 1
    if (parts.answersLate === true) this.endpoints.remove(responder)
    else kernel.noteAt(flows.destination[flow]!, now + kernel.leastDelayPs, responder)
  }

  /** Times controllers set their rates and packets were sent again, flows still under way included. */
  totals(): { readonly controllerActions: number; readonly retransmissions: number } {
    let { controllerActions, retransmissions } = this
    for (let flow = 0; flow < this.flows.count; flow++) {
      const requester = this.endpoints.at(2 * flow) as FlowEngine | undefined
      // A failed flow has been counted, and its endpoint stays for the reason.
      if (requester === undefined || this.failures.has(flow)) continue
      controllerActions += requester.controllerActions
      retransmissions += requester.retransmissions
    }
    return { controllerActions, retransmissions }
  }

  /** That a flow has no way there, or its acknowledgements none back, in words; undefined: they have. */
  private wayless(flow: number): string | undefined {
    const { flows, routes } = this
    const from = flows.source[flow]!
    const to = flows.destination[flow]!
    if (routes.nextHopCount(from, to) > 0 && routes.nextHopCount(to, from) > 0) return undefined
    return `no route from node ${from} to node ${to}`
  }

  /** Whether a flow has begun, and neither finished nor failed. */
  isUnderWay(flow: number): boolean {
    const { created, finished } = this.flows
    return created[flow] !== NEVER && finished[flow] === NEVER && !this.failures.has(flow)
  }

  /** Why a flow has not finished, in words. */
  unfinishedReason(flow: number): string {
    const { flows } = this
    const failure = this.failures.reason(flow)
    const requester = this.endpoints.at(2 * flow) as FlowEngine | undefined
    const held = requester === undefined ? undefined : this.heldBack(flow)
    if (failure !== undefined) return held === undefined ? failure : `${failure}; ${held}`
    if (flows.created[flow] === NEVER) return "not started before the stop time"
    if (requester === undefined) return flows.finished[flow] === NEVER ? "held back by admission control" : "finished"
    const waiting = `waiting for ${requester.waitingFor} (${requester.bytesAcknowledged} of ${flows.bytes[flow]} B acknowledged)`
    const wayless = this.wayless(flow)
    if (wayless !== undefined) return `${wayless}; ${waiting}`
    if (held !== undefined) return `${held}; ${waiting}`
    if (requester.hasData && requester.nextSend === NEVER) return `window full; ${waiting}`
    return waiting
  }

  /** Whether every flow has started, and each that is under way is held back by a pause. */
  allStalled(): boolean {
    const { flows } = this
    if (this.next < flows.count) return false
    for (let flow = 0; flow < flows.count; flow++) {
      if (this.endpoints.at(2 * flow) === undefined || this.failures.has(flow)) continue
      if (this.heldBack(flow) === undefined) return false
    }
    return true
  }

  /** Which pause holds a flow's packets or their acknowledgements back, in words; undefined: none. */
  private heldBack(flow: number): string | undefined {
    const priority = this.flows.priority[flow]!
    const there = this.pausedOnPath(flow, 0)
    if (there !== undefined) return `paused by node ${there} (priority ${priority})`
    const back = this.pausedOnPath(flow, 1)
    return back === undefined ? undefined : `acknowledgements paused by node ${back} (priority ${priority})`
  }

  /** First node on the flow's path, or the way back, whose pause holds its priority back, if any. */
  private pausedOnPath(flow: number, direction: 0 | 1): number | undefined {
    const { flows, kernel, ports, routes } = this
    const endpoint = this.endpoints.at(2 * flow + direction) as FlowEngine
    const destination = (direction === 0 ? flows.destination : flows.source)[flow]!
    const bit = 1 << flows.priority[flow]!
    let port: number | undefined = endpoint.port
    for (let hop = 0; port !== undefined && hop <= routes.maxHops; hop++) {
      const peer = ports.peerNode(port)
      if ((kernel.pausedMask(port) & bit) !== 0) return peer
      if (peer === destination) return undefined
      const taken = kernel.paths.at(2 * flow + direction, hop) - 1
      // Where each packet has a choice, one way that is paused holds some of them back.
      const next = routes.nextHops(peer, destination)
      port =
        taken >= 0 && ports.node[taken] === peer
          ? taken
          : (next.find((each) => (kernel.pausedMask(each) & bit) !== 0) ?? next[0])
    }
    return undefined
  }
}
