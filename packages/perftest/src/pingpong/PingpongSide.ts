import type { CompletionQueue, DeviceContext, MemoryRange, QueuePair, SharedReceiveQueue } from "@rdmakit/verbs"
import { Effect } from "effect"
import type { PingpongDestination } from "../outofband/PingpongMessage.ts"
import { type PingpongSettings, refusal } from "./PingpongOptions.ts"

/** What a datagram's receive has in front of it. */
export const GRH_BYTES = 40
const QUEUE_KEY = 0x11111111
const HOP_LIMIT = 64
const RNR_TIMER = { code: 12 }
const TIMEOUT = { code: 14 }
const RETRIES = 7

/** Whom a datagram is for. */
type Datagram = NonNullable<Parameters<QueuePair["postSend"]>[0]["datagram"]>

/** What one side has. */
export interface PingpongSide {
  readonly context: DeviceContext
  readonly settings: PingpongSettings
  readonly cq: CompletionQueue
  readonly srq: SharedReceiveQueue | undefined
  readonly queuePairs: ReadonlyArray<QueuePair>
  /** What each queue pair sends. */
  readonly outgoing: ReadonlyArray<MemoryRange>
  /** What is received, one for each receive; of UD with the header in front. */
  readonly slots: ReadonlyArray<MemoryRange>
  readonly gidIndex: number
  readonly mine: ReadonlyArray<PingpongDestination>
}

/** Makes everything that is needed, queue pairs in INIT. */
export const makePingpongSide = (context: DeviceContext, settings: PingpongSettings) =>
  Effect.gen(function* () {
    const { type, bytes, queuePairs: count, rxDepth } = settings
    const isDatagram = type === "ud"
    const { activeMtuBytes } = yield* context.port()
    if (isDatagram && bytes > activeMtuBytes) {
      return yield* refusal("bytes", String(bytes), `at most ${activeMtuBytes}, the port's MTU, for datagrams`)
    }
    const found = settings.gidIndex
    if (found !== undefined && !context.gids.some(({ index }) => index === found)) {
      return yield* refusal("gidIndex", String(found), `0..${context.gids.length - 1}`)
    }
    const gidIndex = found ?? (yield* context.chooseGid())
    const { gid } = yield* context.gid(gidIndex)
    const domain = yield* context.protectionDomain
    const cq = yield* context.completionQueue(rxDepth + count)
    const srq = type === "srq" ? yield* domain.sharedReceiveQueue({ maxWr: rxDepth, maxSge: 1 }) : undefined
    const room = bytes + (isDatagram ? GRH_BYTES : 0)
    // A message of no bytes has memory all the same.
    const region = yield* domain.memory(Math.max(1, count * bytes + rxDepth * room), ["local-write"])
    const capabilities = {
      ...{ maxSendWr: 1, maxRecvWr: srq === undefined ? rxDepth : 0, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: 0 },
    }
    const options = { type: type === "srq" ? ("rc" as const) : type, cq, capabilities, gidIndex }
    const make = domain.queuePair(srq === undefined ? options : { ...options, srq })
    const queuePairs = yield* Effect.all(Array.from({ length: count }, () => make))
    for (const queuePair of queuePairs) yield* queuePair.toInit({ accessFlags: [], queueKey: QUEUE_KEY })
    const outgoing = queuePairs.map((_, index) => region.range(index * bytes, bytes))
    const slots = Array.from({ length: rxDepth }, (_, index) => region.range(count * bytes + index * room, room))
    const mine = queuePairs.map(({ number, psn }) => ({ lid: 0, qpn: number, psn, gid }))
    /** Brings the queue pairs to RTS; of datagrams whom they are for. */
    const connect = (theirs: ReadonlyArray<PingpongDestination>) =>
      Effect.gen(function* () {
        const addressOf = (peer: PingpongDestination) => ({
          ...{ gid: peer.gid, sourceGidIndex: gidIndex, hopLimit: HOP_LIMIT },
        })
        if (isDatagram) {
          const [queuePair, peer] = [queuePairs[0]!, theirs[0]!]
          yield* queuePair.toRtr()
          yield* queuePair.toRts()
          const { handle } = yield* domain.addressHandle(addressOf(peer))
          return { address: handle, qpn: peer.qpn, queueKey: QUEUE_KEY } as Datagram
        }
        const isReliable = type !== "uc"
        for (const [index, queuePair] of queuePairs.entries()) {
          const peer = theirs[index]!
          yield* queuePair.modify("RTR", {
            address: addressOf(peer),
            pathMtuBytes: settings.mtuBytes,
            destinationQp: peer.qpn,
            receivePsn: peer.psn,
            ...(isReliable ? { responderResources: 1, minRnrTimer: RNR_TIMER } : {}),
          })
          const reliable = { timeout: TIMEOUT, retryCount: RETRIES, rnrRetry: RETRIES, initiatorDepth: 1 }
          yield* queuePair.modify("RTS", { sendPsn: queuePair.psn, ...(isReliable ? reliable : {}) })
        }
        return undefined
      })
    const side: PingpongSide = { context, settings, cq, srq, queuePairs, outgoing, slots, gidIndex, mine }
    return { side, connect }
  })
