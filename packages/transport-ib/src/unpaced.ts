export { unpaced } from "@rdmakit/protocol"
