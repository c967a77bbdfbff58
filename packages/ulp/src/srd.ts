export {
  CollectiveFailed,
  openMessages,
  type RdmAddress,
  type RdmCompleted,
  RdmFailed,
  type RdmRemoteWrite,
  type SrdMessages,
  type SrdMessagesOptions,
} from "./srd/SrdMessages.ts"
