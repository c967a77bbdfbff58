/* What `modify` refuses beside the table of states: values out of range, as rxe_qp_chk_attr and the kernel's core do. */
import { Access, QpState, shown } from "@rdmakit/protocol"
import { checkVector } from "./AddressHandle.ts"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import { checkFields } from "./Given.ts"
import { type QpAttributes, qpAttrMask, qpAttrNames } from "./QpAttributes.ts"
import {
  checkQpTransition,
  type DeviceQpType,
  qpStateName,
  qpTransition,
  unsupportedAttributes,
} from "./QpStateTable.ts"

const VERB = "modify_qp"
const MTUS: ReadonlySet<number> = new Set([256, 512, 1024, 2048, 4096])
const STATES: ReadonlySet<number> = new Set(Object.values(QpState))
const ACCESS = Access.LocalWrite | Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic | Access.MwBind

const invalid = (attribute: string, problem: string, remedy: string): DeviceError =>
  new DeviceError("EINVAL", VERB, attribute, problem, remedy)

/** Refuses what are no attributes, and states that are none. @throws DeviceError EINVAL */
export const checkAttributes = (attributes: QpAttributes): void => {
  checkFields(VERB, "attributes", attributes, "give an object of what is to be set")
  for (const name of ["state", "currentState"] as const) {
    const state = attributes[name]
    if (state !== undefined && !STATES.has(state)) throw invalid(name, `${shown(state)} is none`, "take one of QpState")
  }
}

/** Refuses a mask that the transition does not take, and names the attribute. @throws DeviceError EINVAL, EOPNOTSUPP */
export const checkTransition = (type: DeviceQpType, from: QpState, to: QpState, attributes: QpAttributes): void => {
  const unsupported = qpAttrNames(unsupportedAttributes(type, qpAttrMask(attributes)))
  if (unsupported.length > 0) {
    throw new DeviceError("EOPNOTSUPP", VERB, unsupported[0], `${type} has none`, `leave out ${unsupported.join(", ")}`)
  }
  const refusal = checkQpTransition(type, from, to, qpAttrMask(attributes))
  if (refusal === undefined) return
  const way = `${type} ${qpStateName(from)} to ${qpStateName(to)}`
  switch (refusal.type) {
    case "current":
      throw invalid(
        "currentState",
        `${qpStateName(from)} cannot be assumed`,
        "say RTR, RTS, SQD or SQE, or leave it out",
      )
    case "transition":
      throw invalid("state", `there is no way from ${qpStateName(from)} to ${qpStateName(to)}`, nextStates(type, from))
    case "missing": {
      const names = qpAttrNames(refusal.mask)
      throw invalid(names[0]!, `missing for ${way}`, `give ${names.join(", ")}`)
    }
    case "forbidden": {
      const names = qpAttrNames(refusal.mask)
      throw invalid(names[0]!, `not allowed for ${way}`, `leave out ${names.join(", ")}`)
    }
  }
}

const nextStates = (type: DeviceQpType, from: QpState): string => {
  const ways = Object.values(QpState).filter((to) => qpTransition(type, from, to) !== undefined)
  return `go to ${ways.map(qpStateName).join(" or ")}`
}

const checkRange = (attributes: QpAttributes, name: keyof QpAttributes, most: number): void => {
  const value = attributes[name]
  if (value === undefined) return
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= most) return
  throw invalid(name, `${shown(value)} is out of range`, `say 0 to ${most}`)
}

/** Refuses values out of range. @throws DeviceError EINVAL */
export const checkValues = (core: DeviceCore, attributes: QpAttributes): void => {
  const { limits, world } = core
  const { port, pkeyIndex, accessFlags, pathMtuBytes, address } = attributes
  if (port !== undefined && port !== 1) throw invalid("port", `there is no port ${shown(port)}`, "say 1")
  if (pkeyIndex !== undefined && pkeyIndex !== 0)
    throw invalid("pkeyIndex", `there is no key ${shown(pkeyIndex)}`, "say 0")
  if (accessFlags !== undefined && (!Number.isInteger(accessFlags) || (accessFlags & ~ACCESS) !== 0)) {
    throw invalid("accessFlags", `${shown(accessFlags)} has bits that no access flag has`, "use the bits of Access")
  }
  if (pathMtuBytes !== undefined) {
    if (!MTUS.has(pathMtuBytes))
      throw invalid("pathMtuBytes", `${shown(pathMtuBytes)} is no MTU`, "say 256, 512, 1024, 2048 or 4096")
    if (pathMtuBytes > world.link.mtuBytes) {
      throw invalid("pathMtuBytes", `${pathMtuBytes} is more than the port's`, `say at most ${world.link.mtuBytes}`)
    }
  }
  checkRange(attributes, "timeout", 31)
  checkRange(attributes, "minRnrTimer", 31)
  checkRange(attributes, "retryCount", 7)
  checkRange(attributes, "rnrRetry", 7)
  if (attributes.rnrRetry !== undefined && core.transport.rnrRetry === false) {
    throw new DeviceError("EOPNOTSUPP", VERB, "rnrRetry", "the device cannot try again", "leave it out")
  }
  checkRange(attributes, "initiatorDepth", limits.maxQpInitRdAtom)
  checkRange(attributes, "responderResources", limits.maxQpRdAtom)
  checkRange(attributes, "receivePsn", 0xffffffff)
  checkRange(attributes, "sendPsn", 0xffffffff)
  checkRange(attributes, "queueKey", 0xffffffff)
  checkRange(attributes, "destinationQp", 0xffffff)
  if (address !== undefined) checkVector(core, VERB, "address", address)
  if (attributes.alternatePath !== undefined) {
    throw invalid("alternatePath", "there is no path migration on RoCE", "leave it out")
  }
}
