export { type TcpOptions, TcpOptionsError } from "./TcpOptions.ts"
export { tcp } from "./tcp.ts"
