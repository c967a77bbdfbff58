export { type HpccEcnOptions, HpccFamilyError, type HpccFamilyOptions, type HpccRttOptions } from "./HpccOptions.ts"
export { hpccFamily } from "./hpccFamily.ts"
