export {
  type KernelName,
  KernelRefused,
  type Run,
  type RunOutcome,
  type RunProgress,
  type SimulateOptions,
  simulate,
  type UnfinishedFlow,
} from "@rdmakit/fabric"
export { networkTooLarge } from "@rdmakit/topology"
export { controllers, type NamedController, type OptionKind } from "./Controllers.ts"
export { flowsCsv, flowsCsvPieces } from "./flowsCsv.ts"
export { generateFlows, generateTopology } from "./Generate.ts"
export {
  type FoundFile,
  findInput,
  type InputFile,
  type Mention,
  readInput,
  type SearchPath,
} from "./InputFile.ts"
export { type InputNote, InputsRefused } from "./InputsRefused.ts"
export { ns3HeadroomBytes } from "./Ns3Checks.ts"
export { ns3FlowOf, ns3FlowsOf, ns3TopologyOf } from "./Ns3Generated.ts"
export { loadNs3Inputs, type Ns3InputOptions, type Ns3Inputs } from "./Ns3Inputs.ts"
export {
  FLOWS_FILE,
  LINKS_FILE,
  type Ns3OutputNames,
  ns3OutputNames,
  PARQUET_FILE,
  REPORT_FILE,
  SUMMARY_FILE,
} from "./Ns3Outputs.ts"
export { type Ns3Files, Ns3Simulation } from "./Ns3Simulation.ts"
export { fairnessByHost, type HostFairness, receiverNames } from "./results/Fairness.ts"
export { LinkTable } from "./results/LinkTable.ts"
export { Recorder, type RecorderOptions } from "./results/Recorder.ts"
export { slowdownByWorkload, slowdownRows, slowdownsOf, type WorkloadSlowdown } from "./results/Slowdowns.ts"
export { type SeriesName, seriesCsv, seriesFile, seriesNames } from "./results/seriesCsv.ts"
export { isScenarioName, isScenarioText, loadScenario, type ScenarioInputs, type ScenarioOptions } from "./Scenario.ts"
export type { FieldFault, FieldPath, FieldSource } from "./ScenarioDocument.ts"
export { ScenarioSimulation } from "./ScenarioSimulation.ts"
export { builders } from "./ScenarioTopologies.ts"
export { isSizesName } from "./ScenarioWorkloads.ts"
export { scenarioJsonSchema } from "./scenarioJsonSchema.ts"
export { ControllerModuleError, userController } from "./UserController.ts"
