export { swiftPresets } from "./presets.ts"
export { type SwiftOptions, SwiftOptionsError } from "./SwiftOptions.ts"
export { swift } from "./swift.ts"
