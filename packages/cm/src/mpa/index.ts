export { MpaError, MpaHandshake, type MpaOptions } from "./MpaHandshake.ts"
export type {
  ErdmaParameters,
  IwarpParameters,
  MpaAgreement,
  MpaEvent,
  MpaParameters,
  MpaReason,
} from "./Parameters.ts"
