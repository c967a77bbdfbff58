import { type ReceiveRequest, WrOpcode } from "@rdmakit/protocol"
import type { QueuePair } from "@rdmakit/verbs"
import { datagramTo, GRH_BYTES, type PerfPeer, type PerfSide, receiveOffset, sendOffset } from "./PerfSide.ts"

/** What a queue pair posts. */
export type SendWork = Parameters<QueuePair["postSend"]>[0]

const OPCODES = {
  send: WrOpcode.Send,
  write: WrOpcode.RdmaWrite,
  read: WrOpcode.RdmaRead,
  atomic: WrOpcode.AtomicFetchAndAdd,
} as const

/** What perftest adds. */
const ADD = 1n

/** Receives have the numbers from here on. */
export const RECEIVE_FIRST = 1 << 20

/** The request that a queue pair posts again and again, for messages of a size. Its number is that of the queue pair. */
export const sendRequest = (
  side: PerfSide,
  peer: PerfPeer,
  index: number,
  bytes: number,
  signaled: boolean,
): SendWork => {
  const { verb, inlineBytes } = side.settings
  const { address, rkey } = peer.keys[index]!
  const local = side.region.range(sendOffset(side, index), bytes)
  const isInline = (verb === "send" || verb === "write") && bytes <= inlineBytes
  return {
    ...{ id: index, opcode: OPCODES[verb], signaled },
    ...(isInline ? { sges: [], inline: local.octets } : { sges: [sgeOf(local)] }),
    ...(verb === "send" ? {} : { remoteAddress: numberOf(address), remoteKey: rkey }),
    ...(verb === "atomic" ? { compareAdd: ADD } : {}),
    ...datagramTo(peer, index),
  }
}

/** The receive that a queue pair posts again and again. */
export const receiveRequest = (side: PerfSide, index: number, bytes: number): ReceiveRequest => {
  const room = bytes + (side.settings.connection === "ud" ? GRH_BYTES : 0)
  return { id: RECEIVE_FIRST + index, sges: [sgeOf(side.region.range(receiveOffset(side, index), room))] }
}

const sgeOf = ({ address, length, lkey }: { address: number; length: number; lkey: number }) => ({
  ...{ address, length, lkey },
})

/** A number where it is exact as one. */
const numberOf = (address: bigint): number | bigint =>
  address <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(address) : address
