export type { Flow } from "./FlowTable.ts"
export { FlowTable } from "./FlowTable.ts"
export type { MakeNic, MakeSwitch, Sampler, SwitchContext, WorldParts } from "./World.ts"
export { World } from "./World.ts"
