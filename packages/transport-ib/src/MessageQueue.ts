export { MessageQueue, packetsOf } from "@rdmakit/packet"
