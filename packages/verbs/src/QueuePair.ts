import type { QueuePair as DeviceQp, SendWork } from "@rdmakit/device"
import { type Completion, hasFields, type QpType, type ReceiveRequest, WcStatus } from "@rdmakit/protocol"
import { Effect, type Scope } from "effect"
import type { Address } from "./AddressHandle.ts"
import type { CompletionQueue, WorkOwner } from "./CompletionQueue.ts"
import type { DeviceState } from "./DeviceState.ts"
import { chooseGid, formatGid, parseGid } from "./Gid.ts"
import { Lifetime, type Lifetimes } from "./Lifetime.ts"
import { type MemoryRange, MemoryWindow, type RemoteMemory } from "./MemoryRegion.ts"
import { type AccessName, type StateName, stateName } from "./Names.ts"
import { attributesOf, type QpAttributes, type QpStatus, statusOf } from "./QpAttributes.ts"
import type { TimeSetting } from "./Timing.ts"
import { attempt, refusalOf, type VerbsError, wrongType } from "./VerbsError.ts"
import {
  atomicWriteWork,
  type BindOptions,
  bindPlace,
  bindWork,
  checkRequest,
  compareAndSwapWork,
  fetchAndAddWork,
  foundIn,
  invalidateWork,
  type LocalMemory,
  nextKey,
  type ReadOptions,
  readWork,
  type SendOptions,
  type SendSource,
  sendWork,
  sgesOf,
  type WorkFlags,
  type WriteOptions,
  writeWork,
} from "./Work.ts"
import { WorkBatch } from "./WorkBatch.ts"
import type { WorkError } from "./WorkError.ts"

/** What a peer has to know to connect. Plain data: it may travel by any channel. */
export interface Endpoint {
  /** As text, for it may be JSON. */
  readonly gid: string
  /** 24 bits. */
  readonly qpn: number
  /** Its first packet sequence number, 24 bits. */
  readonly psn: number
  /** Largest path MTU of its port. */
  readonly mtuBytes: number
}

export interface InitSettings {
  /** What a peer may do. Default: "remote-write", "remote-read", "remote-atomic", as far as its regions allow it. */
  readonly accessFlags?: ReadonlyArray<AccessName>
  /** UD and SRD alone, 32 bits. Default 0x11111111, as ibv_ud_pingpong has it. */
  readonly queueKey?: number
}

export interface RtrSettings {
  /** Of the path, but for its end. */
  readonly path?: Omit<Address, "gid">
  /** 256 to 4,096. Default: the smaller of both ports'. */
  readonly pathMtuBytes?: number
  /** READs and atomics of the peer that may be outstanding here. Default 16. */
  readonly responderResources?: number
  /** How long a peer waits, at least, where no receive was posted. Default "640us". */
  readonly minRnrTimer?: TimeSetting
}

export interface RtsSettings {
  /** Local ACK timeout. Default "67.1ms", code 14. */
  readonly timeout?: TimeSetting
  /** 0 to 7. Default 7. */
  readonly retryCount?: number
  /** 0 to 7; 7, the default, is without end. Of SRD the default is the device's: none. */
  readonly rnrRetry?: number
  /** READs and atomics of this side that may be outstanding at the peer. Default 16; no more than its responder resources. */
  readonly initiatorDepth?: number
}

export interface ConnectSettings extends Pick<InitSettings, "accessFlags">, RtrSettings, RtsSettings {}

export const DEFAULT_QUEUE_KEY = 0x11111111
const DEFAULT_ACCESS: ReadonlyArray<AccessName> = ["remote-write", "remote-read", "remote-atomic"]
const DEFAULT_DEPTH = 16
const DEFAULT_RNR_TIMER = "640us"
const DEFAULT_TIMEOUT = "67.1ms"
const RETRIES = 7

/** What a queue pair is made of, beside the device's own. */
export interface QueuePairParts {
  readonly sendCq: CompletionQueue
  readonly receiveCq: CompletionQueue
  readonly psn: number
  readonly gidIndex: number | undefined
}

/**
 * A queue pair (struct ibv_qp). Made by `ProtectionDomain.queuePair`, in RESET; it ends with its scope.
 *
 * `send`, `write` and their like post one request and wait until it has completed: they fail with `WorkFailed`, which has the
 * status, with `WorkLost` when it never will, and with `VerbsError` when it is refused. An interrupted one stays posted. For
 * many requests at once, or with numbers of one's own, there are `postSend`, `start` and the completion queue.
 */
export class QueuePair implements WorkOwner {
  readonly handle: DeviceQp
  readonly sendCq: CompletionQueue
  readonly receiveCq: CompletionQueue
  /** The packet sequence number that it begins with, drawn from the program's `Random`. */
  readonly psn: number
  readonly lifetime: Lifetime
  firstFailure: Completion | undefined
  lastEvent: string | undefined
  private readonly chosenGid: number | undefined
  private readonly lifetimes: Lifetimes

  constructor(state: DeviceState, handle: DeviceQp, parts: QueuePairParts) {
    this.lifetimes = state.lifetimes
    this.handle = handle
    this.sendCq = parts.sendCq
    this.receiveCq = parts.receiveCq
    this.psn = parts.psn
    this.chosenGid = parts.gidIndex
    for (const queue of [this.sendCq, this.receiveCq]) queue.attach(this)
    state.queuePairs.set(handle, this)
    this.lifetime = new Lifetime(state.lifetimes, () => {
      handle.destroy()
      state.queuePairs.delete(handle)
      for (const queue of [this.sendCq, this.receiveCq]) queue.abandon(this, "destroyed")
    })
  }

  /** Its number, 24 bits. */
  get number(): number {
    return this.handle.qpn
  }
  get type(): QpType | "gsi" {
    return this.handle.type
  }
  /** The state now: an error moves it. */
  get state(): StateName {
    return stateName(this.handle.state)
  }

  /** What a peer has to know to connect. @throws VerbsError ENOENT when the port has no address */
  get endpoint(): Endpoint {
    const { device } = this.handle
    const index = this.chosenGid ?? chooseGid(device.gids)
    const { gid } = device.queryGid(1, index)
    return { gid: formatGid(gid), qpn: this.number, psn: this.psn, mtuBytes: device.queryPort(1).activeMtuBytes }
  }

  /**
   * Changes its state and attributes (ibv_modify_qp). Which attributes a transition needs and takes is the kernel's table; a
   * refusal names the attribute that is missing, forbidden or out of range, and nothing has changed. undefined as the state:
   * it stays in the one it is in.
   */
  modify(state: StateName | undefined, attributes: QpAttributes = {}): Effect.Effect<void, VerbsError> {
    return attempt(() => {
      this.handle.modify(attributesOf(state, attributes, this.handle.device.gids))
      if (state !== "RESET") return
      this.firstFailure = undefined
      this.lastEvent = undefined
      for (const queue of [this.sendCq, this.receiveCq]) queue.abandon(this, "reset")
    })
  }

  /** RESET to INIT: it takes receives. */
  toInit(settings: InitSettings = {}): Effect.Effect<void, VerbsError> {
    if (!hasFields(settings)) return noSettings(settings)
    const { accessFlags = DEFAULT_ACCESS, queueKey = DEFAULT_QUEUE_KEY } = settings
    return this.modify("INIT", { port: 1, pkeyIndex: 0, ...(this.isDatagram ? { queueKey } : { accessFlags }) })
  }

  /** INIT to RTR: it receives. @param peer none for UD and SRD */
  toRtr(peer?: Endpoint, settings: RtrSettings = {}): Effect.Effect<void, VerbsError> {
    if (peer === undefined || this.isDatagram) return this.modify("RTR")
    if (!hasFields(peer)) return noPeer(peer)
    if (!hasFields(settings)) return noSettings(settings)
    return Effect.suspend(() => {
      const { path, responderResources = DEFAULT_DEPTH, minRnrTimer = DEFAULT_RNR_TIMER } = settings
      const own = this.handle.device.queryPort(1).activeMtuBytes
      const chosen = this.chosenGid === undefined ? {} : { sourceGidIndex: this.chosenGid }
      return this.modify("RTR", {
        address: { ...chosen, ...path, gid: peer.gid },
        destinationQp: peer.qpn,
        receivePsn: peer.psn,
        pathMtuBytes: settings.pathMtuBytes ?? Math.min(own, peer.mtuBytes),
        ...(this.type === "rc" ? { responderResources, minRnrTimer } : {}),
      })
    })
  }

  /** RTR to RTS: it sends. */
  toRts(settings: RtsSettings = {}): Effect.Effect<void, VerbsError> {
    if (!hasFields(settings)) return noSettings(settings)
    if (this.type === "srd") {
      const { rnrRetry } = settings
      return this.modify("RTS", { sendPsn: this.psn, ...(rnrRetry === undefined ? {} : { rnrRetry }) })
    }
    const {
      timeout = DEFAULT_TIMEOUT,
      retryCount = RETRIES,
      rnrRetry = RETRIES,
      initiatorDepth = DEFAULT_DEPTH,
    } = settings
    const reliable = this.type === "rc" ? { timeout, retryCount, rnrRetry, initiatorDepth } : {}
    return this.modify("RTS", { sendPsn: this.psn, ...reliable })
  }

  /** RESET to RTS, for RC and UC. The peer does the same with this side's `endpoint`. */
  connect(peer: Endpoint, settings: ConnectSettings = {}): Effect.Effect<void, VerbsError> {
    if (!hasFields(peer)) return noPeer(peer)
    return this.toInit(settings).pipe(Effect.andThen(this.toRtr(peer, settings)), Effect.andThen(this.toRts(settings)))
  }

  /** RESET to RTS, for UD and SRD, which have no peer. @param settings `rnrRetry` is SRD's alone */
  activate(
    settings: Pick<InitSettings, "queueKey"> & Pick<RtsSettings, "rnrRetry"> = {},
  ): Effect.Effect<void, VerbsError> {
    return this.toInit(settings).pipe(Effect.andThen(this.toRtr()), Effect.andThen(this.toRts(settings)))
  }

  /** What it has been set to, and how it stands (ibv_query_qp). */
  get query(): Effect.Effect<QpStatus, VerbsError> {
    return attempt(() => statusOf(this.handle.query()))
  }

  /**
   * Posts a send, without waiting (ibv_post_send). For hot paths: the request is kept, not copied, and must not change until it
   * has completed; octets of `inline` are copied.
   *
   * @throws VerbsError EINVAL before RTS or when the request is not in order, ENOMEM when the queue is full
   */
  postSend(work: SendWork): void {
    try {
      checkRequest("post_send", work)
      this.handle.postSend(work)
    } catch (thrown) {
      throw refusalOf(thrown)
    }
  }

  /** Posts a receive, without waiting (ibv_post_recv). As `postSend`. @throws VerbsError EINVAL in RESET, ENOMEM */
  postReceive(request: ReceiveRequest): void {
    try {
      checkRequest("post_recv", request)
      this.handle.postRecv(request)
    } catch (thrown) {
      throw refusalOf(thrown)
    }
  }

  /** Begins several sends that are posted all at once, or not at all (ibv_wr_start). */
  start(): WorkBatch {
    return new WorkBatch((works) => {
      try {
        this.handle.postSends(works)
      } catch (thrown) {
        throw refusalOf(thrown)
      }
    })
  }

  /** SEND, with an immediate or a key to invalidate if asked for; a datagram needs `to`. */
  send(from: SendSource, options: SendOptions = {}): Effect.Effect<Completion, WorkError> {
    return this.perform("send", (id) => sendWork(sent(id), from, options))
  }
  /** RDMA WRITE. */
  write(from: SendSource, to: RemoteMemory, options: WriteOptions = {}): Effect.Effect<Completion, WorkError> {
    return this.perform("rdma write", (id) => writeWork(sent(id), from, to, options))
  }
  /** RDMA READ. The local memory needs "local-write". */
  read(into: LocalMemory, from: RemoteMemory, options: ReadOptions = {}): Effect.Effect<Completion, WorkError> {
    return this.perform("rdma read", (id) => readWork(sent(id), into, from, options))
  }
  /**
   * Compares eight octets of the peer's, and writes `swap` there if they are equal: at once. @returns what was there
   * @param into eight octets of local memory
   * @param at a multiple of eight
   */
  compareAndSwap(
    into: MemoryRange,
    at: RemoteMemory,
    values: { readonly compare: bigint; readonly swap: bigint },
    options: WorkFlags = {},
  ): Effect.Effect<bigint, WorkError> {
    return Effect.map(
      this.perform("compare and swap", (id) => compareAndSwapWork(sent(id), into, at, values, options)),
      () => foundIn(into),
    )
  }
  /** Adds to eight octets of the peer's, at once, modulo 2^64. @returns what was there; see `compareAndSwap` */
  fetchAndAdd(
    into: MemoryRange,
    at: RemoteMemory,
    add: bigint,
    options: WorkFlags = {},
  ): Effect.Effect<bigint, WorkError> {
    return Effect.map(
      this.perform("fetch and add", (id) => fetchAndAddWork(sent(id), into, at, add, options)),
      () => foundIn(into),
    )
  }
  /** Writes eight octets, at once. @param value a number is written low octet first */
  atomicWrite(
    value: bigint | Uint8Array,
    at: RemoteMemory,
    options: WorkFlags = {},
  ): Effect.Effect<Completion, WorkError> {
    return this.perform("atomic write", (id) => atomicWriteWork(sent(id), value, at, options))
  }
  /** Binds a window to part of a region. @returns the window's key from now on, to tell the peer */
  bind(window: MemoryWindow, options: BindOptions & WorkFlags): Effect.Effect<number, WorkError> {
    if (!(window instanceof MemoryWindow))
      return Effect.fail(wrongType("bind_mw", "window", window, "give what `memoryWindow` made"))
    if (window.type === 2) {
      return Effect.suspend(() => {
        const remoteKey = nextKey(window.rkey)
        return Effect.as(
          this.perform("bind", (id) => bindWork(sent(id), window, remoteKey, options)),
          remoteKey,
        )
      })
    }
    return Effect.suspend(() => {
      let remoteKey = 0
      const bound = this.sendCq.await(this, "bind", (id) => {
        remoteKey = this.handle.bindMw(window.handle, { ...sent(id), ...bindPlace(options) })
      })
      return Effect.map(bound, () => remoteKey)
    })
  }
  /** Makes a key of this side unusable: that of a window of type 2. */
  invalidate(key: number, options: WorkFlags = {}): Effect.Effect<Completion, WorkError> {
    return this.perform("local invalidate", (id) => invalidateWork(sent(id), key, options))
  }

  /**
   * Posts a receive and waits for it. What came is in the completion: its bytes, its immediate, the invalidated key, and for a
   * datagram its sender; of UD the first 40 octets are the network header.
   */
  receive(into: LocalMemory = []): Effect.Effect<Completion, WorkError> {
    return this.receiveCq.await(this, "receive", (id) => this.handle.postRecv({ id, sges: sgesOf(into, "post_recv") }))
  }

  /** Listens to a multicast group until the scope ends (ibv_attach_mcast). UD alone. */
  attachMulticast(group: Uint8Array | string): Effect.Effect<void, VerbsError, Scope.Scope> {
    return Effect.asVoid(
      Effect.acquireRelease(
        attempt(() => {
          const gid = typeof group === "string" ? parseGid(group) : group
          this.handle.attachMulticast(gid)
          return gid
        }),
        (gid) => Effect.ignore(this.detachMulticast(gid)),
      ),
    )
  }
  /** Leaves a multicast group before its scope ends. */
  detachMulticast(group: Uint8Array | string): Effect.Effect<void, VerbsError> {
    return attempt(() => {
      const gid = typeof group === "string" ? parseGid(group) : group
      this.handle.detachMulticast(gid)
      this.lifetimes.settle()
    })
  }

  /** Ends it before its scope does. What is posted is dropped; who waits for it fails with `WorkLost`. */
  get destroy(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }

  noteFailure(completion: Completion): void {
    if (completion.status !== WcStatus.WrFlushErr && this.type !== "srd") this.firstFailure ??= completion
  }
  noteEvent(event: string): void {
    this.lastEvent = event
  }

  private get isDatagram(): boolean {
    return this.type === "ud" || this.type === "gsi" || this.type === "srd"
  }

  private perform(operation: string, make: (id: number) => SendWork): Effect.Effect<Completion, WorkError> {
    return this.sendCq.await(this, operation, (id) => this.handle.postSend(make(id)))
  }
}

const sent = (id: number) => ({ id, signaled: true })

const noSettings = (settings: unknown): Effect.Effect<never, VerbsError> =>
  Effect.fail(wrongType("modify_qp", "settings", settings, "give an object, or leave it out"))

const noPeer = (peer: unknown): Effect.Effect<never, VerbsError> =>
  Effect.fail(wrongType("modify_qp", "peer", peer, "give the peer's endpoint, { gid, qpn, psn, mtuBytes }"))
