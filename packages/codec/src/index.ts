export {
  ENDPOINTS_MAX,
  endpointOfQp,
  ipv4OfNode,
  type Link,
  macOfNode,
  nodeOfIpv4,
  nodeOfMac,
  qpOfEndpoint,
} from "./Addresses.ts"
export { CodecError } from "./CodecError.ts"
export { type IntLayout, intLayouts, intPorts, intRefusal } from "./IntHeader.ts"
export { payloadOctet } from "./Payload.ts"
export { Refusal, refusalNames } from "./Refusal.ts"
export {
  type Decoded,
  FRAME_OVERHEAD_BYTES,
  PAYLOAD_BYTES_MAX,
  RoceCodec,
  type RoceCodecOptions,
} from "./RoceCodec.ts"
export { isMapped, Route, type RouteOptions } from "./Route.ts"
export type { TcpFlows } from "./Segments.ts"
export { TcpCodec, type TcpCodecOptions } from "./TcpCodec.ts"
export { VERBS_HEADERS_BYTES_MAX, VerbsCodec } from "./VerbsCodec.ts"
