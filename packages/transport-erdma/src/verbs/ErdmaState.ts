import { QpState } from "@rdmakit/protocol"

/** States of a queue pair as the driver and its device have them (Linux, erdma_verbs.h: enum erdma_qps_iwarp). */
export type ErdmaState = "IDLE" | "RTR" | "RTS" | "CLOSING" | "TERMINATE" | "ERROR"

const states: Readonly<Record<QpState, ErdmaState>> = {
  [QpState.Reset]: "IDLE",
  [QpState.Init]: "IDLE",
  [QpState.Rtr]: "RTR",
  [QpState.Rts]: "RTS",
  [QpState.Sqd]: "CLOSING",
  [QpState.Sqe]: "TERMINATE",
  [QpState.Err]: "ERROR",
}

/** What a state of the verbs is to the driver (erdma_verbs.c: ib_to_iwarp_qps). */
export const erdmaStateOf = (state: QpState): ErdmaState => states[state]
