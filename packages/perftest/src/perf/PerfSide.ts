import type { MemoryRegion, ProtectionDomain, QueuePair, VerbsError } from "@rdmakit/verbs"
import {
  type AccessName,
  type AddressHandle,
  type CompletionQueue,
  type DeviceContext,
  formatGid,
} from "@rdmakit/verbs"
import { Effect, type Scope } from "effect"
import { OutOfBandError } from "../outofband/OutOfBand.ts"
import type { PerftestKeys } from "../outofband/PerftestMessages.ts"
import { completionsOf, type PerfSettings } from "../Settings.ts"

/** What a datagram's receive has in front of it. */
export const GRH_BYTES = 40
const QUEUE_KEY = 0x11111111
const HOP_LIMIT = 255
/** 0.64 ms, 67.1 ms. */
const RNR_TIMER = { code: 12 }
const TIMEOUT = { code: 14 }
const RETRIES = 7

const ACCESS: Readonly<Record<PerfSettings["verb"], ReadonlyArray<AccessName>>> = {
  send: ["local-write"],
  write: ["local-write", "remote-write"],
  read: ["local-write", "remote-read"],
  atomic: ["local-write", "remote-atomic"],
}

/** What one side of a measurement has. */
export interface PerfSide {
  readonly context: DeviceContext
  readonly settings: PerfSettings
  readonly mtuBytes: number
  readonly domain: ProtectionDomain
  /** Where all requests of all queue pairs complete. */
  readonly cq: CompletionQueue
  readonly queuePairs: ReadonlyArray<QueuePair>
  /** For each queue pair what it sends from, then for each what it receives into. */
  readonly region: MemoryRegion
  /** Of each of those parts. */
  readonly bufferBytes: number
  readonly gidIndex: number
  /** What the peer is told, one for each queue pair. */
  readonly keys: ReadonlyArray<PerftestKeys>
}

/** Where the peer's queue pairs are, once they are known. */
export interface PerfPeer {
  readonly keys: ReadonlyArray<PerftestKeys>
  /** Of datagrams. */
  readonly handles: ReadonlyArray<AddressHandle>
}

/** Offset of what queue pair `index` sends from, and of what it receives into. */
export const sendOffset = (side: PerfSide, index: number): number => index * side.bufferBytes
export const receiveOffset = (side: PerfSide, index: number): number =>
  (side.settings.queuePairs + index) * side.bufferBytes

/** Makes everything that is needed, queue pairs in RESET. @param bytes of the longest message */
export const makeSide = (
  context: DeviceContext,
  settings: PerfSettings,
  agreed: { readonly mtuBytes: number; readonly bufferBytes: number },
  bytes: number,
): Effect.Effect<PerfSide, VerbsError, Scope.Scope> =>
  Effect.gen(function* () {
    const { verb, connection, queuePairs: count, txDepth, rxDepth, inlineBytes } = settings
    const gidIndex = settings.gidIndex ?? (yield* context.chooseGid())
    const { gid } = yield* context.gid(gidIndex)
    const domain = yield* context.protectionDomain
    const receives = verb === "send" ? rxDepth : 0
    const cq = yield* context.completionQueue(count * completionsOf(settings))
    const bufferBytes = Math.max(bytes, agreed.bufferBytes) + (connection === "ud" ? GRH_BYTES : 0)
    const region = yield* domain.memory(2 * count * bufferBytes, ACCESS[verb])
    const capabilities = {
      ...{ maxSendWr: txDepth, maxRecvWr: receives, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: inlineBytes },
    }
    const queuePairs = yield* Effect.all(
      Array.from({ length: count }, () => domain.queuePair({ type: connection, cq, capabilities, gidIndex })),
    )
    const isOneSided = verb === "read" || verb === "atomic"
    const keys = queuePairs.map(
      (queuePair, index): PerftestKeys => ({
        lid: 0,
        outstandingReads: isOneSided ? context.attributes.limits.maxQpRdAtom : 1,
        qpn: queuePair.number,
        psn: queuePair.psn,
        // Of SENDs perftest tells no key.
        rkey: verb === "send" ? 0 : region.rkey,
        address: BigInt(region.address + (count + index) * bufferBytes),
        gid,
        srqn: 0,
      }),
    )
    const { mtuBytes } = agreed
    return { context, settings, mtuBytes, domain, cq, queuePairs, region, bufferBytes, gidIndex, keys }
  })

/** Brings the queue pairs to RTS, each with its peer. */
export const connectSide = (
  side: PerfSide,
  theirs: ReadonlyArray<PerftestKeys>,
): Effect.Effect<PerfPeer, VerbsError | OutOfBandError, Scope.Scope> =>
  Effect.gen(function* () {
    const { settings, domain, queuePairs, gidIndex, keys } = side
    const [mine, first] = [keys[0]!, theirs[0]!]
    if (isMapped(mine.gid) !== isMapped(first.gid)) {
      const message = "out of band: the peer's address is of the other family, IPv4 and IPv6"
      return yield* new OutOfBandError({
        message,
        doThis: "choose addresses of the same on both sides: --gid-index, -x",
      })
    }
    const isDatagram = settings.connection === "ud"
    for (const [index, queuePair] of queuePairs.entries()) {
      if (isDatagram) yield* queuePair.activate({ queueKey: QUEUE_KEY })
      else yield* connect(side, queuePair, keys[index]!, theirs[index]!)
    }
    const address = (gid: Uint8Array) => ({ gid, sourceGidIndex: gidIndex, hopLimit: HOP_LIMIT })
    const handles = isDatagram ? yield* Effect.forEach(theirs, ({ gid }) => domain.addressHandle(address(gid))) : []
    return { keys: theirs, handles }
  })

/** Whether a GID is an IPv4 address. */
const isMapped = (gid: Uint8Array): boolean => formatGid(gid).startsWith("::ffff:")

/** As perftest's ctx_modify_qp_to_rtr and …_to_rts. */
const connect = (side: PerfSide, queuePair: QueuePair, mine: PerftestKeys, theirs: PerftestKeys) =>
  Effect.gen(function* () {
    const { settings, mtuBytes, gidIndex } = side
    const isReliable = settings.connection === "rc"
    const accessFlags = ACCESS[settings.verb].filter((name) => name !== "local-write")
    yield* queuePair.toInit({ accessFlags })
    yield* queuePair.modify("RTR", {
      address: { gid: theirs.gid, sourceGidIndex: gidIndex, hopLimit: HOP_LIMIT },
      pathMtuBytes: mtuBytes,
      destinationQp: theirs.qpn,
      receivePsn: theirs.psn,
      ...(isReliable ? { responderResources: mine.outstandingReads, minRnrTimer: RNR_TIMER } : {}),
    })
    const reliable = {
      timeout: TIMEOUT,
      retryCount: RETRIES,
      rnrRetry: RETRIES,
      initiatorDepth: theirs.outstandingReads,
    }
    yield* queuePair.modify("RTS", { sendPsn: mine.psn, ...(isReliable ? reliable : {}) })
  })

/** The datagram's end of queue pair `index`, or none. */
export const datagramTo = ({ keys, handles }: PerfPeer, index: number) => {
  const address = handles[index]
  if (address === undefined) return {}
  return { datagram: { address: address.handle, qpn: keys[index]!.qpn, queueKey: QUEUE_KEY } }
}
