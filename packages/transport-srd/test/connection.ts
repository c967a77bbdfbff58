import { EnginePair, type EnginePairOptions, fixedWindow } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import { type FlowAddress, type FlowCommand, type FlowEvent, makeAck, type PathInfo } from "@rdmakit/protocol"
import { SrdEndpoint, type SrdOptions, srdConfig } from "../src/index.ts"
import { Records } from "../src/Records.ts"

export { fixedWindow } from "@rdmakit/conformance"

/** 10 Gb/s and 20 µs there and back. */
export const path: PathInfo = {
  lineRateBps: 10e9,
  baseRttPs: 20e6,
  windowBytes: 25_000,
  mtuBytes: 1000,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 0,
}

/** The two ends of a flow, here node 0 and there node 1. */
export const endsOf = (now: number, options: Partial<SrdOptions> = {}): readonly [SrdEndpoint, SrdEndpoint] => {
  const config = srdConfig({ controller: fixedWindow(20_000), mtuBytes: 1000, ...options })
  const shared = { config, records: new Records(), ack: makeAck(1) }
  const end = (node: number): FlowAddress => ({
    node,
    peer: 1 - node,
    udpPort: node === 0 ? 50_000 : 4791,
    peerUdpPort: node === 0 ? 4791 : 50_000,
    priority: 3,
    flow: node,
    path: { ...path, flow: node },
  })
  return [new SrdEndpoint(now, shared, end(0)), new SrdEndpoint(now, shared, end(1))]
}

export interface Setup extends Partial<Omit<EnginePairOptions<FlowCommand, FlowEvent>, "pool" | "ends">> {
  readonly options?: Partial<SrdOptions>
}

/** A flow through a network of 10 µs each way, unless `path` says otherwise. */
export const connect = ({ options, ...network }: Setup = {}) => {
  const pool = new PacketPool()
  const ends = endsOf(network.now ?? 0, options)
  const pair = new EnginePair<FlowCommand, FlowEvent>({ path: () => [10e6], ...network, pool, ends })
  return { pool, ends, pair }
}
