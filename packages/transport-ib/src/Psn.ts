export { PSN_MASK, PSN_WINDOW, psnDistance } from "@rdmakit/packet"
