export {
  ENDPOINTS_MAX,
  endpointOfQp,
  ipv4OfNode,
  macOfNode,
  nodeOfIpv4,
  nodeOfMac,
  qpOfEndpoint,
} from "./Addresses.ts"
export { CodecError } from "./CodecError.ts"
export { type IntLayout, intLayouts, intPorts, intRefusal } from "./IntHeader.ts"
export { payloadOctet } from "./Payload.ts"
export {
  type Decoded,
  FRAME_OVERHEAD_BYTES,
  type Link,
  PAYLOAD_BYTES_MAX,
  RoceCodec,
  type RoceCodecOptions,
} from "./RoceCodec.ts"
