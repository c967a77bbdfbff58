import { Access, type MemoryUser, type MwBind, shown } from "@rdmakit/protocol"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import type { MemoryRegion } from "./MemoryRegion.ts"
import type { ProtectionDomain } from "./ProtectionDomain.ts"
import type { KeyEntry } from "./ProtectionTable.ts"

/** Part of a region, opened to peers under a key of its own and without a trip through the kernel (IBTA 1.7 §10.6.7.2). */
export class MemoryWindow {
  readonly pd: ProtectionDomain
  /** 1: any queue pair of the domain; 2: the one that bound it. */
  readonly type: 1 | 2
  private readonly core: DeviceCore
  private readonly entry: KeyEntry
  /** Type 1: the key that the last bind posted will give it. */
  private promised: number
  private bound: MemoryRegion | undefined
  private alive = true

  constructor(core: DeviceCore, pd: ProtectionDomain, type: 1 | 2) {
    if (type !== 1 && type !== 2) {
      throw new DeviceError("EINVAL", "alloc_mw", "type", `${shown(type)} is no type of window`, "say 1 or 2")
    }
    core.resources.claim("memoryWindows", core.limits.maxMw, "alloc_mw")
    const entry = core.memory.add(true, this)
    if (entry === undefined) {
      core.resources.free("memoryWindows")
      throw new DeviceError("ENOMEM", "alloc_mw", undefined, "all keys are taken", "free regions and windows")
    }
    this.core = core
    this.pd = pd
    this.type = type
    this.entry = entry
    this.promised = entry.key
    pd.retain()
  }

  /** The key that opens it to peers, once it is bound. Binding changes the lowest 8 bits. */
  get rkey(): number {
    return this.entry.key
  }
  /** Number of the protection domain. */
  get domain(): number {
    return this.pd.number
  }
  /** Where it is bound; undefined: nowhere. */
  get region(): MemoryRegion | undefined {
    return this.bound
  }
  /** Queue pair of a bound window of type 2; -1. */
  get qpn(): number {
    return this.entry.qpn
  }

  /** Frees it, bound or not. @throws DeviceError EINVAL the second time */
  dealloc(): void {
    if (!this.alive) {
      throw new DeviceError("EINVAL", "dealloc_mw", undefined, "the window is gone already", "free it once")
    }
    this.alive = false
    this.unbind()
    this.core.memory.remove(this.entry)
    this.core.resources.free("memoryWindows")
    this.pd.release()
  }

  /** The key after those of all binds posted (ibv_inc_rkey). */
  promise(): number {
    this.promised = ((this.promised & 0xffffff00) | ((this.promised + 1) & 0xff)) >>> 0
    return this.promised
  }

  /** The region has agreed. */
  bindTo(region: MemoryRegion, user: MemoryUser, bind: MwBind, octets: Uint8Array, offset: number): void {
    this.unbind()
    const { entry } = this
    const zeroBased = (bind.access & Access.ZeroBased) !== 0
    entry.valid = true
    entry.domain = user.domain
    entry.qpn = this.type === 2 ? user.qpn : -1
    entry.access = bind.access & ~Access.ZeroBased
    entry.start = zeroBased ? 0 : bind.address
    entry.end = entry.start + bind.length
    entry.octets = octets
    entry.offset = offset
    this.retagTo(bind.remoteKey)
    this.bound = region
    region.windows.add(this)
    this.core.windows.add(this)
  }

  /** It opens nothing any more; its key stays, to be bound under another tag. */
  unbind(): void {
    this.entry.valid = false
    this.entry.qpn = -1
    this.bound?.windows.delete(this)
    this.core.windows.delete(this)
    this.bound = undefined
  }

  retagTo(key: number): void {
    this.entry.key = ((this.entry.index << 8) | (key & 0xff)) >>> 0
  }
}
