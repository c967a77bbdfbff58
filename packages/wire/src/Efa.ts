export * from "./efa/Completion.ts"
export { type EfaBuffer, EfaOpcode, type EfaOperation, type EfaWideOperation } from "./efa/Operation.ts"
export * from "./efa/Receive.ts"
export * from "./efa/Send.ts"
