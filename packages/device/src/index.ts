export { AddressHandle } from "./AddressHandle.ts"
export type { Allocation } from "./AddressSpace.ts"
export type { AsyncEvent } from "./AsyncEvents.ts"
export { CompletionQueue } from "./CompletionQueue.ts"
export { Device, type DeviceOptions } from "./Device.ts"
export { type DeviceAttributes, type DeviceLimits, type PortAttributes, rxeLimits } from "./DeviceAttributes.ts"
export { DeviceError, type Errno } from "./DeviceError.ts"
export { efaLimits } from "./EfaLimits.ts"
export { erdmaLimits } from "./ErdmaLimits.ts"
export { MemoryRegion, type RegionChanges, type RegionOptions } from "./MemoryRegion.ts"
export { MemoryWindow } from "./MemoryWindow.ts"
export { ProtectionDomain, ThreadDomain } from "./ProtectionDomain.ts"
export { QpAttr, type QpAttributes, type QpCapabilities, qpAttrMask, qpAttrNames, qpAttrOf } from "./QpAttributes.ts"
export { DEFAULT_PARTITION, GSI_QPN, GSI_QUEUE_KEY, type QpOptions } from "./QpOptions.ts"
export {
  checkQpTransition,
  type DeviceQpType,
  type QpRefusal,
  type QpTransition,
  qpStateName,
  qpTransition,
} from "./QpStateTable.ts"
export { type QpQuery, QueuePair, type WindowBind } from "./QueuePair.ts"
export type { ResourceCounts } from "./Resources.ts"
export { SharedReceiveQueue, type SrqOptions } from "./SharedReceiveQueue.ts"
export type { SendBind, SendDatagram, SendWork } from "./WorkRequests.ts"
