export * from "./erdma/Completion.ts"
export * from "./erdma/Connect.ts"
export * from "./erdma/Doorbell.ts"
export {
  ERDMA_INLINE_PAGES_MAX,
  type ErdmaMemoryOperation,
  type ErdmaPages,
  type ErdmaRights,
} from "./erdma/Memory.ts"
export * from "./erdma/Receive.ts"
export * from "./erdma/Send.ts"
