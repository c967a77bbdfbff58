/** What is written of a run as octets; apart from the rest, so that it is loaded only where it is used. */
export { CaptureRefused } from "./results/frameCodec.ts"
export { type CaptureSettings, captureFiles, PortCapture } from "./results/PortCapture.ts"
export { PortNameFault, portName, portNamed, portWords } from "./results/portNames.ts"
