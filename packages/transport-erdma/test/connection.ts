import { EnginePair, type EnginePairOptions, fixedWindow, flowEnds } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import type { FlowCommand, FlowEvent, PathInfo } from "@rdmakit/protocol"
import { type ErdmaOptions, erdmaFlows } from "../src/index.ts"

export { fixedWindow } from "@rdmakit/conformance"

export const US = 1e6

/** 100 Gb/s and 12 µs there and back. */
export const path: PathInfo = {
  lineRateBps: 100e9,
  baseRttPs: 12 * US,
  windowBytes: 150_000,
  mtuBytes: 8428,
  timeModulusPs: Infinity,
  bytesModulus: Infinity,
  flow: 0,
  seed: 0,
}

/** The two ends of a connection, here node 0 and there node 1. */
export const endsOf = (now: number, options: Partial<ErdmaOptions> = {}) =>
  flowEnds(erdmaFlows({ controller: fixedWindow(150_000), ...options }), now, path)

export interface Setup extends Partial<Omit<EnginePairOptions<FlowCommand, FlowEvent>, "pool" | "ends">> {
  readonly options?: Partial<ErdmaOptions>
}

/** A connection through a network of 6 µs each way, unless `path` says otherwise. */
export const connect = ({ options, ...network }: Setup = {}) => {
  const pool = new PacketPool()
  const ends = endsOf(network.now ?? 0, options)
  const pair = new EnginePair<FlowCommand, FlowEvent>({ path: () => [6 * US], ...network, pool, ends })
  return { pool, ends, pair }
}
