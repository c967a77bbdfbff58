export { ControllerFault, checkController } from "@rdmakit/protocol"
