export { CaptureTap, type CaptureTapOptions, captureLinkTypes, type PacketSink } from "./cable/CaptureTap.ts"
export { type Cable, Middleware, type Receive } from "./cable/Contract.ts"
export { type FaultCounts, FaultInjector, type FaultOptions } from "./cable/Faults.ts"
export { describePacket, Tracer } from "./cable/Trace.ts"
