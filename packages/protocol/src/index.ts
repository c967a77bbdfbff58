export { AckController } from "./AckController.ts"
export type { Ack, Controller, ControllerFactory, Feedback, PathInfo } from "./Controller.ts"
export { makeAck, TELEMETRY_FIELDS } from "./Controller.ts"
export { ControllerFault, checkController } from "./ControllerFault.ts"
export type { Engine, QueuePair } from "./Engine.ts"
export { FlightSize } from "./FlightSize.ts"
export type { FlowAddress, FlowCommand, FlowEngine, FlowEvent, FlowOctets, FlowTransport, Framing } from "./Flow.ts"
export type { Memory, MemoryUser } from "./Memory.ts"
export { MemoryFault } from "./Memory.ts"
export type { Nic, NicPorts } from "./Nic.ts"
export {
  checkBaseRtt,
  checkFactory,
  checkFraming,
  checkLineRate,
  checkMtu,
  checkSeed,
  checkTransport,
  hasFields,
  type OptionCheck,
  OptionError,
  optionChecks,
  shown,
} from "./OptionChecks.ts"
export { type RateWindow, startWindow, windowAt } from "./RateWindow.ts"
export { bytesOf, checkSges, moveSges } from "./Sges.ts"
export { SmoothedRtt } from "./SmoothedRtt.ts"
export type { StreamConnect, StreamDepths, StreamEnd, StreamEvent, StreamHost, StreamRequest } from "./Streams.ts"
export type { LoadBalancer, Switch, SwitchPorts } from "./Switch.ts"
export { Drop, dropNames, POLICY_WORDS, Shortcut } from "./Switch.ts"
export { sharedByPath } from "./sharedByPath.ts"
export type { Time } from "./Time.ts"
export { DOUBLE_ZERO, NEVER } from "./Time.ts"
export { fireTimer, Timers } from "./Timers.ts"
export { EVENTS_MAX, endlessEvents, TransportFault } from "./TransportFault.ts"
export { unpaced } from "./unpaced.ts"
export type {
  Completion,
  MwBind,
  PeerPath,
  QpAsyncEvent,
  QpSettings,
  QpType,
  ReceiveRequest,
  SendRequest,
  Sge,
} from "./Verbs.ts"
export { Access, QpState, WcOpcode, WcStatus, WrOpcode } from "./Verbs.ts"
export { blankCompletion, blankSettings, completionOpcodes } from "./VerbsDefaults.ts"
export type {
  Adapter,
  AddressVector,
  CarrierHost,
  DeviceTransport,
  GidEntry,
  SharedReceives,
  VerbsCommand,
  VerbsEngine,
  VerbsEngineOptions,
  VerbsEvent,
  VerbsTransport,
  World,
} from "./World.ts"
