export * from "./efa/Completion.ts"
export * from "./efa/Receive.ts"
export * from "./efa/Send.ts"
