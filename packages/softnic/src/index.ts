export { hostGid } from "./Address.ts"
export { Clock } from "./Clock.ts"
export type { Counters } from "./Counters.ts"
export type { EthernetOptions } from "./EthernetLink.ts"
export type { FrameDatagramsOptions } from "./FrameDatagrams.ts"
export type { FrameStreamOptions, StreamPlace } from "./FrameStream.ts"
export { type IwarpDeviceOptions, type IwarpNic, iwarpLayer, openIwarp } from "./iwarp/openIwarp.ts"
export type { IwarpOptions, IwarpPeer } from "./iwarp/Places.ts"
export {
  layer,
  openSoftnic,
  type Softnic,
  type SoftnicLink,
  type SoftnicOptions,
  Softnics,
  type Through,
} from "./Softnic.ts"
export { SoftnicError } from "./SoftnicError.ts"
export type { SoftWorldOptions } from "./SoftWorld.ts"
export type { UdpPeer } from "./UdpCable.ts"
export type { UdpOptions } from "./UdpLink.ts"
