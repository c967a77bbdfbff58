import { Effect } from "effect"
import { type AccessName, type ConnectSettings, openDevice, type QueuePairOptions } from "../src/index.ts"

export const EVERYTHING: ReadonlyArray<AccessName> = [
  "local-write",
  "remote-write",
  "remote-read",
  "remote-atomic",
  "mw-bind",
]

export interface EndOptions extends Partial<Omit<QueuePairOptions, "cq" | "receiveCq" | "srq">> {
  readonly access?: ReadonlyArray<AccessName>
  readonly bytes?: number | string
  /** Completions that its queue holds. */
  readonly capacity?: number
  /** A queue of their own for receives. */
  readonly twoQueues?: boolean
}

/** One end on a device, not connected yet. */
export const end = Effect.fnUntraced(function* (device: number, options: EndOptions = {}) {
  const { access = EVERYTHING, bytes = "64KiB", capacity = 64, twoQueues = false, ...rest } = options
  const context = yield* openDevice(device)
  const domain = yield* context.protectionDomain
  const memory = yield* domain.memory(bytes, access)
  const cq = yield* context.completionQueue(capacity)
  const receiveCq = twoQueues ? yield* context.completionQueue(capacity) : cq
  const qp = yield* domain.queuePair({ type: "rc", cq, receiveCq, ...rest })
  return { context, domain, memory, cq, receiveCq, qp }
})

export interface PairOptions {
  readonly both?: EndOptions
  readonly left?: EndOptions
  readonly right?: EndOptions
  readonly connect?: ConnectSettings
}

/** Two ends, connected. */
export const pair = Effect.fnUntraced(function* ({ both, left, right, connect }: PairOptions = {}) {
  const one = yield* end(0, { ...both, ...left })
  const two = yield* end(1, { ...both, ...right })
  yield* one.qp.connect(two.qp.endpoint, connect)
  yield* two.qp.connect(one.qp.endpoint, connect)
  return { left: one, right: two }
})

/** Octets that differ from place to place. */
export const pattern = (bytes: number, seed = 0): Uint8Array => {
  const octets = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at++) octets[at] = at * 7 + (at >> 8) + seed
  return octets
}
