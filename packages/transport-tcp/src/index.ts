export type { TcpConfig, TcpTransportOptions } from "./TcpConfig.ts"
export { TcpTransportError, tcpConfig, tcpFraming } from "./TcpConfig.ts"
export { TcpEndpoint } from "./TcpEndpoint.ts"
export { tcpFlows } from "./tcpFlows.ts"
