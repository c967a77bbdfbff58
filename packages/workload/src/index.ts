export { Admission, type AdmissionFlows, type AdmissionLimits } from "./Admission.ts"
export { CdfError, formatCdf, parseCdf } from "./CdfFile.ts"
export { aliStorage2019, fbHadoop, sizeDistributions, webSearch } from "./distributions.ts"
export {
  type IncastMembers,
  type IncastOptions,
  incastFlows,
  incastMembers,
  type RandomIncastOptions,
  randomIncastFlows,
  randomIncastSteps,
} from "./IncastFlows.ts"
export { bisectionLoadBps, hostLoadBps, networkLoadBps } from "./Load.ts"
export {
  allToAllFlows,
  allToAllSteps,
  type PatternOptions,
  permutationFlows,
  permutationSteps,
  type RoundOptions,
  ringFlows,
  ringSteps,
} from "./PatternFlows.ts"
export { type PoissonOptions, poissonFlows, poissonSteps } from "./PoissonFlows.ts"
export { fixedSize, SizeDistribution, type SizePoint } from "./SizeDistribution.ts"
export { STEP_FLOWS, type Steps } from "./Steps.ts"
export { WorkloadError } from "./WorkloadError.ts"
export { bytesOf, labels, listedFlows, mergedFlows, type WorkloadFlow } from "./WorkloadFlow.ts"
