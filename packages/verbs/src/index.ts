export type { Address, AddressHandle } from "./AddressHandle.ts"
export type { Connection, ConnectionEvent, ConnectionOptions, ConnectionPeer } from "./CmConnection.ts"
export type { DatagramRequest, DatagramService } from "./CmDatagrams.ts"
export { type ConnectionError, ConnectionRejected, ConnectionUnreachable } from "./CmError.ts"
export type { AcceptOptions, ConnectionRequest, Listener, ListenOptions } from "./CmListener.ts"
export type { PortSpace, Resolved, ResolveOptions } from "./CmRoute.ts"
export type { CompletionQueue } from "./CompletionQueue.ts"
export { type ConnectionManager, type ConnectOptions, connectionManager } from "./ConnectionManager.ts"
export { type DeviceContext, deviceNames, openDevice } from "./DeviceContext.ts"
export type { AsyncEvent } from "./DeviceState.ts"
export { chooseGid, formatGid, type GidChoice, parseGid } from "./Gid.ts"
export type {
  Allocation,
  MemoryRange,
  MemoryRegion,
  MemoryWindow,
  RegionChange,
  RegionPlace,
  RemoteMemory,
} from "./MemoryRegion.ts"
export {
  type AccessName,
  accessBits,
  accessNames,
  type OpcodeName,
  opcodeName,
  type StateName,
  type StatusName,
  statusName,
  statusText,
} from "./Names.ts"
export type { ProtectionDomain, QueuePairOptions, ThreadDomain } from "./ProtectionDomain.ts"
export type { QpAttributes, QpStatus } from "./QpAttributes.ts"
export type {
  ConnectSettings,
  Endpoint,
  InitSettings,
  QueuePair,
  RtrSettings,
  RtsSettings,
} from "./QueuePair.ts"
export type { SharedReceiveQueue } from "./SharedReceiveQueue.ts"
export { ackTimeout, rnrTimer, type TimeCode, type TimeSetting } from "./Timing.ts"
export { type Errno, VerbsError } from "./VerbsError.ts"
export {
  type BindOptions,
  type Datagram,
  type LocalMemory,
  nextKey,
  type ReadOptions,
  type SendOptions,
  type SendSource,
  type WorkFlags,
  type WriteOptions,
} from "./Work.ts"
export type { WorkBatch, WorkNumber } from "./WorkBatch.ts"
export { CqOverrun, type WorkError, WorkFailed, WorkLost } from "./WorkError.ts"
