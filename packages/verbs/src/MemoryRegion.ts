import {
  type Device,
  type Allocation as DeviceAllocation,
  ProtectionDomain as DeviceDomain,
  type MemoryRegion as DeviceRegion,
  type MemoryWindow as DeviceWindow,
} from "@rdmakit/device"
import { hasFields, type Sge } from "@rdmakit/protocol"
import { Effect } from "effect"
import type { DeviceState } from "./DeviceState.ts"
import { Lifetime } from "./Lifetime.ts"
import { type AccessName, accessBits, accessNames } from "./Names.ts"
import type { ProtectionDomain } from "./ProtectionDomain.ts"
import { attempt, VerbsError, wrongType } from "./VerbsError.ts"

/** Memory of a peer, as work requests name it. Plain data: it may travel by any channel. */
export interface RemoteMemory {
  /** 64 bits; a bigint from 2^53 on. */
  readonly address: number | bigint
  readonly rkey: number
}

/** Part of a region: local memory of one's own work requests, and remote memory of a peer's. */
export interface MemoryRange extends Sge {
  readonly rkey: number
  /** The octets themselves. */
  readonly octets: Uint8Array
}

/** Memory of the program that its device can reach. It ends with its scope. */
export class Allocation {
  readonly handle: DeviceAllocation
  readonly lifetime: Lifetime

  constructor(state: DeviceState, device: Device, bytes: number, writable: boolean) {
    this.handle = device.allocate(bytes, { writable })
    this.lifetime = new Lifetime(state.lifetimes, () => device.release(this.handle))
  }

  /** Virtual address of the first octet, a multiple of 4,096. */
  get address(): number {
    return this.handle.address
  }
  get length(): number {
    return this.handle.octets.length
  }
  /** The octets themselves. */
  get octets(): Uint8Array {
    return this.handle.octets
  }

  /** Gives it back before its scope does. Fails with EBUSY while it is registered. */
  get release(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }
}

/** Which part of the memory is registered, and under which address. */
export interface RegionPlace {
  /** First octet within the memory. Default 0. */
  readonly offset?: number
  /** Bytes. Default: to the end. */
  readonly length?: number
  /** By which address work requests name the first octet. Default: its virtual address, or 0 with "zero-based". */
  readonly iova?: number
}

/** Where a region's octets are, as the device is told. */
export const placeIn = (verb: string, memory: Allocation, place: RegionPlace = {}) => {
  if (!(memory instanceof Allocation)) throw wrongType(verb, "memory", memory, "give what `allocate` made")
  if (!hasFields(place)) throw wrongType(verb, "place", place, "give { offset, length, iova }, or leave it out")
  for (const field of ["offset", "length", "iova"] as const) {
    const value = place[field]
    if (value !== undefined && !Number.isSafeInteger(value)) throw wrongType(verb, field, value, "give a whole number")
  }
  const { offset = 0, length = memory.length - offset, iova } = place
  return { address: memory.address + offset, length, ...(iova === undefined ? {} : { iova }) }
}

/** What of a region changes (ibv_rereg_mr). */
export interface RegionChange {
  readonly access?: ReadonlyArray<AccessName>
  readonly protectionDomain?: ProtectionDomain
  /** Other memory. The keys are new. */
  readonly memory?: Allocation
  readonly place?: RegionPlace
}

/** Registered memory (struct ibv_mr): itself a range, the whole. It ends with its scope. */
export class MemoryRegion implements MemoryRange {
  readonly handle: DeviceRegion
  readonly lifetime: Lifetime
  private registered: Allocation

  constructor(state: DeviceState, handle: DeviceRegion, memory: Allocation) {
    this.handle = handle
    this.registered = memory
    this.lifetime = new Lifetime(state.lifetimes, () => handle.dereg())
  }

  /** What is registered. */
  get allocation(): Allocation {
    return this.registered
  }
  /** By which address work requests name its first octet. */
  get address(): number {
    return this.handle.iova
  }
  get length(): number {
    return this.handle.length
  }
  /** Key for work requests of this side. Never the same number as `rkey`. */
  get lkey(): number {
    return this.handle.lkey
  }
  /** Key for peers. */
  get rkey(): number {
    return this.handle.rkey
  }
  get access(): ReadonlyArray<AccessName> {
    return accessNames(this.handle.access)
  }
  get octets(): Uint8Array {
    return this.handle.octets
  }

  /**
   * Part of it, as its keys are now. Where it lies is not checked: a device checks when it touches the memory.
   *
   * @param length default: to the end
   * @throws VerbsError EINVAL when one of them is no number
   */
  range(offset: number, length: number = this.length - Number(offset)): MemoryRange {
    if (typeof offset !== "number") throw wrongType("range", "offset", offset, "give octets from its start")
    if (typeof length !== "number") throw wrongType("range", "length", length, "give a number of octets")
    const { address, lkey, rkey, octets } = this
    return { address: address + offset, length, lkey, rkey, octets: octets.subarray(offset, offset + length) }
  }

  /** What a peer needs to know of it: for JSON, a message, or connection management's private data. */
  get remote(): RemoteMemory & { readonly length: number } {
    return { address: this.address, rkey: this.rkey, length: this.length }
  }

  /** Changes what it covers, whose it is or what it allows (ibv_rereg_mr). Fails with EBUSY while windows are bound to it. */
  rereg(change: RegionChange): Effect.Effect<void, VerbsError> {
    return attempt(() => {
      if (!hasFields(change))
        throw wrongType("rereg_mr", "change", change, "give { access, protectionDomain, memory, place }")
      const { access, protectionDomain, memory, place } = change
      if (protectionDomain !== undefined && !(protectionDomain?.handle instanceof DeviceDomain))
        throw wrongType("rereg_mr", "protectionDomain", protectionDomain, "give one of this device")
      const moves = memory !== undefined || place !== undefined
      this.handle.rereg({
        ...(access === undefined ? {} : { access: accessBits(access, "rereg_mr") }),
        ...(protectionDomain === undefined ? {} : { pd: protectionDomain.handle }),
        ...(moves ? { translation: placeIn("rereg_mr", memory === undefined ? this.registered : memory, place) } : {}),
      })
      if (memory !== undefined) this.registered = memory
    })
  }

  /**
   * Says what it will be used for (ibv_advise_mr). The memory of these devices is always there, so that nothing is fetched:
   * the range is checked, and that is all.
   */
  advise(
    advice: "prefetch" | "prefetch-write" | "prefetch-no-fault",
    range: Sge = this,
  ): Effect.Effect<void, VerbsError> {
    return Effect.suspend(() => {
      const refuse = (errno: "EINVAL" | "EFAULT", attribute: string, problem: string, remedy: string) =>
        Effect.fail(new VerbsError({ errno, verb: "advise_mr", attribute, problem, remedy }))
      if (!hasFields(range)) return Effect.fail(wrongType("advise_mr", "range", range, "take a range of this region"))
      if (range.lkey !== this.lkey) return refuse("EINVAL", "range.lkey", "another key", "take a range of this region")
      const start = range.address - this.address
      if (!(start >= 0) || !(range.length >= 0) || !(range.length <= this.length - start)) {
        return refuse("EFAULT", "range", "outside of the region", `stay within its ${this.length} bytes`)
      }
      if (advice === "prefetch-write" && !this.access.includes("local-write")) {
        return refuse("EINVAL", "advice", "the region is not written locally", 'register it with "local-write"')
      }
      return Effect.void
    })
  }

  /** Ends it before its scope does. Fails with EBUSY while windows are bound to it. */
  get dereg(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }
}

/** Part of a region, opened to peers under a key of its own (struct ibv_mw). `QueuePair.bind` binds it. It ends with its scope. */
export class MemoryWindow {
  readonly handle: DeviceWindow
  readonly lifetime: Lifetime

  constructor(state: DeviceState, handle: DeviceWindow) {
    this.handle = handle
    this.lifetime = new Lifetime(state.lifetimes, () => handle.dealloc())
  }

  /** 1: for all queue pairs of its protection domain. 2: for the one that binds it. */
  get type(): 1 | 2 {
    return this.handle.type
  }
  /** Key for peers, once it is bound. Each bind changes the lowest 8 bits. */
  get rkey(): number {
    return this.handle.rkey
  }
  get isBound(): boolean {
    return this.handle.region !== undefined
  }

  /** Ends it before its scope does. What it was bound to is open no more. */
  get dealloc(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }
}
