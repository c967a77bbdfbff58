export { CarriedOpening } from "./CarriedOpening.ts"
export { MpaError, MpaHandshake, type MpaOptions, type MpaReads } from "./MpaHandshake.ts"
export type {
  ErdmaParameters,
  IwarpParameters,
  MpaAgreement,
  MpaEvent,
  MpaParameters,
  MpaReason,
} from "./Parameters.ts"
