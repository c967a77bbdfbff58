import { type Ack, type Controller, type FlowEngine, TELEMETRY_FIELDS, type Time, unpaced } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"

/** What an end of a flow says of itself. */
export type FlowState = Pick<FlowEngine, "controller" | "controllerActions" | "retransmissions" | "bytesAcknowledged">

/** What the suite knows of an end, whatever that says. */
export interface FlowFacts {
  readonly now: () => Time
  /** Bytes of the messages that it was given, and of those that have reached the peer, each once. */
  readonly givenBytes: () => number
  readonly arrivedBytes: () => number
  /** Shortest time there and back, ps. */
  readonly leastRttPs: Time
  /** Nothing is lost, duplicated or overtaken. */
  readonly isSound: boolean
  /** Packets overtake each other, and so do acknowledgements. */
  readonly isShuffled: boolean
  /** What was acknowledged may have to be sent again. */
  readonly restarts: boolean
}

/** The watch that listens to a controller: the latest, for some are used again. */
const listeners = new WeakMap<Controller, FlowWatch>()

/**
 * Listens to what an end of a flow tells its controller, and holds it and what the end says of itself against the
 * contract of `Controller` and `FlowEngine`. Not to `unpaced`, which stands in where an end only responds.
 */
export class FlowWatch {
  private readonly end: FlowState
  private readonly facts: FlowFacts
  /** The highest that was acknowledged, bytes; where it restarts, the last. */
  private sequence = 0
  /** What acknowledgements newly acknowledged, bytes. */
  private newBytes = 0
  /** Bytes of the packets that `onSent` told of since the last one left. */
  private told: Array<number> = []
  private actions = 0
  private acknowledged = 0
  private retransmissions = 0
  /** PSNs of the packets that have left, and how many left again. */
  private readonly left = new Set<number>()
  private again = 0

  constructor(end: FlowState, facts: FlowFacts) {
    this.end = end
    this.facts = facts
    if (end.controller !== unpaced) listen(end.controller, this)
  }

  /** `bytes` is of the packet that leaves. */
  sent(bytes: number): void {
    this.told.push(bytes)
  }

  acked(now: Time, ack: Ack): void {
    this.called("onAck", now)
    const { sequence, sent, bytes, rttPs, congestion, hops, telemetry, telemetryAt, pint } = ack
    const arrived = this.facts.arrivedBytes()
    const [given, before] = [this.facts.givenBytes(), this.sequence]
    for (const [name, value] of Object.entries({ sequence, sent, bytes, hops, telemetryAt })) {
      if (!(Number.isSafeInteger(value) && value >= 0))
        fail(`onAck: ${name} is ${value}, no whole number of at least 0`)
    }
    const { isShuffled, restarts } = this.facts
    if (sequence < before && !restarts) {
      if (!isShuffled) fail(`onAck: sequence fell from ${before} to ${sequence}`)
      // One that was overtaken says what the receiver had when it left.
      if (bytes !== 0) fail(`onAck: bytes is ${bytes}, and sequence fell from ${before} to ${sequence}`)
    }
    if (sequence > arrived) fail(`onAck: sequence is ${sequence}, and ${arrived} bytes have reached the peer`)
    if (sent < sequence) fail(`onAck: sent is ${sent}, less than the ${sequence} bytes that are acknowledged`)
    if (sent > given) fail(`onAck: sent is ${sent}, more than the ${given} bytes that it was given`)
    // After a restart the last one may have been an old one.
    if (sequence > before && bytes === 0 && !(restarts && isShuffled))
      fail(`onAck: bytes is 0, and sequence rose from ${before} to ${sequence}`)
    this.sequence = restarts ? sequence : Math.max(before, sequence)
    this.newBytes += bytes
    if (this.newBytes < sequence) fail(`onAck: bytes are ${this.newBytes} in all, and sequence is ${sequence}`)
    if (this.newBytes > arrived && !restarts)
      fail(`onAck: bytes are ${this.newBytes} in all, and ${arrived} have reached the peer`)
    if (rttPs < this.facts.leastRttPs || rttPs === Number.POSITIVE_INFINITY) {
      fail(`onAck: rttPs is ${rttPs}, and the way there and back takes ${this.facts.leastRttPs} ps`)
    }
    if (typeof congestion !== "boolean") fail(`onAck: congestion is ${String(congestion)}, not a boolean`)
    if (telemetryAt + TELEMETRY_FIELDS * hops > telemetry.length) fail(`onAck: telemetry has no room for ${hops} hops`)
    if (!(Number.isSafeInteger(pint) && pint >= -1)) fail(`onAck: pint is ${pint}, neither a digest nor -1`)
  }

  /** A call of the controller at a time. */
  called(call: string, now: Time): void {
    if (now !== this.facts.now()) fail(`${call} at ${now} ps, when it is ${this.facts.now()}`)
    if (call === "onCnp") fail("onCnp, though no CNP came")
  }

  lost(timeout: boolean): void {
    if (typeof timeout !== "boolean") fail(`onLoss: timeout is ${String(timeout)}, not a boolean`)
    if (this.facts.isSound) fail(`onLoss (${timeout ? "a timeout" : "no timeout"}), though nothing was lost`)
  }

  /** The controller's law ran, or did not. */
  ran(acted: boolean): boolean {
    if (acted) this.actions++
    return acted
  }

  /** A packet left. */
  leaves(isData: boolean, psn: number, payloadBytes: number): void {
    const { told } = this
    this.told = []
    if (this.end.controller !== unpaced) {
      if (!isData && told.length > 0) fail("onSent, though no data packet left")
      if (isData && (told.length !== 1 || told[0] !== payloadBytes)) {
        fail(`a data packet of ${payloadBytes} bytes left, and onSent was told [${told.join()}]`)
      }
    }
    if (!isData) return
    if (this.left.has(psn)) this.again++
    this.left.add(psn)
    this.check()
  }

  /** What the end says of itself, at any time. */
  check(): void {
    const { bytesAcknowledged, retransmissions, controllerActions } = this.end
    const arrived = this.facts.arrivedBytes()
    if (!(Number.isSafeInteger(bytesAcknowledged) && bytesAcknowledged >= this.acknowledged)) {
      fail(`bytesAcknowledged is ${bytesAcknowledged}, after ${this.acknowledged}`)
    }
    if (bytesAcknowledged > arrived) {
      fail(`bytesAcknowledged is ${bytesAcknowledged}, and ${arrived} bytes have reached the peer`)
    }
    if (!(Number.isSafeInteger(retransmissions) && retransmissions >= this.retransmissions)) {
      fail(`retransmissions is ${retransmissions}, after ${this.retransmissions}`)
    }
    if (retransmissions < this.again || (this.facts.isSound && retransmissions > 0)) {
      fail(`retransmissions is ${retransmissions}, and ${this.again} packets left again`)
    }
    if (this.end.controller !== unpaced && controllerActions !== this.actions) {
      fail(`controllerActions is ${controllerActions}, and the controller's law ran ${this.actions} times`)
    }
    this.acknowledged = bytesAcknowledged
    this.retransmissions = retransmissions
  }

  /** A message ended, of `bytes`; with those of the ones that completed before it, `completed` in all. */
  ended(completed: number): void {
    this.check()
    if (this.acknowledged < completed) {
      fail(`messages of ${completed} bytes have completed, and bytesAcknowledged is ${this.acknowledged}`)
    }
  }

  /** All messages completed. */
  completed(total: number): void {
    this.check()
    if (this.acknowledged !== total) fail(`${total} bytes completed, and bytesAcknowledged is ${this.acknowledged}`)
    if (this.end.controller === unpaced) return
    const { isShuffled, restarts } = this.facts
    if (this.sequence !== total && !(restarts && isShuffled))
      fail(`${total} bytes completed, and sequence came to ${this.sequence}`)
    if (this.newBytes !== total && !restarts)
      fail(`${total} bytes completed, and the acks' bytes were ${this.newBytes} in all`)
  }
}

/** Has a watch hear of every call of a controller before the controller does. */
const listen = (controller: Controller, watch: FlowWatch): void => {
  const isHeard = listeners.has(controller)
  listeners.set(controller, watch)
  if (isHeard) return
  const heard = (): FlowWatch => listeners.get(controller)!
  const { onSent, onAck, onCnp, onLoss, onTimer } = controller
  const calls: Pick<Controller, "onSent" | "onAck" | "onCnp" | "onLoss" | "onTimer"> = {
    onSent: (now, bytes) => {
      heard().called("onSent", now)
      heard().sent(bytes)
      onSent.call(controller, now, bytes)
    },
    onAck: (now, ack) => {
      heard().acked(now, ack)
      return heard().ran(onAck.call(controller, now, ack))
    },
    onCnp: (now) => {
      heard().called("onCnp", now)
      return heard().ran(onCnp.call(controller, now))
    },
    onLoss: (now, timeout) => {
      heard().called("onLoss", now)
      heard().lost(timeout)
      return heard().ran(onLoss.call(controller, now, timeout))
    },
    onTimer: (now, timer) => {
      heard().called("onTimer", now)
      // Of several timers the one that fires is idle by now.
      if (controller.timers === undefined && controller.nextTimer > now) {
        fail(`onTimer at ${now} ps, and nextTimer is ${controller.nextTimer}`)
      }
      return heard().ran(onTimer.call(controller, now, timer))
    },
  }
  Object.assign(controller, calls)
}
