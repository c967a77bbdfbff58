export {
  applyOverrides,
  type ConfigEntry,
  type ConfigFile,
  formatConfig,
  idleEntries,
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
  slowdownOf,
  standaloneFctNs,
} from "./Fct.ts"
export { flowsOf, formatFlows, type Ns3Flow, type Ns3Flows, parseFlows, startText } from "./Flow.ts"
export { formatNote, type Ns3Fault, Ns3FormatError, type Ns3Note, type Ns3Place } from "./FormatError.ts"
export { isNodeIp, linkIp, nodeIp, nodeOfIp } from "./NodeAddress.ts"
export { formatTopology, type Ns3Link, type Ns3Topology, parseTopology, switchFlags } from "./Topology.ts"
