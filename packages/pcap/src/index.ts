export { CaptureError, type CaptureErrorReason, type CaptureFault } from "./CaptureError.ts"
export { type CaptureInterface, interfaceName, resolutionTicks } from "./Interface.ts"
export { chainCaptures, type MergedRecord, mergeCaptures } from "./Merge.ts"
export {
  type CaptureOption,
  numberOption,
  optionCodes,
  optionNumber,
  optionTexts,
  textOption,
} from "./Option.ts"
export type { CaptureSink } from "./Output.ts"
export { type PcapngInterface, PcapngWriter, type PcapngWriterOptions } from "./PcapngWriter.ts"
export { PcapWriter, type PcapWriterOptions } from "./PcapWriter.ts"
export { CaptureReader, type CaptureReaderOptions, readCapture } from "./Reader.ts"
export {
  type BlockRecord,
  type CaptureRecord,
  type CustomRecord,
  compareTimes,
  type InterfaceRecord,
  type NamesRecord,
  PacketRecord,
  type ResolvedName,
  type SecretsRecord,
  type SectionRecord,
  type StatisticsRecord,
} from "./Record.ts"
export { rotatedSet } from "./Rotation.ts"
