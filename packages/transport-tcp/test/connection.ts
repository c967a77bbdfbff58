import { EnginePair, type EnginePairOptions, fixedWindow, flowAddress } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import { type FlowCommand, type FlowEvent, makeAck, type PathInfo } from "@rdmakit/protocol"
import { TcpEndpoint, type TcpTransportOptions, tcpConfig } from "../src/index.ts"

export { fixedWindow } from "@rdmakit/conformance"

/** 10 Gb/s and 20 µs there and back. */
export const path: PathInfo = {
  lineRateBps: 10e9,
  baseRttPs: 20e6,
  windowBytes: 25_000,
  mtuBytes: 1000,
  timeModulusPs: Infinity,
  bytesModulus: Infinity,
  flow: 0,
  seed: 0,
}

/** The two ends of a connection, here node 0 and there node 1. */
export const endsOf = (
  now: number,
  options: Partial<TcpTransportOptions> = {},
  seed = 0,
): readonly [TcpEndpoint, TcpEndpoint] => {
  const config = tcpConfig({ controller: fixedWindow(20_000), mtuBytes: 1000, ...options })
  const ack = makeAck(1)
  const end = (node: number): TcpEndpoint => new TcpEndpoint(now, config, ack, flowAddress(node, { ...path, seed }))
  return [end(0), end(1)]
}

export interface Setup extends Partial<Omit<EnginePairOptions<FlowCommand, FlowEvent>, "pool" | "ends">> {
  readonly options?: Partial<TcpTransportOptions>
  readonly seed?: number
}

/** A connection through a network of 10 µs each way, unless `path` says otherwise. */
export const connect = ({ options, seed, ...network }: Setup = {}) => {
  const pool = new PacketPool()
  const ends = endsOf(network.now ?? 0, options, seed)
  const pair = new EnginePair<FlowCommand, FlowEvent>({ path: () => [10e6], ...network, pool, ends })
  return { pool, ends, pair }
}
