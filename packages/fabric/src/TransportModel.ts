import {
  type ControllerFactory,
  checkFraming,
  type FlowTransport,
  hasFields,
  OptionError,
  optionChecks,
} from "@rdmakit/protocol"
import type { TransportFactory } from "./Models.ts"
import type { TransportSettings } from "./NativeTransport.ts"

/**
 * What carries a network's flows: reliable connections with these settings, or a transport of one's own, made for the
 * network's controller and longest path, or made already.
 */
export type TransportModel = TransportSettings | TransportFactory | FlowTransport

/** What was given as a transport of flows is none. `option` is the field of `FlowTransport`, or "transport". */
export class TransportInvalid extends OptionError {
  readonly _tag = "TransportInvalid"
  override readonly name = "TransportInvalid"

  constructor(option: string, value: unknown, expected: string) {
    super("transport of flows", option, value, expected)
  }
}

const { check, checkBoolean, checkInteger } = optionChecks(TransportInvalid)

/** Settings of reliable connections, or how another transport is made. */
export const settingsOrFactory = (
  model: TransportModel,
): { readonly settings: TransportSettings; readonly make?: TransportFactory } => {
  if (typeof model === "function") return { settings: {}, make: model }
  if (!isTransport(model)) return { settings: model }
  return { settings: {}, make: () => model }
}

const isTransport = (model: TransportSettings | FlowTransport): model is FlowTransport =>
  hasFields(model) && "open" in model

/** The transport that a factory makes. @throws TransportInvalid, and what the factory throws */
export const madeTransport = (make: TransportFactory, controller: ControllerFactory, hops: number): FlowTransport => {
  const made: unknown = make(controller, hops)
  if (!hasFields(made)) throw new TransportInvalid("transport", made, "a FlowTransport, { name, mtuBytes, …, open }")
  const { name, mtuBytes, framing, telemetry, open } = made as Partial<FlowTransport>
  check("name", name, typeof name === "string", "the transport's name, a text")
  check("mtuBytes", mtuBytes, mtuBytes !== undefined, "an integer of at least 1")
  checkInteger("mtuBytes", mtuBytes, 1)
  checkFraming(check, framing)
  checkBoolean("telemetry", telemetry)
  check("open", open, typeof open === "function", "a function that makes the ends of flows")
  return made as FlowTransport
}
