export {
  type DctcpNs3Options,
  type DctcpOptions,
  DctcpOptionsError,
  type DctcpPaperOptions,
  type DctcpWindow,
} from "./DctcpOptions.ts"
export { dctcp } from "./dctcp.ts"
export { markingThresholdBytes, simulationThresholdBytes } from "./markingThreshold.ts"
export { dctcpPresets } from "./presets.ts"
