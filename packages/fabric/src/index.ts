export type { Impairment, ReceiverLimit } from "@rdmakit/sim"
export { type Deadlock, pauseCycle } from "./Deadlock.ts"
export {
  AdmissionControl,
  Fabric,
  type FabricOptions,
  Faults,
  NetworkInvalid,
  NicModel,
  RouteConvergence,
  Scheduling,
  SwitchModel,
  simulateFlows,
  Topology,
  Transport,
  Watchdog,
} from "./Fabric.ts"
export type { AdmissionModel, FlowAdmission } from "./FlowAdmission.ts"
export type { Flow } from "./FlowTable.ts"
export { FlowTable } from "./FlowTable.ts"
export { flowInputs, type TimedFlow } from "./flowInputs.ts"
export { IdealCompletion } from "./IdealCompletion.ts"
export {
  type Direction,
  type Fault,
  type FaultModel,
  type LinkFault,
  LinkFaults,
  type ReceiverFault,
} from "./LinkFaults.ts"
export {
  type BalancerFactory,
  type BalancerName,
  type BalancerSettings,
  balancerNames,
  reorders,
  usesFlowlets,
} from "./LoadBalancers.ts"
export {
  frameBytesOf,
  type NetworkContext,
  type NicFactory,
  readyListNics,
  type SwitchFactory,
  type TransportFactory,
} from "./Models.ts"
export { type KernelName, KernelRefused, kernelNames } from "./makeKernel.ts"
export { type NativeOptions, type NativeParts, nativeParts, unmetNeeds } from "./NativeParts.ts"
export { NativeRun } from "./NativeRun.ts"
export {
  type BufferDemand,
  bufferDemand,
  type EcnRule,
  ecnRule,
  headroomBytes,
  portHeadroomBytes,
  type SwitchSettings,
  sharedBufferSwitches,
} from "./NativeSwitch.ts"
export { nativeTransport, type TransportSettings } from "./NativeTransport.ts"
export { NetworkOptionError } from "./NetworkOptionError.ts"
export { PfcWatchdog, type WatchdogCounts, type WatchdogSettings } from "./PfcWatchdog.ts"
export { every } from "./program/every.ts"
export { OutsideTime, Stalled, TimeExceeded } from "./program/ProgramError.ts"
export {
  NetworkLinks,
  onHost,
  type ProgramOptions,
  type ProgramOutcome,
  type ProgramServices,
  QueuePairs,
  simulateProgram,
} from "./program/simulateProgram.ts"
export type { ProgramFault } from "./program/VirtualRun.ts"
export {
  type Run,
  type RunOutcome,
  type RunProgress,
  type UnfinishedFlow,
  type Watch,
  WorldRun,
  type WorldRunOptions,
} from "./Run.ts"
export { BUFFER_BYTES_MAX } from "./SwitchSettingsChecks.ts"
export { type RunFault, type SimulateOptions, simulate, stepRun } from "./simulate.ts"
export { FRAME_BYTES_MAX, TransportInvalid, type TransportModel } from "./TransportModel.ts"
export { type FrameListener, frameObserver } from "./verbs/frameObserver.ts"
export type { Links } from "./verbs/Links.ts"
export { VerbsNetwork } from "./verbs/VerbsNetwork.ts"
export type { PacketObserver, VerbsNetworkOptions } from "./verbs/VerbsNetworkOptions.ts"
export { type FlowInput, FlowInvalid, flowsOf } from "./Workload.ts"
export { type Sampler, World } from "./World.ts"
export type { MakeNic, MakeSwitch, SwitchContext, WorldParts } from "./WorldParts.ts"
