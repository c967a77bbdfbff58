export {
  emitTransport,
  ICRC_BYTES,
  parseTransport,
  type Transport,
  transportBytes,
} from "./infiniband/Transport.ts"
export { buildRoce, type RoceCarrier, type RocePacket, rocePacketBytes } from "./roce/Build.ts"
export {
  type Carrier,
  type CrcVerdict,
  checkIcrc,
  type IcrcPart,
  type IcrcPlace,
  icrcOf,
  icrcParts,
  putIcrc,
  readIcrc,
} from "./roce/Icrc.ts"
export { codeOfMtu, mtuOfCode, PATH_MTUS, type PathMtu, pathMtuOf } from "./roce/Mtu.ts"
export { placeInEthernet, placeInInfiniband, placeInIp } from "./roce/Place.ts"
export { connectionSourcePort, datagramSourcePort, flowLabelOf, sourcePortOf } from "./roce/SourcePort.ts"
export { checkVcrc, putVcrc, readVcrc, VCRC_BYTES, vcrcOf } from "./roce/Vcrc.ts"
export { dscpOf, Ecn, ecnOf, trafficClassOf } from "./TrafficClass.ts"
