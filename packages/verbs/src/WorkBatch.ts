import type { SendWork } from "@rdmakit/device"
import type { MemoryWindow, RemoteMemory } from "./MemoryRegion.ts"
import { checkFields, VerbsError } from "./VerbsError.ts"
import {
  atomicWriteWork,
  type BindOptions,
  bindWork,
  checkId,
  compareAndSwapWork,
  fetchAndAddWork,
  invalidateWork,
  type LocalMemory,
  type ReadOptions,
  readWork,
  type SendOptions,
  type SendSource,
  sendWork,
  type WorkFlags,
  type WorkIdentity,
  type WriteOptions,
  writeWork,
} from "./Work.ts"

/** Number of a request, and whether its success makes a completion. */
export interface WorkNumber {
  /** From 0 on. Default 0. */
  readonly id?: number
  /** Default false: only a failure is told. */
  readonly signaled?: boolean
}

/**
 * Sends that are put together one by one and posted all at once, or not at all (ibv_wr_start … ibv_wr_complete). A request that
 * cannot be made throws at its own call; what the queue pair refuses, `complete` does.
 *
 * ```ts
 * queuePair.start().write(octets, there).send(local, { id: 1, signaled: true }).complete()
 * ```
 */
export class WorkBatch {
  private readonly post: (works: ReadonlyArray<SendWork>) => void
  private works: Array<SendWork> | undefined = []

  constructor(post: (works: ReadonlyArray<SendWork>) => void) {
    this.post = post
  }

  /** Requests so far. */
  get length(): number {
    return this.works?.length ?? 0
  }

  send(from: SendSource, options: SendOptions & WorkNumber = {}): this {
    return this.add(sendWork(identityOf(options), from, options))
  }
  write(from: SendSource, to: RemoteMemory, options: WriteOptions & WorkNumber = {}): this {
    return this.add(writeWork(identityOf(options), from, to, options))
  }
  read(into: LocalMemory, from: RemoteMemory, options: ReadOptions & WorkNumber = {}): this {
    return this.add(readWork(identityOf(options), into, from, options))
  }
  /** @param into eight octets for what is found */
  compareAndSwap(
    into: LocalMemory,
    at: RemoteMemory,
    values: { readonly compare: bigint; readonly swap: bigint },
    options: WorkFlags & WorkNumber = {},
  ): this {
    return this.add(compareAndSwapWork(identityOf(options), into, at, values, options))
  }
  /** @param into eight octets for what is found */
  fetchAndAdd(into: LocalMemory, at: RemoteMemory, add: bigint, options: WorkFlags & WorkNumber = {}): this {
    return this.add(fetchAndAddWork(identityOf(options), into, at, add, options))
  }
  /** @param value eight octets, or a number that is written low octet first */
  atomicWrite(value: bigint | Uint8Array, at: RemoteMemory, options: WorkFlags & WorkNumber = {}): this {
    return this.add(atomicWriteWork(identityOf(options), value, at, options))
  }
  /** Binds a window of type 2. @param remoteKey the window's, with another lowest octet: `nextKey` gives one */
  bind(window: MemoryWindow, remoteKey: number, options: BindOptions & WorkFlags & WorkNumber): this {
    return this.add(bindWork(identityOf(options), window, remoteKey, options))
  }
  invalidate(key: number, options: WorkFlags & WorkNumber = {}): this {
    return this.add(invalidateWork(identityOf(options), key, options))
  }

  /** Posts them. @throws VerbsError EINVAL, ENOMEM: none is posted */
  complete(): void {
    const works = this.open()
    this.works = undefined
    this.post(works)
  }

  /** Drops them. */
  abort(): void {
    this.works = undefined
  }

  private add(work: SendWork): this {
    this.open().push(work)
    return this
  }

  private open(): Array<SendWork> {
    if (this.works !== undefined) return this.works
    throw new VerbsError({
      errno: "EINVAL",
      verb: "wr_start",
      problem: "the batch has been completed or aborted",
      remedy: "start another",
    })
  }
}

const identityOf = (options: WorkNumber): WorkIdentity => {
  checkFields("post_send", "options", options, "give an object, or leave it out")
  const { id = 0, signaled = false } = options
  checkId("post_send", id)
  return { id, signaled }
}
