import type { ProtectionDomain as DeviceDomain, ThreadDomain as DeviceThread, QpCapabilities } from "@rdmakit/device"
import { type Completion, hasFields, type QpType } from "@rdmakit/protocol"
import { parseSize, UnitError } from "@rdmakit/units"
import { Effect, Random, type Scope } from "effect"
import { type Address, AddressHandle, vectorOf } from "./AddressHandle.ts"
import { CompletionQueue } from "./CompletionQueue.ts"
import type { DeviceState } from "./DeviceState.ts"
import { Lifetime, scoped } from "./Lifetime.ts"
import { Allocation, MemoryRegion, MemoryWindow, placeIn, type RegionPlace } from "./MemoryRegion.ts"
import { type AccessName, accessBits } from "./Names.ts"
import { QueuePair } from "./QueuePair.ts"
import { SharedReceiveQueue } from "./SharedReceiveQueue.ts"
import { checkFields, VerbsError, wrongType } from "./VerbsError.ts"

/** What a queue pair is made of (struct ibv_qp_init_attr). */
export interface QueuePairOptions {
  readonly type: QpType
  /** Where sends complete, and receives unless `receiveCq` is there. */
  readonly cq: CompletionQueue
  readonly receiveCq?: CompletionQueue
  /** Where receives come from, in place of its own queue. */
  readonly srq?: SharedReceiveQueue
  /** Default: 64 requests of up to 4 ranges either way, and 256 bytes inline. */
  readonly capabilities?: Partial<QpCapabilities>
  /** Every send makes a completion (sq_sig_all). Default false. */
  readonly signalAll?: boolean
  /** Which address of the port it has. Default: what `chooseGid` finds. */
  readonly gidIndex?: number
  /** Its first packet sequence number, 24 bits. Default: drawn from the program's `Random`. */
  readonly psn?: number
}

const CAPABILITIES: QpCapabilities = {
  maxSendWr: 64,
  maxRecvWr: 64,
  maxSendSge: 4,
  maxRecvSge: 4,
  maxInlineBytes: 256,
}
const PSN_COUNT = 1 << 24
const NO_HEADER = new Uint8Array(0)

/** Bytes, as a number or as text such as "64KiB". @throws VerbsError EINVAL */
export const bytesOf = (size: number | string): number => {
  if (typeof size === "number") return size
  if (typeof size !== "string") throw wrongType("allocate", "bytes", size, 'say 4096 or "64KiB"')
  try {
    return parseSize(size)
  } catch (error) {
    if (!(error instanceof UnitError)) throw error
    throw new VerbsError({
      errno: "EINVAL",
      verb: "allocate",
      attribute: "bytes",
      problem: error.message,
      remedy: 'say "4096B" or "64KiB"',
    })
  }
}

/** A promise that one fiber alone uses what is made with it (struct ibv_td); a parent domain takes it. It ends with its scope. */
export class ThreadDomain {
  readonly handle: DeviceThread
  readonly lifetime: Lifetime

  constructor(state: DeviceState, handle: DeviceThread) {
    this.handle = handle
    this.lifetime = new Lifetime(state.lifetimes, () => handle.dealloc())
  }

  /** Ends it before its scope does. Fails with EBUSY while a parent domain has it. */
  get dealloc(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }
}

/**
 * What may touch what (struct ibv_pd): queue pairs reach the memory of their own domain alone. What is made of it ends with the
 * scope it is made in, in the right order: what is still in use then goes with its last user.
 */
export class ProtectionDomain {
  readonly handle: DeviceDomain
  readonly lifetime: Lifetime
  private readonly state: DeviceState

  constructor(state: DeviceState, handle: DeviceDomain) {
    this.state = state
    this.handle = handle
    this.lifetime = new Lifetime(state.lifetimes, () => handle.dealloc())
  }

  /**
   * Allocates memory and registers all of it.
   *
   * @param size bytes from 1 on, or text: "64KiB"
   * @param access what the device may do with it beside reading it for local requests. Remote writing and atomics need
   * "local-write" too (EINVAL)
   */
  memory(
    size: number | string,
    access: ReadonlyArray<AccessName> = [],
  ): Effect.Effect<MemoryRegion, VerbsError, Scope.Scope> {
    const { device } = this.handle
    return scoped(() => new Allocation(this.state, device, bytesOf(size), true)).pipe(
      Effect.andThen((memory) => this.register(memory, access)),
    )
  }

  /** Registers memory, or part of it (ibv_reg_mr, ibv_reg_mr_iova). Fails with EFAULT beyond it, or to write to read-only pages. */
  register(
    memory: Allocation,
    access: ReadonlyArray<AccessName> = [],
    place: RegionPlace = {},
  ): Effect.Effect<MemoryRegion, VerbsError, Scope.Scope> {
    return scoped(() => {
      const handle = this.handle.regMr({ ...placeIn("reg_mr", memory, place), access: accessBits(access) })
      return new MemoryRegion(this.state, handle, memory)
    })
  }

  /** A window, not bound yet (ibv_alloc_mw). 1: for all queue pairs of the domain. 2: for the one that binds it. */
  memoryWindow(type: 1 | 2): Effect.Effect<MemoryWindow, VerbsError, Scope.Scope> {
    return scoped(() => new MemoryWindow(this.state, this.handle.allocMw(type)))
  }

  /** A queue pair in RESET (ibv_create_qp). */
  queuePair(options: QueuePairOptions): Effect.Effect<QueuePair, VerbsError, Scope.Scope> {
    return Effect.flatMap(Random.nextIntBetween(0, PSN_COUNT), (drawn) =>
      scoped(() => {
        const verb = "create_qp"
        checkFields(verb, "options", options, "give { type, cq }, and what else differs")
        const { type, cq, receiveCq = cq, srq, capabilities, signalAll = false, gidIndex, psn = drawn } = options
        for (const [attribute, queue] of [["cq", cq] as const, ["receiveCq", receiveCq] as const])
          if (!(queue instanceof CompletionQueue))
            throw wrongType(verb, attribute, queue, "give what `completionQueue` made")
        if (srq !== undefined && !(srq instanceof SharedReceiveQueue))
          throw wrongType(verb, "srq", srq, "give what `sharedReceiveQueue` made, or leave it out")
        if (!Number.isSafeInteger(psn)) throw wrongType(verb, "psn", psn, "give 24 bits")
        const handle = this.handle.createQp({
          type,
          sendCq: cq.handle,
          recvCq: receiveCq.handle,
          ...(srq === undefined ? {} : { srq: srq.handle }),
          capabilities: { ...CAPABILITIES, ...capabilities },
          signalAll,
        })
        return new QueuePair(this.state, handle, { sendCq: cq, receiveCq, psn: psn & (PSN_COUNT - 1), gidIndex })
      }),
    )
  }

  /** Receives for many queue pairs (ibv_create_srq). */
  sharedReceiveQueue(options: {
    readonly maxWr: number
    /** Ranges of one receive. Default 4. */
    readonly maxSge?: number
    /** SRQ_LIMIT_REACHED comes once when fewer receives are left. Default 0: never. */
    readonly limit?: number
  }): Effect.Effect<SharedReceiveQueue, VerbsError, Scope.Scope> {
    return scoped(() => {
      checkFields("create_srq", "options", options, "give { maxWr }, and what else differs")
      const { maxSge = CAPABILITIES.maxRecvSge } = options
      return new SharedReceiveQueue(this.state, this.handle.createSrq({ ...options, maxSge }))
    })
  }

  /** Where datagrams go (ibv_create_ah). Fails with EHOSTUNREACH when nobody can be there. */
  addressHandle(address: Address): Effect.Effect<AddressHandle, VerbsError, Scope.Scope> {
    return scoped(() => new AddressHandle(this.state, this.handle.createAh(vectorOf(address, this.handle.device.gids))))
  }

  /**
   * The way back to a datagram's sender (ibv_create_ah_from_wc). Its queue pair is `completion.sourceQp`.
   *
   * @param header of UD, the first 40 octets of the receive; an SRD completion says itself who it is from. EINVAL when it is
   * no octets, as a region is none: take those of its memory
   */
  addressHandleFrom(
    completion: Completion,
    header: Uint8Array = NO_HEADER,
  ): Effect.Effect<AddressHandle, VerbsError, Scope.Scope> {
    return scoped(() => {
      const verb = "create_ah_from_wc"
      if (!hasFields(completion)) throw wrongType(verb, "completion", completion, "give what a receive completed with")
      const { sourceGid } = completion
      if (sourceGid !== undefined && !(sourceGid instanceof Uint8Array))
        throw wrongType(verb, "completion.sourceGid", sourceGid, "give what a receive completed with")
      if (!(header instanceof Uint8Array))
        throw wrongType(verb, "header", header, "give the first 40 octets of the receive, as region.octets has them")
      return new AddressHandle(this.state, this.handle.createAhFromCompletion(completion, header))
    })
  }

  /** A domain for the same memory (ibv_alloc_parent_domain). */
  parentDomain(threadDomain?: ThreadDomain): Effect.Effect<ProtectionDomain, VerbsError, Scope.Scope> {
    return scoped(() => new ProtectionDomain(this.state, this.handle.allocParentDomain(threadDomain?.handle)))
  }

  /** Ends it before its scope does. Fails with EBUSY while something of it is in use. */
  get dealloc(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }
}
