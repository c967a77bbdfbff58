export { PacketSet } from "@rdmakit/packet"
