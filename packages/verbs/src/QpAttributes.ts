import type { QpAttributes as DeviceAttributes, QpQuery as DeviceQuery, QpCapabilities } from "@rdmakit/device"
import { type AddressVector, type GidEntry, hasFields } from "@rdmakit/protocol"
import { type Address, vectorOf } from "./AddressHandle.ts"
import { type AccessName, accessBits, accessNames, type StateName, stateName, stateOf } from "./Names.ts"
import { ackTimeout, rnrTimer, type TimeCode, type TimeSetting } from "./Timing.ts"
import { wrongType } from "./VerbsError.ts"

type InWords = "state" | "currentState" | "accessFlags" | "timeout" | "minRnrTimer" | "address" | "alternatePath"

/** What `modify` sets (struct ibv_qp_attr): an attribute that is there counts as one in the mask. */
export interface QpAttributes extends Omit<DeviceAttributes, InWords> {
  /** What the program takes the state to be now: RTR, RTS, SQD or SQE. */
  readonly currentState?: StateName | undefined
  /** What a peer may do. */
  readonly accessFlags?: ReadonlyArray<AccessName> | undefined
  /** Local ACK timeout, "67.1ms", "never" or a code. */
  readonly timeout?: TimeSetting | undefined
  /** "640us" or a code. */
  readonly minRnrTimer?: TimeSetting | undefined
  readonly address?: Address | undefined
  /** Refused: path migration does not exist on RoCE. */
  readonly alternatePath?: Address | undefined
}

/** What a queue pair has been set to, and how it stands. Times come with their codes. */
export interface QpStatus extends Omit<DeviceAttributes, InWords> {
  readonly state: StateName
  /** The send queue drains: SQD is not complete. */
  readonly draining: boolean
  readonly type: DeviceQuery["type"]
  readonly qpn: number
  readonly capabilities: QpCapabilities
  readonly signalAll: boolean
  readonly accessFlags: ReadonlyArray<AccessName> | undefined
  readonly timeout: TimeCode | undefined
  readonly minRnrTimer: TimeCode | undefined
  readonly address: AddressVector | undefined
}

const VERB = "modify_qp"

/** In the units of the device. @throws VerbsError EINVAL, ENOENT */
export const attributesOf = (
  state: StateName | undefined,
  attributes: QpAttributes,
  gids: ReadonlyArray<GidEntry>,
): DeviceAttributes => {
  if (!hasFields(attributes)) throw wrongType(VERB, "attributes", attributes, "give an object, or leave it out")
  const { currentState, accessFlags, timeout, minRnrTimer, address, alternatePath, ...same } = attributes
  return {
    ...same,
    state: state === undefined ? undefined : stateOf(state),
    currentState: currentState === undefined ? undefined : stateOf(currentState),
    accessFlags: accessFlags === undefined ? undefined : accessBits(accessFlags, VERB, "accessFlags"),
    timeout: timeout === undefined ? undefined : ackTimeout(timeout).code,
    minRnrTimer: minRnrTimer === undefined ? undefined : rnrTimer(minRnrTimer).code,
    address: address === undefined ? undefined : vectorOf(address, gids, VERB),
    alternatePath: alternatePath === undefined ? undefined : vectorOf(alternatePath, gids, VERB, "alternatePath"),
  }
}

export const statusOf = (query: DeviceQuery): QpStatus => {
  const { attributes, state, ...rest } = query
  const { accessFlags, timeout, minRnrTimer, address, currentState: _, alternatePath: __, ...same } = attributes
  return {
    ...same,
    ...rest,
    state: stateName(state),
    accessFlags: accessFlags === undefined ? undefined : accessNames(accessFlags),
    timeout: timeout === undefined ? undefined : ackTimeout({ code: timeout }),
    minRnrTimer: minRnrTimer === undefined ? undefined : rnrTimer({ code: minRnrTimer }),
    address,
  }
}
