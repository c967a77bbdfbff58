import {
  ControllerFault,
  type FlowAddress,
  type FlowEngine,
  type FlowEvent,
  type FlowTransport,
  hasFields,
  OptionError,
  shown,
  type Time,
  TransportFault,
} from "@rdmakit/protocol"
import { TransportInvalid } from "./TransportModel.ts"

type MakeEnd = ReturnType<FlowTransport["open"]>

/** What a world calls an end of a flow by. */
const METHODS = [
  "handlePacket",
  "handleTimeout",
  "command",
  "pollTransmit",
  "pollEvent",
  "lendTimers",
  "handleTimer",
] as const

/**
 * How the ends of a transport's flows are made, each looked at when it has been made.
 *
 * @param hops switches on the longest path
 * @throws TransportInvalid where the transport makes none; what it gives throws `TransportFault` for what is no end, and
 * `ControllerFault` where a part refuses the flow's path
 */
export const flowEnds = (transport: FlowTransport, hops: number): MakeEnd => {
  const make: unknown = transport.open(hops)
  if (typeof make !== "function") {
    throw new TransportInvalid("what open gave", make, "a function that makes the ends of flows, (now, address)")
  }
  /** Ends of one class have the same methods: those of the last that were looked at. */
  let known: unknown
  return (now, address) => {
    const end = madeEnd(make as MakeEnd, now, address)
    const kind: unknown = hasFields(end) ? Object.getPrototypeOf(end) : undefined
    if (kind !== known || kind === undefined || kind === Object.prototype) {
      checkEnd(end, now, address)
      known = kind
    }
    if (end.flow !== address.flow || end.node !== address.node || end.priority !== address.priority) {
      refuseAddress(end, now, address)
    }
    return end
  }
}

const madeEnd = (make: MakeEnd, now: Time, address: FlowAddress): FlowEngine => {
  try {
    return make(now, address)
  } catch (error) {
    if (error instanceof OptionError) throw new ControllerFault(error.message, address.flow >> 1, now)
    throw error
  }
}

const checkEnd = (end: unknown, now: Time, { flow }: FlowAddress): void => {
  if (!hasFields(end)) throw new TransportFault(`it made ${shown(end)}, expected an end, a FlowEngine`, flow >> 1, now)
  for (const name of METHODS) {
    const method = (end as Partial<FlowEngine>)[name]
    if (typeof method === "function") continue
    throw new TransportFault(`${name} of an end is ${shown(method)}, expected a function`, flow >> 1, now)
  }
}

const refuseAddress = (end: FlowEngine, now: Time, address: FlowAddress): never => {
  const field = (["flow", "node", "priority"] as const).find((name) => end[name] !== address[name])!
  const what = `${field} of an end is ${shown(end[field])}, expected that of its address, ${address[field]}`
  throw new TransportFault(what, address.flow >> 1, now)
}

/** The flow that an event is of. @throws TransportFault for what is no event of its own */
export const flowOf = (event: FlowEvent, flow: number, now: Time): number => {
  const message: unknown = hasFields(event) ? event.message : undefined
  if (message === flow) return flow
  const what = hasFields(event) ? `an event of message ${shown(message)}` : `${shown(event)} as an event`
  throw new TransportFault(`its pollEvent gave ${what}, expected one of its message, ${flow}`, flow, now)
}
