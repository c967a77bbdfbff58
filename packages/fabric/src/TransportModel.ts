import {
  type ControllerFactory,
  checkFraming,
  type FlowTransport,
  hasFields,
  OptionError,
  optionChecks,
} from "@rdmakit/protocol"
import type { FrameSizes, TransportFactory } from "./Models.ts"
import type { TransportSettings } from "./NativeTransport.ts"

/**
 * What carries a network's flows: reliable connections with these settings, or a transport of one's own, made for the
 * network's controller and longest path, or made already.
 */
export type TransportModel = TransportSettings | TransportFactory | FlowTransport

/**
 * What was given as a transport of flows is none, or has packets that no network has room for. `option` is the field of
 * `FlowTransport`, or "transport".
 */
export class TransportInvalid extends OptionError {
  readonly _tag = "TransportInvalid"
  override readonly name = "TransportInvalid"

  constructor(option: string, value: unknown, expected: string) {
    super("transport of flows", option, value, expected)
  }
}

const { check, checkBoolean, checkInteger } = optionChecks(TransportInvalid)

/** The largest packets, bytes: a network keeps how long a frame of each size takes at each rate, 8 MiB a rate at the most. */
export const FRAME_BYTES_MAX = 2 ** 20

/** Refuses packets that no network has room for. @throws TransportInvalid */
export const checkFrames = ({ mtuBytes, framing }: FrameSizes): void => {
  const expected = `at most ${FRAME_BYTES_MAX} bytes`
  check("mtuBytes", mtuBytes, mtuBytes <= FRAME_BYTES_MAX, expected)
  const sizes = ["dataBytes", "telemetryBytes", "leastBytes", "ackBytes", "cnpBytes", "pfcBytes"] as const
  for (const size of sizes) check(`framing.${size}`, framing[size], framing[size] <= FRAME_BYTES_MAX, expected)
}

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
