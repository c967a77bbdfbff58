export { AtomicDatatype, AtomicOperation } from "./rdm/Atomics.ts"
export type { DatagramRequest, DatagramStatus, RdmAccess, RdmMemory } from "./rdm/Datagram.ts"
export { MemoryTable } from "./rdm/MemoryTable.ts"
export {
  type RdmAtomicOptions,
  RdmEndpoint,
  type RdmReceiveOptions,
  type RdmSendOptions,
} from "./rdm/RdmEndpoint.ts"
export type { RdmCounters, RdmEvent, RdmFailure, RdmOperation, RdmRefusal } from "./rdm/RdmEvent.ts"
export { RdmError, type RdmLimits, type RdmOptions, type RdmOrder, type RdmThresholds } from "./rdm/RdmOptions.ts"
