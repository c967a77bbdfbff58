import { hasFields, type QpType, shown } from "@rdmakit/protocol"
import type { CompletionQueue } from "./CompletionQueue.ts"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import { checkFields } from "./Given.ts"
import type { ProtectionDomain } from "./ProtectionDomain.ts"
import type { QpCapabilities } from "./QpAttributes.ts"
import type { DeviceQpType } from "./QpStateTable.ts"
import type { SharedReceiveQueue } from "./SharedReceiveQueue.ts"

/** Number of the general services queue pair, and its queue key (IBTA vol. 1, ch. 16). */
export const GSI_QPN = 1
export const GSI_QUEUE_KEY = 0x80010000
/** The one partition key: the default one, full member. */
export const DEFAULT_PARTITION = 0xffff
/** What a transport has that does not say: SRD is only its own transport's. */
const DEFAULT_TYPES: ReadonlyArray<QpType> = ["rc", "uc", "ud"]

/** What a queue pair is made of (struct ibv_qp_init_attr). */
export interface QpOptions {
  /** `gsi` is QP1: a UD queue pair that the connection manager speaks through; a device has one. */
  readonly type: DeviceQpType
  readonly sendCq: CompletionQueue
  readonly recvCq: CompletionQueue
  readonly srq?: SharedReceiveQueue
  readonly capabilities: QpCapabilities
  /** Every send makes a completion (sq_sig_all). */
  readonly signalAll?: boolean
}

/** The type that the transport has it as. */
const carriedType = (type: DeviceQpType): QpType => (type === "gsi" ? "ud" : type)

const checkShared = (core: DeviceCore, pd: ProtectionDomain, type: DeviceQpType, srq: SharedReceiveQueue): void => {
  if (!hasFields(srq) || srq.pd?.device !== pd.device)
    throw new DeviceError("EINVAL", "create_qp", "srq", "of another device", "make it on this device")
  if (core.transport.sharedReceives?.includes(carriedType(type)) === false) {
    const problem = `the device's ${type} has no shared receive queues`
    throw new DeviceError(
      "EOPNOTSUPP",
      "create_qp",
      "srq",
      problem,
      "leave it out, and post receives to the queue pair",
    )
  }
}

/** @throws DeviceError EINVAL, EOPNOTSUPP */
export const checkQpOptions = (core: DeviceCore, pd: ProtectionDomain, options: QpOptions): void => {
  const { limits } = core
  checkFields("create_qp", "options", options, "say its type, its queues and its capabilities")
  const { capabilities: cap, srq } = options
  const invalid = (attribute: string, problem: string, remedy: string): DeviceError =>
    new DeviceError("EINVAL", "create_qp", attribute, problem, remedy)
  if (!["rc", "uc", "ud", "srd", "gsi"].includes(options.type)) {
    throw new DeviceError(
      "EOPNOTSUPP",
      "create_qp",
      "type",
      `there is no ${shown(options.type)}`,
      "say rc, uc, ud, srd or gsi",
    )
  }
  const types = core.transport.types ?? DEFAULT_TYPES
  if (!types.includes(carriedType(options.type))) {
    const problem = `the device has no ${options.type}`
    throw new DeviceError("EOPNOTSUPP", "create_qp", "type", problem, `say ${types.join(" or ")}`)
  }
  if (options.type === "gsi" && core.queuePairs.has(GSI_QPN))
    throw invalid("type", "QP1 exists", "use the one there is")
  for (const [name, cq] of [
    ["sendCq", options.sendCq],
    ["recvCq", options.recvCq],
  ] as const) {
    if (!hasFields(cq) || cq.device !== pd.device) throw invalid(name, "of another device", "make it on this device")
  }
  if (srq !== undefined) checkShared(core, pd, options.type, srq)
  checkFields("create_qp", "capabilities", cap, "say how much its queues take")
  const check = (name: keyof QpCapabilities, most: number): void => {
    const value = cap[name]
    if (Number.isSafeInteger(value) && value >= 0 && value <= most) return
    throw invalid(`capabilities.${name}`, `${shown(value)} is out of range`, `say 0 to ${most}`)
  }
  check("maxSendWr", limits.maxQpWr)
  check("maxSendSge", limits.maxSge)
  check("maxInlineBytes", limits.maxInlineBytes)
  if (srq !== undefined) return
  check("maxRecvWr", limits.maxQpWr)
  check("maxRecvSge", Math.min(limits.maxSge, limits.maxRecvSge))
}
