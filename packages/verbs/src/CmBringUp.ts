import type { CmSettings } from "@rdmakit/cm"
import { DeviceError, QueuePair as DeviceQp } from "@rdmakit/device"
import { Access, QpState } from "@rdmakit/protocol"
import { vectorOf } from "./CmPort.ts"
import { type AccessName, accessBits } from "./Names.ts"
import type { QueuePair } from "./QueuePair.ts"
import { ackTimeout, rnrTimer, type TimeSetting } from "./Timing.ts"
import { VerbsError, wrongType } from "./VerbsError.ts"

/** What no peer has a say in. */
export interface BringUpOptions {
  /** What the peer may do. Default as rdma_cm: write, and with responder resources read and atomics. */
  readonly accessFlags?: ReadonlyArray<AccessName>
  /** How long a peer waits, at least, where no receive was posted. Default "640us"; rdma_cm has 655.36 ms, code 0. */
  readonly minRnrTimer?: TimeSetting
  /** Local ACK timeout of this side's queue pair. Default: what both sides' connection managers reckon. */
  readonly ackTimeout?: TimeSetting
}

const DEFAULT_RNR_TIMER = "640us"
/** RDMA_UDP_QKEY: what every datagram queue pair of the UDP port space has. */
export const CM_QUEUE_KEY = 0x01234567

/** RESET to INIT, so that receives can be posted; nothing is allowed yet. */
export const initialise = ({ handle }: QueuePair): void => {
  if (handle.state === QpState.Reset) handle.modify({ state: QpState.Init, pkeyIndex: 0, port: 1, ...keyOf(handle) })
}

const keyOf = ({ type }: DeviceQp) => (type === "ud" ? { queueKey: CM_QUEUE_KEY } : { accessFlags: 0 })

/** Refuses what is no queue pair. @throws VerbsError EINVAL */
export const checkIsQueuePair = (verb: string, queuePair: QueuePair): void => {
  if (!(queuePair?.handle instanceof DeviceQp)) throw wrongType(verb, "queuePair", queuePair, "give one of this device")
}

/** @throws VerbsError EINVAL for a queue pair that is connected already, or of another kind than the connection */
export const checkQueuePair = (verb: string, queuePair: QueuePair, type: "rc" | "uc" | "ud" | "any"): void => {
  checkIsQueuePair(verb, queuePair)
  const { handle } = queuePair
  const refuse = (problem: string, remedy: string): never => {
    throw new VerbsError({ errno: "EINVAL", verb, attribute: "queuePair", problem, remedy })
  }
  if (type === "any" ? handle.type !== "rc" && handle.type !== "uc" : handle.type !== type)
    refuse(`it is ${handle.type}`, `take one of type ${type === "any" ? "rc or uc" : type}`)
  if (handle.state !== QpState.Reset && handle.state !== QpState.Init)
    refuse(`it is in ${queuePair.state}`, "take one in RESET or INIT")
}

/** Through INIT and RTR to RTS, with what both sides have said (cma_modify_qp_rtr, cma_modify_qp_rts). @throws DeviceError */
export const bringUp = (queuePair: QueuePair, settings: CmSettings, options: BringUpOptions): void => {
  const { handle } = queuePair
  const { responderResources, initiatorDepth, route } = settings
  const timeout = options.ackTimeout === undefined ? settings.timeout : ackTimeout(options.ackTimeout).code
  const reliable = handle.type === "rc"
  const reads = reliable && responderResources > 0 ? Access.RemoteRead | Access.RemoteAtomic : 0
  const accessFlags = options.accessFlags === undefined ? Access.RemoteWrite | reads : accessBits(options.accessFlags)
  initialise(queuePair)
  handle.modify({ state: QpState.Init, accessFlags })
  handle.modify({
    state: QpState.Rtr,
    address: vectorOf(handle.device, route),
    pathMtuBytes: settings.pathMtuBytes,
    destinationQp: settings.destinationQp,
    receivePsn: settings.receivePsn,
    ...(reliable ? { responderResources, minRnrTimer: rnrTimer(options.minRnrTimer ?? DEFAULT_RNR_TIMER).code } : {}),
  })
  handle.modify({
    state: QpState.Rts,
    sendPsn: settings.sendPsn,
    ...(reliable ? { timeout, retryCount: settings.retryCount, rnrRetry: settings.rnrRetry, initiatorDepth } : {}),
  })
}

/** A datagram queue pair to RTS. @throws DeviceError */
export const bringUpDatagrams = (queuePair: QueuePair): void => {
  const { handle } = queuePair
  initialise(queuePair)
  if (handle.state === QpState.Init) handle.modify({ state: QpState.Rtr })
  if (handle.state === QpState.Rtr) handle.modify({ state: QpState.Rts, sendPsn: queuePair.psn })
}

/** What is posted is flushed; the queue pair may be gone already, with its scope. */
export const takeDown = ({ handle }: QueuePair): void => {
  try {
    if (handle.state !== QpState.Reset && handle.state !== QpState.Err) handle.modify({ state: QpState.Err })
  } catch (thrown) {
    if (!(thrown instanceof DeviceError)) throw thrown
  }
}
