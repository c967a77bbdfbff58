export { Addresses } from "./Addresses.ts"
export { CaptureAnalysis } from "./CaptureAnalysis.ts"
export { Clock } from "./Clock.ts"
export { type Diagnosis, diagnose } from "./diagnosis/Diagnosis.ts"
export type { Cause, Finding, FindingKind, Likelihood, Subject } from "./diagnosis/Finding.ts"
export { type ConnectionRow, connectionRows, type FlowRow, flowRows } from "./FlowRows.ts"
export { Conversations } from "./flows/Conversations.ts"
export { Flow } from "./flows/Flow.ts"
export { Histogram } from "./Histogram.ts"
export { Observer } from "./Observer.ts"
export { type Operation, operationOf } from "./Operations.ts"
export { Overview, type OverviewCounts } from "./Overview.ts"
export { FilterError, filterTerms, PacketFilter } from "./PacketFilter.ts"
export { lineOf, type PacketLine, syndromeText } from "./PacketLine.ts"
export { type PauseSeries, Pauses } from "./Pauses.ts"
export {
  type RateField,
  type RateRow,
  Rates,
  type RatesOptions,
  type RatesResult,
  rateFields,
  type Talker,
} from "./Rates.ts"
export { Sighting, type SightingKind } from "./Sighting.ts"
export { type Crc, type Verdicts, Verifier } from "./Verifier.ts"
