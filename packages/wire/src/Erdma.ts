export * from "./erdma/Completion.ts"
export * from "./erdma/Doorbell.ts"
export * from "./erdma/Receive.ts"
export * from "./erdma/Send.ts"
