export { bisectionBps } from "./Bisection.ts"
export { BufferDependencies, bufferCycle, type SendingPair } from "./BufferCycle.ts"
export {
  type ClosShape,
  clos,
  type DumbbellOptions,
  dumbbell,
  type FabricOptions,
  fatTree,
  hpccFabric,
  hpccTestbed,
  type LeafSpineShape,
  leafSpine,
  type RingShape,
  ring,
  star,
} from "./Builders.ts"
export { ExactDelays, type ExactPathDelay, Ns3Delays, type Ns3PathDelay } from "./Delay.ts"
export { type Graph, GraphBuilder, hostsOf, type Link, type LinkOptions, validate } from "./Graph.ts"
export { LINKS_MAX, NODES_MAX, networkTooLarge } from "./NetworkSize.ts"
export { cycleText, portCycle } from "./PortCycle.ts"
export { Ports } from "./Ports.ts"
export { Routes, type RoutesOptions } from "./Routes.ts"
export { TopologyError, type TopologyErrorKind } from "./TopologyError.ts"
