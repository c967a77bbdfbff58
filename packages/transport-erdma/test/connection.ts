import { EnginePair, type EnginePairOptions } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import {
  type ControllerFactory,
  type FlowAddress,
  type FlowCommand,
  type FlowEvent,
  type PathInfo,
  unpaced,
} from "@rdmakit/protocol"
import { type ErdmaOptions, erdmaFlows } from "../src/index.ts"

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

/** A window that stays as it is. */
export const fixedWindow = (window: number): ControllerFactory => ({
  name: "fixed",
  needs: [],
  make: (_now, { lineRateBps }) => ({ ...unpaced, window, rate: lineRateBps }),
})

export const addressOf = (node: number): FlowAddress => ({
  node,
  peer: 1 - node,
  udpPort: node === 0 ? 50_000 : 5001,
  peerUdpPort: node === 0 ? 5001 : 50_000,
  priority: 3,
  flow: node,
  path,
})

/** The two ends of a connection, here node 0 and there node 1. */
export const endsOf = (now: number, options: Partial<ErdmaOptions> = {}) => {
  const open = erdmaFlows({ controller: fixedWindow(150_000), ...options }).open(1)
  return [open(now, addressOf(0)), open(now, addressOf(1))] as const
}

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
