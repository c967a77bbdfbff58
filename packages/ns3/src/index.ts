export { type BucketOptions, compareFct, type FctComparison, type FctPair, slowdownBuckets } from "./Buckets.ts"
export {
  applyOverrides,
  type ConfigEntry,
  type ConfigFile,
  formatConfig,
  idleEntries,
  type OtherController,
  parseConfig,
} from "./Config.ts"
export {
  type CcMode,
  type ConfigEffect,
  type ConfigKey,
  type ConfigType,
  ccModes,
  configKeys,
} from "./ConfigKey.ts"
export type { ConfigValue, LinkDown, Ns3Config } from "./ConfigView.ts"
export {
  baseRttNs,
  type FctForm,
  formatFct,
  formatFctLine,
  type Hop,
  type Ns3Fcts,
  parseFct,
  standaloneFctNs,
} from "./Fct.ts"
export { flowsOf, formatFlow, formatFlows, type Ns3Flow, type Ns3Flows, parseFlows } from "./Flow.ts"
export { formatNote, type Ns3Fault, Ns3FormatError, type Ns3Note, type Ns3Place, nearestWord } from "./FormatError.ts"
export { checkLinkRates, intRatesBps } from "./LinkRates.ts"
export { isNodeIp, linkIp, nodeIp, nodeOfIp } from "./NodeAddress.ts"
export { formatPfc, formatPfcLine, type PfcEvents, parsePfc } from "./Pfc.ts"
export { formatQlen, parseQlen, type QlenDump, type QlenFile, type QlenPort } from "./Qlen.ts"
export { formatTopology, linkDelayNs, type Ns3Link, type Ns3Topology, parseTopology, switchFlags } from "./Topology.ts"
export {
  readTr,
  type TrHeader,
  type TrPort,
  TrReader,
  TrRecord,
  trEvents,
  trProtocols,
} from "./Tr.ts"
export { formatTraceList, parseTraceList, type TraceList } from "./TraceList.ts"
export {
  compareTr,
  TrComparer,
  type TrComparison,
  type TrDifference,
  type TrFieldDifference,
  type TrSide,
} from "./TrCompare.ts"
export { parseTrFilter, type TrFilter } from "./TrFilter.ts"
export { encodeTrHeader, trHeaderOf } from "./TrHeader.ts"
export { formatRecord } from "./TrText.ts"
export { type TrSink, TrWriter } from "./TrWriter.ts"
