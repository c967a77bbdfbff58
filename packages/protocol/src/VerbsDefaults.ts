import { type Completion, type QpSettings, WcOpcode, WcStatus, WrOpcode } from "./Verbs.ts"

/** What the completion of a work request is called (libibverbs: enum ibv_wc_opcode). */
export const completionOpcodes: Readonly<Record<WrOpcode, WcOpcode>> = {
  [WrOpcode.RdmaWrite]: WcOpcode.RdmaWrite,
  [WrOpcode.RdmaWriteWithImm]: WcOpcode.RdmaWrite,
  [WrOpcode.Send]: WcOpcode.Send,
  [WrOpcode.SendWithImm]: WcOpcode.Send,
  [WrOpcode.RdmaRead]: WcOpcode.RdmaRead,
  [WrOpcode.AtomicCmpAndSwp]: WcOpcode.CompSwap,
  [WrOpcode.AtomicFetchAndAdd]: WcOpcode.FetchAdd,
  [WrOpcode.LocalInv]: WcOpcode.LocalInv,
  [WrOpcode.BindMw]: WcOpcode.BindMw,
  [WrOpcode.SendWithInv]: WcOpcode.Send,
  [WrOpcode.AtomicWrite]: WcOpcode.AtomicWrite,
}

/** A completion that says nothing. */
export const blankCompletion: Completion = {
  id: 0,
  status: WcStatus.Success,
  opcode: 0,
  byteLength: 0,
  immediate: undefined,
  invalidatedKey: undefined,
  qpn: 0,
  sourceQp: 0,
  grh: false,
  vendorError: 0,
}

/** What a queue pair that was never modified is set to: the default partition (IBTA 1.7 §10.9.1), the largest path MTU. */
export const blankSettings: QpSettings = {
  accessFlags: 0,
  partition: 0xffff,
  queueKey: 0,
  path: undefined,
  pathMtuBytes: 4096,
  destinationQp: 0,
  receivePsn: 0,
  sendPsn: 0,
  responderResources: 0,
  initiatorDepth: 0,
  minRnrTimer: 0,
  timeout: 0,
  retryCount: 0,
  rnrRetry: 0,
}
