import { type Completion, hasFields } from "@rdmakit/protocol"
import {
  type AddressHandle,
  type CompletionQueue,
  type CqOverrun,
  type DeviceContext,
  type MemoryRegion,
  type ProtectionDomain,
  parseGid,
  type VerbsError,
} from "@rdmakit/verbs"
import type { EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import { Data, Deferred, Effect, Queue, Random, Scope } from "effect"
import { type CollectiveOptions, CollectiveRun, type Unfinished } from "../collectives/CollectiveRun.ts"
import type { RdmAtomicOptions, RdmReceiveOptions, RdmSendOptions } from "../rdm/RdmCalls.ts"
import type { RdmEndpoint } from "../rdm/RdmEndpoint.ts"
import type { RdmEvent, RdmFailure, RdmOperation, RdmRefusal } from "../rdm/RdmEvent.ts"
import { check, type RdmLimits, type RdmOptions, type RdmThresholds } from "../rdm/RdmOptions.ts"
import { RegionDirectory } from "./RegionDirectory.ts"
import { addressQpn, SrdCarrier } from "./SrdCarrier.ts"

/** An operation was not taken, or has failed. */
export class RdmFailed extends Data.TaggedError("RdmFailed")<{
  readonly operation: RdmOperation
  readonly reason: RdmFailure | RdmRefusal
  /** Of a truncated message: what it had. */
  readonly bytes: number
}> {
  override get message(): string {
    return `${this.operation}: ${this.reason}${this.reason === "truncated" ? `, the message has ${this.bytes} bytes` : ""}`
  }
}

/** A collective has ended before all was done. */
export class CollectiveFailed extends Data.TaggedError("CollectiveFailed")<{
  /** What failed, and what waits for it. */
  readonly unfinished: ReadonlyArray<Unfinished>
}> {
  override get message(): string {
    const failed = this.unfinished.filter(({ state }) => state === "failed")
    const names = failed.map(({ index, operation, failure }) => `operation ${index}, ${operation.kind}: ${failure}`)
    return `${names.join("; ")}; ${this.unfinished.length - failed.length} others unfinished`
  }
}

export type RdmCompleted = Extract<RdmEvent, { type: "completed" }>
export type RdmRemoteWrite = Extract<RdmEvent, { type: "remoteWrite" }>

/** What a peer has to know to send here. Plain data: it may travel by any channel. */
export interface RdmAddress {
  readonly gid: string
  readonly qpn: number
  /** Its queue key, and what tells it from an endpoint that had its queue pair before. */
  readonly connid: number
}

export interface SrdMessagesOptions
  extends RdmThresholds,
    RdmLimits,
    Pick<RdmOptions, "order" | "deliveryComplete" | "runtRead" | "receiveWindow" | "credits"> {
  /** RDMA READ and WRITE of the device are used. Default true; of a device that has not got them say false. */
  readonly rdma?: boolean
  /** Packets that may come before they are looked at. Default 128. */
  readonly receives?: number
}

/** Writes of peers that wait to be looked at, at most; the oldest go then. */
const REMOTE_WRITES_MAX = 4096
/** A collective that this rank takes part in. */
interface Part {
  readonly run: CollectiveRun
  readonly ended: Deferred.Deferred<void, CollectiveFailed>
}

const CONNIDS = 2 ** 31
const IN_FLIGHT = 64
/** A receive that is missing is waited for without end. */
const RNR_FOREVER = 7

/**
 * Messages, RMA and atomics over one queue pair of SRD: {@link RdmEndpoint} with a device under it. Each operation is
 * waited for. Its queue pair and memory end with the scope. A call with an argument that cannot be dies of an `RdmError`.
 */
export class SrdMessages {
  readonly address: RdmAddress
  /** The engine, for its counters and for what there is no method for here. Call `flush` after it. */
  readonly endpoint: RdmEndpoint
  /** The next write of a peer that came with data. At most 4,096 wait. */
  readonly nextRemoteWrite: Effect.Effect<RdmRemoteWrite>
  private readonly remoteWrites: Queue.Queue<RdmRemoteWrite>
  private readonly carrier: SrdCarrier
  private readonly domain: ProtectionDomain
  private readonly directory: RegionDirectory
  private readonly scope: Scope.Scope
  private readonly waiting = new Map<number, Deferred.Deferred<RdmCompleted, RdmFailed>>()
  private readonly parts = new Set<Part>()
  private nextContext = 0

  constructor(
    carrier: SrdCarrier,
    address: RdmAddress,
    domain: ProtectionDomain,
    directory: RegionDirectory,
    scope: Scope.Scope,
    remoteWrites: Queue.Queue<RdmRemoteWrite>,
  ) {
    this.remoteWrites = remoteWrites
    this.nextRemoteWrite = Queue.take(remoteWrites)
    this.carrier = carrier
    this.endpoint = carrier.endpoint
    this.address = address
    this.domain = domain
    this.directory = directory
    this.scope = scope
  }

  /** The number by which a peer is named. */
  peer(address: RdmAddress): Effect.Effect<number, VerbsError> {
    return Effect.suspend(() => {
      check("address", address, hasFields(address), "what the peer's `address` says, { gid, qpn, connid }")
      const { gid, qpn, connid } = address
      return Effect.map(this.inScope(this.domain.addressHandle({ gid })), (handle) =>
        this.carrier.addPeer(gid, { address: handle, qpn, queueKey: connid }),
      )
    })
  }

  /** Memory that RDMA may use: for long messages from and into it, and for peers as its registration allows. */
  lend(region: MemoryRegion): Effect.Effect<void> {
    return Effect.sync(() => this.directory.add(region))
  }
  /** It is used no more. */
  takeBack(region: MemoryRegion): Effect.Effect<void> {
    return Effect.sync(() => this.directory.remove(region))
  }

  send(peer: number, data: Uint8Array, options?: RdmSendOptions): Effect.Effect<RdmCompleted, RdmFailed> {
    return this.perform("send", (context) => this.endpoint.send(peer, data, context, options))
  }
  /** The completion has its sender, its length, its tag and its data. */
  receive(buffer: Uint8Array, options?: RdmReceiveOptions): Effect.Effect<RdmCompleted, RdmFailed> {
    return this.perform("receive", (context) => this.endpoint.receive(buffer, context, options))
  }
  write(
    peer: number,
    data: Uint8Array,
    targets: ReadonlyArray<EfaRdmTarget>,
    options?: RdmSendOptions,
  ): Effect.Effect<RdmCompleted, RdmFailed> {
    return this.perform("write", (context) => this.endpoint.write(peer, data, targets, context, options))
  }
  read(peer: number, into: Uint8Array, targets: ReadonlyArray<EfaRdmTarget>): Effect.Effect<RdmCompleted, RdmFailed> {
    return this.perform("read", (context) => this.endpoint.read(peer, into, targets, context))
  }
  atomic(
    peer: number,
    operands: Uint8Array,
    targets: ReadonlyArray<EfaRdmTarget>,
    options: RdmAtomicOptions,
  ): Effect.Effect<RdmCompleted, RdmFailed> {
    return this.perform("atomic", (context) => this.endpoint.atomic(peer, operands, targets, context, options))
  }

  /** `result` gets what memory held; with `compare`, an operation that compares. */
  fetchAtomic(
    peer: number,
    operands: Uint8Array,
    compare: Uint8Array | undefined,
    result: Uint8Array,
    targets: ReadonlyArray<EfaRdmTarget>,
    options: RdmAtomicOptions,
  ): Effect.Effect<RdmCompleted, RdmFailed> {
    return this.perform("atomic", (context) =>
      this.endpoint.fetchAtomic(peer, operands, compare, result, targets, context, options),
    )
  }

  /**
   * Does this rank's part of a collective; it has no `compute` operations, which nobody would end. The endpoint's operations have to be
   * as many as begin together: see `operationsMax` and `receivesMax`. Dies of a `CollectiveError` for a program that cannot
   * end.
   */
  collective(options: Omit<CollectiveOptions, "firstContext">): Effect.Effect<void, CollectiveFailed> {
    return Effect.suspend(() => {
      const firstContext = this.nextContext
      const { operations } = options.program
      this.nextContext += operations.length
      const run = new CollectiveRun(this.endpoint, { ...options, firstContext })
      const ended = Deferred.makeUnsafe<void, CollectiveFailed>()
      const part = { run, ended }
      this.parts.add(part)
      const leave = Effect.sync(() => this.parts.delete(part))
      return Effect.ensuring(Effect.andThen(this.flush, Deferred.await(ended)), leave)
    })
  }

  /** Posts what there is to send, and wakes whose operations have ended. */
  readonly flush: Effect.Effect<void> = Effect.suspend(() => {
    const ended: Array<Effect.Effect<unknown>> = []
    this.carrier.drain()
    for (let event = this.endpoint.pollEvent(); event !== undefined; event = this.endpoint.pollEvent()) {
      this.handleEvent(event, ended)
      // What it set off is sent at once.
      this.carrier.drain()
    }
    for (const { run, ended: whole } of this.parts) {
      const { unfinished } = run
      if (run.done) ended.push(Deferred.succeed(whole, undefined))
      else if (unfinished.some(({ state }) => state === "failed"))
        ended.push(Deferred.fail(whole, new CollectiveFailed({ unfinished })))
    }
    return Effect.forEach(ended, (each) => each, { discard: true })
  })

  private handleEvent(event: RdmEvent, ended: Array<Effect.Effect<unknown>>): void {
    if (event.type === "remoteWrite") {
      Queue.offerUnsafe(this.remoteWrites, event)
      return
    }
    for (const { run } of this.parts) if (run.handleEvent(event)) return
    const waiting = this.waiting.get(event.context)
    this.waiting.delete(event.context)
    if (waiting === undefined) return
    const { operation, bytes } = event
    ended.push(
      event.type === "completed"
        ? Deferred.succeed(waiting, event)
        : Deferred.fail(waiting, new RdmFailed({ operation, reason: event.reason, bytes })),
    )
  }

  /** Hands in completions as they come, until the scope ends. */
  pump(cq: CompletionQueue): Effect.Effect<never, CqOverrun> {
    const round = Effect.gen({ self: this }, function* () {
      let completion: Completion | undefined = yield* cq.next
      for (; completion !== undefined; completion = cq.pollOne()) {
        const found: Completion = completion
        if (!this.carrier.isStrange(found)) this.carrier.handle(found)
        else
          yield* Effect.match(this.inScope(this.domain.addressHandleFrom(found)), {
            onSuccess: (address) => this.carrier.handle(found, address),
            onFailure: () => this.carrier.drop(found),
          })
      }
      yield* this.flush
    })
    return Effect.forever(round)
  }

  private inScope(handle: Effect.Effect<AddressHandle, VerbsError, Scope.Scope>) {
    return Effect.provideService(handle, Scope.Scope, this.scope)
  }

  private perform(
    operation: RdmOperation,
    begin: (context: number) => RdmRefusal | undefined,
  ): Effect.Effect<RdmCompleted, RdmFailed> {
    return Effect.suspend(() => {
      const context = this.nextContext++
      const refusal = begin(context)
      if (refusal !== undefined) return Effect.fail(new RdmFailed({ operation, reason: refusal, bytes: 0 }))
      const ended = Deferred.makeUnsafe<RdmCompleted, RdmFailed>()
      this.waiting.set(context, ended)
      return Effect.andThen(this.flush, Deferred.await(ended))
    })
  }
}

/** Makes a queue pair of SRD, brings it up, and speaks over it until the scope ends. Dies of an `RdmError` for an option that cannot be. */
export const openMessages = (
  context: DeviceContext,
  domain: ProtectionDomain,
  options: SrdMessagesOptions = {},
): Effect.Effect<SrdMessages, VerbsError, Scope.Scope> =>
  Effect.gen(function* () {
    check("options", options, hasFields(options), "an object")
    const { rdma = true, receives = 128, packetsInFlightMax = IN_FLIGHT, ...rest } = options
    const cq = yield* context.completionQueue(receives + packetsInFlightMax)
    const capabilities = {
      maxSendWr: packetsInFlightMax,
      maxRecvWr: receives,
      maxSendSge: 1,
      maxRecvSge: 1,
      maxInlineBytes: 0,
    }
    const queuePair = yield* domain.queuePair({ type: "srd", cq, capabilities })
    const connid = yield* Random.nextIntBetween(0, CONNIDS)
    yield* queuePair.activate({ queueKey: connid, rnrRetry: RNR_FOREVER })
    const { gid, qpn, mtuBytes } = queuePair.endpoint
    const outgoing = yield* domain.memory(packetsInFlightMax * mtuBytes)
    const incoming = yield* domain.memory(receives * mtuBytes, ["local-write"])
    const directory = new RegionDirectory()
    const address = { gid: parseGid(gid), qpn: addressQpn(qpn), connid }
    const carrier = new SrdCarrier({
      queuePair,
      directory,
      outgoing,
      incoming,
      receives,
      options: { ...rest, packetsInFlightMax, address, mtuBytes, rdmaRead: rdma, rdmaWrite: rdma },
    })
    const scope = yield* Effect.scope
    const remoteWrites = yield* Effect.acquireRelease(Queue.sliding<RdmRemoteWrite>(REMOTE_WRITES_MAX), Queue.shutdown)
    const messages = new SrdMessages(carrier, { gid, qpn, connid }, domain, directory, scope, remoteWrites)
    // The queue has room for all that may complete, so that it never overruns.
    yield* Effect.forkScoped(Effect.orDie(messages.pump(cq)), { startImmediately: true })
    return messages
  })
