export * from "./rdmap/Message.ts"
export * from "./rdmap/Terminate.ts"
