import { dcqcn, dcqcnPresets } from "@rdmakit/cc-dcqcn"
import { dctcp, dctcpPresets } from "@rdmakit/cc-dctcp"
import { hpcc, hpccPint, hpccPintPresets, hpccPresets } from "@rdmakit/cc-hpcc"
import { swift, swiftPresets } from "@rdmakit/cc-swift"
import { timely, timelyPresets } from "@rdmakit/cc-timely"
import {
  balancerNames,
  type FlowInput,
  flowsOf,
  type KernelName,
  type LinkFault,
  type NativeOptions,
  NativeRun,
  type NicFactory,
  readyListNics,
  type SwitchSettings,
  sharedBufferSwitches,
  type TransportSettings,
} from "@rdmakit/fabric"
import { RoundRobinNic } from "@rdmakit/nic"
import type { ControllerFactory, FlowCommand, FlowEvent } from "@rdmakit/protocol"
import { BufferTooSmall } from "@rdmakit/switch"
import { type Graph, GraphBuilder, hostsOf, leafSpine, ring, star } from "@rdmakit/topology"
import { hash32, uniform } from "@rdmakit/units"
import { Admission } from "@rdmakit/workload"

/** Numbers that a seed gives, one after the other. */
export class Draws {
  private readonly seed: number
  private count = 0
  constructor(seed: number) {
    this.seed = seed
  }
  /** 0 to below - 1. */
  int(below: number): number {
    return Math.floor(uniform(this.seed, 0x4e455457, this.count++) * below)
  }
  between(least: number, most: number): number {
    return least + this.int(most - least + 1)
  }
  pick<A>(options: ReadonlyArray<A>): A {
    return options[this.int(options.length)]!
  }
  chance(share: number): boolean {
    return this.int(1000) < share * 1000
  }
  maybe<A>(share: number, make: () => A): A | undefined {
    return this.chance(share) ? make() : undefined
  }
}

/** Few different rates and delays: ties abound. */
const link = (draws: Draws) => ({
  rate: draws.pick([100e9, 100e9, 100e9, 25e9, 40e9, 400e9]),
  delay: draws.pick([1e6, 1e6, 1e6, 500e3, 83_840, 0, 2.5e6, 1_234_567]),
})

/** A tree of switches, links added to it, and hosts with one or two ports. */
const anyGraph = (draws: Draws): Graph => {
  const builder = new GraphBuilder()
  const hosts = builder.hosts(draws.between(2, 10))
  const switches = builder.switches(draws.between(1, 7))
  const same = draws.maybe(0.5, () => link(draws))
  const loss = draws.chance(0.15) ? 0.002 : 0
  const join = (a: number, b: number): number => builder.link(a, b, { ...(same ?? link(draws)), loss })
  for (const each of hosts) {
    join(each, draws.pick(switches))
    if (draws.chance(0.2)) join(each, draws.pick(switches))
  }
  for (const [index, each] of switches.entries()) if (index > 0) join(each, switches[draws.int(index)]!)
  for (let extra = draws.int(6); extra > 0 && switches.length > 1; extra--) {
    const [a, b] = [draws.pick(switches), draws.pick(switches)]
    if (a !== b) join(a, b)
  }
  return builder.build()
}

const graphOf = (draws: Draws): Graph => {
  const [host, fabric] = [link(draws), link(draws)]
  switch (draws.int(6)) {
    case 0:
      return star(draws.between(2, 12), host)
    case 1: {
      const shape = { leaves: draws.between(2, 4), spines: draws.between(1, 4), hostsPerLeaf: draws.between(1, 4) }
      return leafSpine({ ...shape, parallel: draws.between(1, 2) }, { host, fabric })
    }
    case 2:
      return ring({ switches: draws.between(3, 6), hostsPerSwitch: draws.between(1, 2) }, { host, fabric })
    default:
      return anyGraph(draws)
  }
}

const controllerOf = (draws: Draws): ControllerFactory => {
  switch (draws.int(8)) {
    case 0:
      return dcqcn(draws.pick([dcqcnPresets.paper, dcqcnPresets.vendor, dcqcnPresets["simulation+w"]]))
    case 1:
      return timely(draws.pick([timelyPresets.paper, timelyPresets["simulation+w"], timelyPresets.patched]))
    case 2:
      return dctcp(draws.pick([dctcpPresets.paper, dctcpPresets.tcp]))
    case 3:
      return swift(draws.pick([swiftPresets.testbed, swiftPresets.production]))
    case 4:
      return hpccPint(draws.pick([hpccPintPresets.paper, hpccPintPresets["one-in-16"]]))
    default:
      return hpcc(draws.pick([hpccPresets.paper, hpccPresets.simulation]))
  }
}

const switchesOf = (draws: Draws): SwitchSettings => {
  const lossless = draws.chance(0.7)
  const threshold = draws.pick([undefined, undefined, "alpha", "bytes"] as const)
  const rule = draws.maybe(0.3, () => ({ kminBytes: draws.between(0, 20_000), pmax: draws.pick([0.2, 1]) }))
  const kmaxBytes = (rule?.kminBytes ?? 0) + draws.pick([0, 20_000, 100_000])
  return {
    lossless,
    loadBalancer: draws.pick(["ecmp", "ecmp", "ecmp", ...balancerNames]),
    flowletGapPs: draws.pick([1e6, 20e6]),
    // Doubled until headroom and reserve fit.
    bufferBytes: draws.pick([15_000, 25_000, 40_000, 100_000, 300_000, 32 * 2 ** 20]),
    headroomBytes: draws.pick([500, 2_000, 6_000, 40_000]),
    reserveBytes: draws.pick([0, 1_500, 4_096, 4_096]),
    resumeOffsetBytes: draws.pick([0, 3_072]),
    ...(threshold === "alpha" ? { threshold: { alpha: draws.pick([0.0625, 0.25, 1, 4]) } } : {}),
    ...(threshold === "bytes" ? { threshold: { bytes: draws.pick([3_000, 20_000, 100_000]) } } : {}),
    ...(draws.chance(0.3) ? { ecn: true } : {}),
    ...(rule === undefined
      ? {}
      : { ecnRules: new Map([25e9, 40e9, 100e9, 400e9].map((rate) => [rate, { ...rule, kmaxBytes }])) }),
  }
}

const transportOf = (draws: Draws): TransportSettings => ({
  recovery: draws.pick(["go-back-n", "go-back-n", "selective-repeat"]),
  mtuBytes: draws.pick([1000, 1000, 1000, 256, 4096]),
  ackEvery: draws.pick([1, 1, 1, 4]),
  ackTimeoutPs: draws.pick([50e6, 200e6]),
  ackTimeoutHighPs: 200e6,
  retryCount: draws.pick([2, 7, 100]),
  baseRtt: draws.pick(["fabric", "pair"]),
})

const drawnFlows = (draws: Draws, graph: Graph): ReadonlyArray<FlowInput> => {
  const hosts = hostsOf(graph)
  const priorities = draws.pick([[3], [3], [1, 3], [1, 2, 3, 4, 5, 6, 7]])
  // All to one, or any to any; at the same time, in step, or at any time.
  const target = draws.maybe(0.4, () => draws.pick([...hosts]))
  const startStep = draws.pick([0, 83_840, 1e6, 1])
  const sizeMax = draws.pick([1_000, 20_000, 100_000, 100_000, 400_000])
  const sameSize = draws.chance(0.4)
  return Array.from({ length: draws.between(1, draws.pick([8, 40])) }, () => {
    const destination = target ?? draws.pick([...hosts])
    let source = draws.pick([...hosts])
    if (source === destination) source = hosts[(hosts.indexOf(source) + 1) % hosts.length]!
    return {
      source,
      destination,
      size: sameSize ? sizeMax : draws.between(1, sizeMax),
      start: startStep === 1 ? draws.int(20e6) : startStep * draws.int(20),
      priority: draws.pick(priorities),
    }
  })
}

const faultsOf = (draws: Draws, graph: Graph): ReadonlyArray<LinkFault> =>
  Array.from({ length: draws.between(1, 4) }, () => {
    const fault = { link: draws.int(graph.links.length), time: draws.pick([0, 1e6, 5e6, draws.int(60e6)]) }
    if (draws.chance(0.3)) return [{ ...fault, lossRate: draws.pick([0, 0.01, 0.3]) }]
    return [
      { ...fault, up: false },
      { ...fault, time: fault.time + draws.pick([83_840, 3e6, 40e6]), up: true },
    ]
  }).flat()

const disciplineOf = (draws: Draws, graph: Graph): NonNullable<NativeOptions["discipline"]> => {
  switch (draws.int(4)) {
    case 0:
      return "round-robin"
    case 1:
      return { weights: Array.from({ length: 16 * graph.links.length }, () => draws.pick([1, 1, 2, 5])) }
    default:
      return "strict"
  }
}

/** The scan of the HPCC simulator in a native network. */
const roundRobinNics: NicFactory = Object.assign(
  () => (options: ConstructorParameters<typeof RoundRobinNic<FlowCommand, FlowEvent>>[0]) => new RoundRobinNic(options),
  { local: true },
)

export interface RandomCase {
  readonly options: NativeOptions
  readonly switchSettings: SwitchSettings
  readonly flows: ReadonlyArray<FlowInput>
  readonly until: number
}

/** A network with all that may happen in it, as the seed has it. */
export const randomCase = (seed: number): RandomCase => {
  const draws = new Draws(hash32(seed, 0x43415345, 0))
  const graph = graphOf(draws)
  const losses = draws.maybe(0.2, () => {
    const ordinals = () => new Set(Array.from({ length: draws.between(1, 5) }, () => draws.int(100)))
    return new Map(Array.from({ length: 3 }, () => [draws.int(2 * graph.links.length), ordinals()]))
  })
  const faults = draws.maybe(0.25, () => faultsOf(draws, graph))
  const watchdog = draws.maybe(0.1, () => ({
    detectionPs: draws.pick([5e6, 50e6]),
    restorationPs: draws.pick([5e6, 50e6]),
    action: draws.pick(["drop", "forward"] as const),
  }))
  const admission = draws.maybe(0.1, () => ({
    make: (flows: ConstructorParameters<typeof Admission>[1]) => new Admission({ flowsPerReceiver: 2 }, flows),
    grantDelayPs: draws.pick([0, 1e6]),
  }))
  return {
    options: {
      graph,
      controller: controllerOf(draws),
      seed: draws.int(2 ** 31),
      nics: draws.chance(0.8) ? readyListNics : roundRobinNics,
      transport: transportOf(draws),
      discipline: disciplineOf(draws, graph),
      ...(losses === undefined ? {} : { losses }),
      ...(faults === undefined ? {} : { faults }),
      ...(watchdog === undefined ? {} : { watchdog }),
      ...(admission === undefined ? {} : { admission }),
    },
    switchSettings: switchesOf(draws),
    flows: drawnFlows(draws, graph),
    until: draws.pick([20e6, 200e6, 1e9]) + draws.int(1000),
  }
}

/** The same network as one whose nodes may take turns: no link is short, and nothing happens to all of them at once. */
export const takingTurns = ({ options, ...random }: RandomCase): RandomCase => {
  const { admission: _, faults: __, graph, watchdog: ___, ...others } = options
  const links = graph.links.map((link) => ({ ...link, delayPs: Math.max(link.delayPs, 83_840) }))
  return { ...random, options: { ...others, graph: { ...graph, links } } }
}

/** The network of a case, with as much buffer as it needs at least. */
export const startedRun = ({ options, switchSettings, flows, until }: RandomCase, kernel: KernelName): NativeRun => {
  for (let { bufferBytes = 2 ** 20 } = switchSettings; ; bufferBytes *= 2) {
    const switches = sharedBufferSwitches({ ...switchSettings, bufferBytes })
    try {
      return new NativeRun({ ...options, kernel, switches }, { flows: flowsOf(flows, options.graph), until })
    } catch (error) {
      if (!(error instanceof BufferTooSmall)) throw error
    }
  }
}
