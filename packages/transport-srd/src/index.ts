export type { SrdConfig, SrdOptions } from "./SrdConfig.ts"
export { SrdOptionsError, srdConfig, srdFraming } from "./SrdConfig.ts"
export { SrdEndpoint } from "./SrdEndpoint.ts"
export { srdFlows } from "./srdFlows.ts"
