import {
  type Flow,
  FlowTable,
  type KernelName,
  type Run,
  type RunOutcome,
  type RunProgress,
  type Watch,
  World,
  WorldRun,
} from "@rdmakit/fabric"
import {
  formatFctLine,
  formatPfcLine,
  formatQlen,
  type Ns3Flows,
  standaloneFctNs,
  type TrSink,
  trHeaderOf,
} from "@rdmakit/ns3"
import { Ns3Delays } from "@rdmakit/topology"
import type { Ns3Inputs } from "./Ns3Inputs.ts"
import { ns3Parts } from "./Ns3Mode.ts"
import { Ns3Tracer } from "./Ns3Tracer.ts"
import { QueueMonitor } from "./QueueMonitor.ts"

const NS = 1000
const FIRST_PORT = 10000

/** What the simulator would have written; "" for what the config does not ask for. */
export interface Ns3Files {
  readonly fct: string
  readonly pfc: string
  readonly qlen: string
}

interface Ns3Options {
  /** The run of ns-3's generator (RngRun) less one, which DCQCN's marks and losses are drawn from. Default 0. */
  readonly seed?: number
  readonly kernel?: KernelName
  readonly onTrace?: TrSink
}

const IDLE_SEED = "the seed changes no flow: this controller does not react to marks, and no link loses packets"
/** CC_MODEs that react to marks: DCQCN, DCTCP. */
const MARKED: ReadonlyArray<number> = [1, 8]

/** Whether flows depend on ns-3's random numbers, which decide marks and losses; of a controller of one's own nobody knows. */
const draws = ({ config, controller }: Ns3Inputs, lossRates: ReadonlyArray<number>): boolean =>
  controller !== undefined ||
  (config.ecnEnabled && MARKED.includes(config.ccMode)) ||
  config.errorRatePerLink > 0 ||
  lossRates.some((rate) => rate > 0)

/**
 * A run of the HPCC simulator's own files. Step it to the end, then take the outcome and the files; a trace, when the
 * config asks for one, goes to the sink as it is made.
 */
export class Ns3Simulation implements Run {
  readonly world: World
  private readonly run: WorldRun
  private readonly inputs: Ns3Inputs
  private readonly monitor: QueueMonitor
  private readonly tracer: Ns3Tracer | undefined
  private readonly fctLines: Array<string> = []
  private readonly pfcLines: Array<string> = []

  /**
   * @throws KernelRefused where the fused kernel is asked for; BufferTooSmall, HpccOptionsError, TimelyOptionsError: what
   * `loadNs3Inputs` accepts does not throw them
   */
  constructor(inputs: Ns3Inputs, options: Ns3Options = {}) {
    const { config, graph } = inputs
    const { seed = 0, kernel } = options
    this.inputs = inputs
    const delays = new Ns3Delays(inputs.routes, inputs.ports, config.payloadBytes)
    const lossRates = inputs.topology.links.map((link) => link.lossRate)
    const parts = {
      ...ns3Parts(config, graph, delays, { controller: inputs.controller, lossRates, routes: inputs.routes, seed }),
      ...(kernel === undefined ? {} : { kernel }),
    }
    const world = new World(parts, new FlowTable(flowsOf(inputs.flows)))
    this.world = world
    // After the first flow's event, as in the simulator: ties go by the order in which events were made.
    this.monitor = new QueueMonitor(world, graph.isSwitch, config.qlenMonitorStartNs * NS, config.qlenMonitorEndNs * NS)
    world.kernel.onPause = (now, port, _priority, pause) => {
      const node = world.ports.node[port]!
      this.pfcLines.push(formatPfcLine(now / NS, node, graph.isSwitch[node]!, world.ports.iface[port]!, pause))
    }
    const idealNs = standaloneNs(world, delays, config.payloadBytes)
    world.onFinish = (flow) => this.fctLines.push(fctLine(world.flows, flow, idealNs(flow)))
    this.run = new WorldRun(world, {
      until: config.stopNs * NS,
      controller: parts.controller.name,
      seed,
      ideal: (flow) => idealNs(flow) * NS,
      notes: seed === 0 || draws(inputs, lossRates) ? [] : [IDLE_SEED],
    })
    if (config.traceEnabled && options.onTrace !== undefined) {
      this.tracer = new Ns3Tracer(
        world,
        {
          header: trHeaderOf(inputs.topology, delays.maxBdpBytes),
          nodes: inputs.traceNodes,
          isSwitch: graph.isSwitch,
          payloadBytes: config.payloadBytes,
          stamped: config.ccMode === 7,
          pauseUs: config.pauseTimeUs,
        },
        options.onTrace,
      )
    } else {
      this.tracer = undefined
    }
  }

  watch(watch: Watch): void {
    this.run.watch(watch)
  }
  step(budget: number): boolean {
    return this.run.step(budget)
  }
  progress(): RunProgress {
    return this.run.progress()
  }
  outcome(partial: boolean): RunOutcome {
    this.tracer?.flush()
    return this.run.outcome(partial)
  }

  /** The simulator's output files so far. */
  files(): Ns3Files {
    const { config } = this.inputs
    return {
      fct: config.fctOutputFile === "" ? "" : this.fctLines.join(""),
      pfc: config.pfcOutputFile === "" ? "" : this.pfcLines.join(""),
      qlen: config.qlenMonitorFile === "" ? "" : formatQlen({ dumps: this.monitor.dumps }),
    }
  }
}

/**
 * What the simulator takes each flow to need alone: reckoned once, when it is first asked for, with the round trip from
 * before a link went down and the narrowest link of the path as it is then.
 */
function standaloneNs(world: World, delays: Ns3Delays, payloadBytes: number): (flow: number) => number {
  const { flows, routes, ports } = world
  const live = world.faults === undefined ? delays : new Ns3Delays(routes, ports, payloadBytes)
  const known = new Float64Array(flows.count)
  return (flow) => {
    const [from, to] = [flows.source[flow]!, flows.destination[flow]!]
    if (known[flow] === 0) {
      const before = delays.pair(from, to)
      const { rttNs } = before
      const { narrowestBps } = live !== delays && routes.reachable(from, to) ? live.pair(from, to) : before
      known[flow] = standaloneFctNs(rttNs, flows.bytes[flow]!, narrowestBps, payloadBytes)
    }
    return known[flow]!
  }
}

/** A flow's source port counts up from 10,000 for each pair of hosts. */
function flowsOf(flows: Ns3Flows): Array<Flow> {
  const used = new Map<number, number>()
  return Array.from({ length: flows.count }, (_, i) => {
    const pair = flows.src[i]! * 65536 + flows.dst[i]!
    const count = used.get(pair) ?? 0
    used.set(pair, count + 1)
    return {
      source: flows.src[i]!,
      destination: flows.dst[i]!,
      priority: flows.pg[i]!,
      bytes: flows.sizeBytes[i]!,
      start: flows.startNs[i]! * NS,
      sourcePort: (FIRST_PORT + count) & 0xffff,
      destinationPort: flows.dport[i]!,
    }
  })
}

const fctLine = (flows: FlowTable, flow: number, idealNs: number): string =>
  formatFctLine(
    flows.source[flow]!,
    flows.destination[flow]!,
    flows.sourcePort[flow]!,
    flows.destinationPort[flow]!,
    flows.bytes[flow]!,
    flows.created[flow]! / NS,
    flows.completionTime(flow) / NS,
    idealNs,
  )
