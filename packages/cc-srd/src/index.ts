export { SrdControlError, type SrdControlOptions } from "./SrdControlOptions.ts"
export { srd } from "./srd.ts"
