export { BenchQueuePair, type QueuePairLoad } from "./BenchQueuePair.ts"
export { ContractViolation } from "./ContractViolation.ts"
export { type Check, type ControllerExpectations, controllerChecks } from "./controllerChecks.ts"
export { controllerSuite } from "./controllerSuite.ts"
export { type DumbbellOptions, type DumbbellRun, dumbbell } from "./Dumbbell.ts"
export {
  type Crossing,
  type End,
  EnginePair,
  type EnginePairOptions,
  type PairEvent,
  telemetryAlive,
} from "./EnginePair.ts"
export type { FlowState } from "./FlowWatch.ts"
export { fixedWindow, flowAddress, flowEnds } from "./flowEnds.ts"
export { type MadeNic, NicBench, type NicDeparture, type NicSetup } from "./NicBench.ts"
export { type NicExpectations, type NicUnderTest, nicChecks } from "./nicChecks.ts"
export { nicSuite } from "./nicSuite.ts"
export { idleController, type OptionsUnderTest, optionsSuite, refusalOf, WRONG_VALUES } from "./optionsSuite.ts"
export { type RandomFlows, type RestlessLaw, randomPath, restlessWindow, runRandomFlows } from "./randomFlows.ts"
export { SeededDraws } from "./SeededDraws.ts"
export type { DumbbellFlow } from "./Sender.ts"
export { type Burst, SwitchBench, type SwitchEvent, type SwitchSetup } from "./SwitchBench.ts"
export { type AckScript, type Hop, scriptedAck } from "./scriptedAck.ts"
export { type RunSeed, seedSuite } from "./seedSuite.ts"
export { type SwitchExpectations, type SwitchUnderTest, switchChecks } from "./switchChecks.ts"
export { switchSuite } from "./switchSuite.ts"
export { BASE, LOCAL_KEY, REMOTE_KEY, TestMemory, WINDOW_KEY } from "./TestMemory.ts"
export {
  type Outcome,
  type TransportExpectations,
  type TransportUnderTest,
  transportChecks,
} from "./transportChecks.ts"
export { type CountingEnd, flowSuite, flowsUnderTest, transportSuite } from "./transportSuite.ts"
export { WatchedController } from "./WatchedController.ts"
