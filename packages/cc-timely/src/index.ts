export { timelyPresets } from "./presets.ts"
export {
  type TimelyNs3Options,
  type TimelyOptions,
  TimelyOptionsError,
  type TimelyPaperOptions,
  type TimelyPatchedOptions,
  type TimelyWindow,
} from "./TimelyOptions.ts"
export { timely } from "./timely.ts"
