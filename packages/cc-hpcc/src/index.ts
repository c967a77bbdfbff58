export { additiveIncreaseBytes } from "./additiveIncrease.ts"
export {
  type HpccNs3Options,
  type HpccOptions,
  HpccOptionsError,
  type HpccPaperOptions,
  type HpccReaction,
} from "./HpccOptions.ts"
export type { HpccPintNs3Options, HpccPintOptions, HpccPintPaperOptions } from "./HpccPintOptions.ts"
export { hpcc } from "./hpcc.ts"
export { hpccPint } from "./hpccPint.ts"
export { hpccPintPresets } from "./pintPresets.ts"
export { hpccPresets } from "./presets.ts"
