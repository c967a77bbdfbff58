export {
  type DcqcnNotification,
  type DcqcnNs3Options,
  type DcqcnOptions,
  DcqcnOptionsError,
  type DcqcnOrder,
  type DcqcnPaperOptions,
  type DcqcnVendorOptions,
  type DcqcnWindow,
} from "./DcqcnOptions.ts"
export { dcqcn } from "./dcqcn.ts"
export { dcqcnPresets } from "./presets.ts"
