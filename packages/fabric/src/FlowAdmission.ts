import type { Time } from "@rdmakit/protocol"
import type { FlowTable } from "./FlowTable.ts"

/** What holds flows back at their hosts. Each flow asks once, when it should start; `Admission` of `workload` is one. */
export interface FlowAdmission {
  /** True: the flow starts now; false: it waits until an end of another admits it. */
  offer(flow: number): boolean
  /** A flow that had started has ended, or failed for good: `admit` is called for each that may start now. */
  ended(flow: number, admit: (flow: number) => void): void
}

/** Admission control of a network. */
export interface AdmissionModel {
  /** Called once for a run. */
  readonly make: (flows: FlowTable) => FlowAdmission
  /** How long a grant is on its way to its sender, ps. Default 0. */
  readonly grantDelayPs?: Time
}
