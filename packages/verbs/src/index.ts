export {
  type AccessName,
  accessBits,
  accessNames,
  type OpcodeName,
  opcodeName,
  type StateName,
  type StatusName,
  statusName,
  statusText,
} from "./Names.ts"
export { ackTimeout, rnrTimer, type TimeCode, type TimeSetting } from "./Timing.ts"
export { type Errno, VerbsError } from "./VerbsError.ts"
