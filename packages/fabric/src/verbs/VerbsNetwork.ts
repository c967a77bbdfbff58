import { Device } from "@rdmakit/device"
import { Endpoints, type HostNic, type HostNicOptions, ReadyListNic } from "@rdmakit/nic"
import type { Packet } from "@rdmakit/packet"
import {
  type ControllerFactory,
  NEVER,
  type Nic,
  type Time,
  type VerbsCommand,
  type VerbsEngine,
  type VerbsEvent,
} from "@rdmakit/protocol"
import type { ImpairedKernel } from "@rdmakit/sim"
import { ExactDelays, type Graph, hostsOf, Ports, Routes, validate } from "@rdmakit/topology"
import { verbsTransport } from "@rdmakit/transport-ib"
import { hash32 } from "@rdmakit/units"
import { checkedFaults } from "../FaultChecks.ts"
import { frameBytesOf, type NetworkContext } from "../Models.ts"
import { checkedConvergence } from "../NativeParts.ts"
import { sharedBufferSwitches } from "../NativeSwitch.ts"
import { checkDiscipline, checkNetwork } from "../NetworkChecks.ts"
import { madeNics, madeSwitch, switchMaker } from "../PartChecks.ts"
import type { Wheel } from "../program/Wheel.ts"
import { ArrivalDigest } from "./ArrivalDigest.ts"
import { AttachedQueuePairs } from "./AttachedQueuePairs.ts"
import { Groups } from "./Groups.ts"
import { HostWorld } from "./HostWorld.ts"
import { Links } from "./Links.ts"
import { Loopbacks } from "./Loopbacks.ts"
import { Paths } from "./Paths.ts"
import { Quiescence } from "./Quiescence.ts"
import type { VerbsEndpoint } from "./VerbsEndpoint.ts"
import type { VerbsNetworkOptions } from "./VerbsNetworkOptions.ts"
import { VerbsNic } from "./VerbsNic.ts"
import { deviceFrames, hopsOf, verbsKernel } from "./verbsKernel.ts"

/** What events of the network's own are about: queue pairs that were kicked, links, frames that are late, faults of the plan. */
const Call = { Flush: 0, Action: 1, Late: 2, Fault: 3, Reroute: 4, Slow: 5 } as const
/** An acknowledgement waits at its host as soon as any priority but that of control is paused. */
const CONTROL_PAUSE_MASK = 0xfe
const DEVICE_STREAM = 0x64657600
const LOOP_BYTES = 4096
const NONE: ReadonlyArray<VerbsEndpoint> = []
/** What a host without a link says of its port, bit/s. */
const UNLINKED_BPS = 1e9

/**
 * A simulated network whose hosts are devices. Plain code, driven event by event; what programs post is executed by events
 * of its own, and what devices are told waits until an event is over.
 */
export class VerbsNetwork implements Wheel {
  readonly seed: number
  readonly graph: Graph
  readonly kernel: ImpairedKernel
  readonly links: Links
  readonly paths: Paths
  readonly groups = new Groups()
  /** The devices, by host, ascending. */
  readonly devices: ReadonlyArray<Device>
  onAlarm: (now: Time) => void = () => {}
  private readonly options: VerbsNetworkOptions
  private readonly hosts = new Map<number, Device>()
  private readonly ports: Ports
  private readonly routes: Routes
  private readonly delays: ExactDelays
  private readonly loopbacks: Loopbacks
  private readonly endpoints = new Endpoints<VerbsCommand, VerbsEvent>()
  private readonly queuePairs: AttachedQueuePairs
  private readonly scheduler: HostNic<VerbsCommand, VerbsEvent>
  private readonly nic: VerbsNic
  private readonly arrivals = new ArrivalDigest()
  private readonly one: Array<VerbsEndpoint> = []
  private actions: Array<() => void> = []
  private faultsLeft: number
  private readonly quiescence = new Quiescence((lastDeed) => this.isAtRest(lastDeed))
  private longestRttPs: Time | undefined = undefined
  private alarm = -1

  /** @throws TopologyError, OptionError of the part whose option is wrong, BufferTooSmall, DeviceError */
  constructor(options: VerbsNetworkOptions) {
    const { graph, seed = 0, controller } = options
    const [wrong] = validate(graph)
    if (wrong !== undefined) throw wrong
    checkNetwork(options)
    const { mtuBytes = 4096, discipline = "strict" } = options
    const faults = checkedFaults(options.faults ?? [], graph)
    this.options = { ...options, faults, mtuBytes }
    this.seed = seed
    this.graph = graph
    this.ports = new Ports(graph)
    this.loopbacks = new Loopbacks(graph, this.ports)
    this.routes = new Routes(graph, this.ports)
    const hops = hopsOf(graph, this.routes.maxHops)
    const frames = deviceFrames(mtuBytes, controller, hops, options.transport?.headerBytes)
    const dataBytes = frameBytesOf(frames)
    checkDiscipline(discipline, this.ports.count, dataBytes)
    this.queuePairs = new AttachedQueuePairs(
      this.endpoints,
      (node, engine) => this.portOf(node, engine),
      frames.framing.telemetryBytes,
    )
    this.delays = new ExactDelays(this.routes, this.ports, { dataBytes, ackBytes: frames.framing.ackBytes })
    const context: NetworkContext = {
      graph,
      ports: this.ports,
      transport: frames,
      controller: controller ?? NO_CONTROLLER,
      telemetryRates: [...new Set(this.ports.rateBps)].sort((a, b) => a - b),
      longestRttPs: () => this.longestRtt(),
      seed,
    }
    this.kernel = verbsKernel({
      graph: this.loopbacks.graph,
      ports: this.loopbacks.ports,
      context,
      hops,
      discipline: this.loopbacks.disciplineOf(discipline),
      kernel: options.kernel,
    })
    this.paths = new Paths({
      routes: this.routes,
      ports: this.ports,
      loopPort: (node) => this.loopbacks.portOf(node),
      seed,
    })
    this.links = new Links({
      graph,
      ports: this.ports,
      routes: this.routes,
      kernel: this.kernel,
      asEvent: (action) => this.act(action),
      convergencePs: checkedConvergence(options.convergencePs),
      rerouteAt: (time, link, up) => this.kernel.callAt(time, Call.Reroute, 2 * link + Number(up)),
      onChange: (link, up) => this.linkChanged(link, up),
      onReroute: () => this.rerouted(),
    })
    this.addSwitches(context)
    const { nic, watched } = this.makeScheduler()
    this.scheduler = nic
    this.nic = this.makeNic(watched(nic).pull)
    this.devices = this.addHosts()
    this.kernel.onCall = (now, target, argument) => this.called(now, target, argument)
    this.kernel.onLate = (time, place) => this.kernel.callAt(time, Call.Late, place)
    this.kernel.onSlow = (time, node) => this.kernel.callAt(time, Call.Slow, node)
    this.faultsLeft = faults.length
    for (const [index, { time }] of faults.entries()) this.kernel.callAt(time, Call.Fault, index)
  }

  // --- assembly

  private addSwitches(context: NetworkContext): void {
    const { graph, kernel, ports, routes, seed } = this
    const make = switchMaker((this.options.switches ?? sharedBufferSwitches())(context))
    for (let node = 0; node < graph.nodes; node++) {
      if (graph.isSwitch[node] !== 1) continue
      kernel.switches[node] = madeSwitch(make, { node, kernel, graph, ports, routes, seed })
    }
  }

  private makeScheduler() {
    const make = this.options.makeNic ?? ((nic: HostNicOptions<VerbsCommand, VerbsEvent>) => new ReadyListNic(nic))
    return madeNics(make, {
      ports: this.kernel,
      endpoints: this.endpoints,
      portIds: Array.from(hostsOf(this.graph)).flatMap((node) => [...this.loopbacks.ports.portsOf(node)]),
      controlPauseMask: CONTROL_PAUSE_MASK,
      // Endpoints put their events off.
      onEvent: () => {},
    })
  }

  private makeNic(pull: Nic["pull"]): VerbsNic {
    const { onPacket } = this.options
    const { node: nodeOf } = this.loopbacks.ports
    const nic = new VerbsNic({
      kernel: this.kernel,
      scheduler: this.scheduler,
      pull,
      paths: this.paths,
      receivers: (node, packet, multicast) => this.receivers(node, packet, multicast),
      members: (group) => this.groups.members(group),
      nodeOf: (port) => nodeOf[port]!,
      onPacket: (now, port, packet, outward) => {
        this.quiescence.noteEvent()
        if (!outward) this.arrivals.add(now, packet)
        onPacket?.(now, nodeOf[port]!, packet, outward)
      },
    })
    nic.onAlarm = (now) => {
      this.alarm = -1
      this.quiescence.noteEvent()
      this.noteDeed()
      this.onAlarm(now)
    }
    return nic
  }

  private addHosts(): ReadonlyArray<Device> {
    const { graph, kernel, options, ports, seed } = this
    const { controller, mtuBytes = 4096 } = options
    const transport =
      options.transport ??
      verbsTransport({ ...options.queuePairs, seed, ...(controller === undefined ? {} : { controller }) })
    return Array.from(hostsOf(graph), (node) => {
      kernel.nics[node] = this.nic
      const [port] = ports.portsOf(node)
      const rate = port === undefined ? UNLINKED_BPS : ports.rateBps[port]!
      const world = new HostWorld(this, node, rate, mtuBytes)
      const device = new Device(world, transport, {
        name: `rdmakit${node}`,
        seed: hash32(seed, DEVICE_STREAM, node),
        ...options.device?.(node),
      })
      this.hosts.set(node, device)
      return device
    })
  }

  // --- what hosts ask

  isHost(node: number): boolean {
    return this.hosts.has(node)
  }
  /** The device of a host; undefined for any other node. */
  device(node: number): Device | undefined {
    return this.hosts.get(node)
  }
  /** Whether a link of the host is up. */
  isLinked(node: number): boolean {
    return this.ports.portsOf(node).some((port) => this.links.isUp(port >> 1))
  }

  /** What a controller starts from, ps. */
  baseRttPs(node: number, peer: number): Time {
    if (node === peer || this.routes.nextHopCount(node, peer) === 0) return this.loopRtt(node)
    if (this.options.baseRtt === "pair" || this.options.controller === undefined) {
      return this.delays.pair(node, peer).rttPs
    }
    return this.longestRtt()
  }

  private longestRtt(): Time {
    this.longestRttPs ??= this.delays.maxima().rttPs
    return this.longestRttPs
  }

  private loopRtt(node: number): Time {
    const { ports } = this.loopbacks
    const port = this.loopbacks.portOf(node)
    return 2 * ports.delayPs[port]! + Math.ceil((LOOP_BYTES * 8e12) / ports.rateBps[port]!)
  }

  kick(node: number, engine: VerbsEngine): void {
    this.quiescence.isQuiet = false
    this.noteDeed()
    if (this.queuePairs.kick(this.queuePairs.of(node, engine))) this.kernel.callAt(this.now, Call.Flush, 0)
  }
  detach(engine: VerbsEngine): void {
    this.queuePairs.remove(engine)
  }

  private portOf(node: number, engine: VerbsEngine): number {
    if (engine.flow >= 0) return this.paths.portOf(engine.flow)
    return this.ports.portsOf(node)[0] ?? this.loopbacks.portOf(node)
  }

  private receivers(node: number, packet: Packet, multicast: boolean): ReadonlyArray<VerbsEndpoint> {
    const device = this.device(node)!
    if (multicast) return device.groupFor(packet).map((engine) => this.queuePairs.of(node, engine))
    const engine = device.engineFor(packet)
    if (engine === undefined) return NONE
    this.one[0] = this.queuePairs.of(node, engine)
    return this.one
  }

  // --- events

  private called(now: Time, target: number, argument: number): void {
    this.quiescence.noteEvent()
    if (target === Call.Flush) this.flush(now)
    else if (target === Call.Late) this.kernel.arriveLate(argument)
    else if (target === Call.Fault) this.fault(argument)
    else if (target === Call.Slow) this.kernel.takeSlowly(argument)
    else if (target === Call.Reroute) this.links.reroute(argument >> 1, (argument & 1) === 1)
    else {
      const { actions } = this
      this.actions = []
      for (const action of actions) action()
    }
  }

  private flush(now: Time): void {
    for (const endpoint of this.queuePairs.takeKicked()) this.list(now, endpoint)
  }

  private list(now: Time, endpoint: VerbsEndpoint): void {
    endpoint.port = this.portOf(endpoint.node, endpoint.engine)
    this.scheduler.add(now, endpoint)
  }

  private act(action: () => void): void {
    this.quiescence.isQuiet = false
    if (this.actions.push(action) === 1) this.kernel.callAt(this.now, Call.Action, 0)
  }

  private fault(index: number): void {
    this.faultsLeft--
    this.links.apply(this.options.faults![index]!)
  }

  private linkChanged(link: number, up: boolean): void {
    const ends = [2 * link, 2 * link + 1].filter((port) => this.isHost(this.ports.node[port]!))
    this.noteDeed()
    if (!up) for (const port of ends) this.nic.dropWaiting(port)
    for (const port of ends) this.device(this.ports.node[port]!)!.handleLinkChange()
  }

  private rerouted(): void {
    this.paths.lay()
    for (const node of this.hosts.keys()) if (this.ports.portsOf(node).length > 1) this.listAnew(node)
  }

  /** Queue pairs of a host with several links go to the ports that routes now give them, in the order they were made. */
  private listAnew(node: number): void {
    for (const port of this.ports.portsOf(node)) this.scheduler.clear(port)
    for (const endpoint of this.queuePairs) if (endpoint.node === node) this.list(this.now, endpoint)
  }

  // --- the wheel

  get now(): Time {
    return this.kernel.now
  }
  get isDone(): boolean {
    return this.quiescence.isQuiet || this.kernel.isDone
  }

  step(until: Time): boolean {
    return !this.quiescence.look(this.kernel.pool.alive > 0) && this.kernel.run(until, 1) > 0
  }

  private isAtRest(lastDeed: Time): boolean {
    return (
      this.alarm < 0 && this.faultsLeft === 0 && this.kernel.pool.alive === 0 && this.queuePairs.areAtRest(lastDeed)
    )
  }

  private noteDeed(): void {
    this.quiescence.noteDeed(this.now)
  }

  settle(): void {
    this.queuePairs.takeEvents(this.now, (endpoint, event) => {
      this.noteDeed()
      this.device(endpoint.node)!.handleEvent(this.now, endpoint.engine, event)
    })
  }

  alarmAt(time: Time): void {
    if (time !== NEVER) this.quiescence.isQuiet = false
    if (this.alarm >= 0) this.kernel.cancelTimer(this.alarm)
    const [node] = this.hosts.keys()
    this.alarm = time === NEVER || node === undefined ? -1 : this.nic.alarmAt(node, time)
  }

  /** Executes events before `until`, and tells devices what they bring; false: none is left. For programs without Effect. */
  run(until: Time = NEVER): boolean {
    this.settle()
    while (this.step(until)) this.settle()
    return !this.isDone
  }

  // --- what became of it

  /** Of every packet that arrived at a host, when and where: equal digests are equal runs. */
  get digest(): string {
    return this.arrivals.toString()
  }
  /** Packets that arrived at hosts, and those among them that no queue pair was there for. */
  get packetsArrived(): number {
    return this.arrivals.count
  }
  get packetsUnclaimed(): number {
    return this.nic.unclaimed
  }

  /** Queue pairs that have work posted, in words. */
  outstanding(): ReadonlyArray<string> {
    return this.queuePairs.outstanding()
  }
}

const NO_CONTROLLER: ControllerFactory = {
  name: "none",
  needs: [],
  make: () => {
    throw new Error("there is no congestion control to make")
  },
}
