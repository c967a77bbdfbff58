export { additiveIncreaseBytes } from "./additiveIncrease.ts"
export {
  type HpccNs3Options,
  type HpccOptions,
  HpccOptionsError,
  type HpccPaperOptions,
  type HpccReaction,
} from "./HpccOptions.ts"
export { hpcc } from "./hpcc.ts"
export { hpccPresets } from "./presets.ts"
