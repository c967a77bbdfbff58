import { Access, hasFields, MemoryFault, type MemoryUser, type MwBind, shown } from "@rdmakit/protocol"
import type { Pinned } from "./AddressSpace.ts"
import { PAGE_BYTES } from "./AddressSpace.ts"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import { checkFields } from "./Given.ts"
import type { MemoryWindow } from "./MemoryWindow.ts"
import type { ProtectionDomain } from "./ProtectionDomain.ts"
import type { Bindable, KeyEntry } from "./ProtectionTable.ts"

/** What is registered, and for whom. */
export interface RegionOptions {
  /** Virtual address in the device's address space. */
  readonly address: number
  /** Bytes, from 1 on. */
  readonly length: number
  /** `Access` bits. */
  readonly access: number
  /** The address by which work requests name the first octet; it has the same place in its page as `address`, which it is by default. */
  readonly iova?: number
}

/** What of a region is to change (enum ibv_rereg_mr_flags). */
export interface RegionChanges {
  readonly translation?: { readonly address: number; readonly length: number; readonly iova?: number }
  readonly pd?: ProtectionDomain
  readonly access?: number
}

const REMOTE = Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic
const KNOWN = Access.LocalWrite | REMOTE | Access.MwBind | Access.ZeroBased
/** IB_ACCESS_OPTIONAL: bits that a device may pass over, relaxed ordering among them. */
const PASSED_OVER = 0x3ff00000
/** What makes the device write, now or through a window. */
const WRITES = Access.LocalWrite | Access.RemoteWrite | Access.RemoteAtomic | Access.MwBind

/** Registered memory, under a key for this side and one for peers. */
export class MemoryRegion implements Bindable {
  /** Windows bound to it. */
  readonly windows = new Set<MemoryWindow>()
  private readonly core: DeviceCore
  private readonly local: KeyEntry
  private readonly remote: KeyEntry
  private memory: Pinned
  private domain: ProtectionDomain
  private place: { readonly address: number; readonly length: number; readonly iova: number }
  private flags: number
  private alive = true

  constructor(core: DeviceCore, pd: ProtectionDomain, options: RegionOptions) {
    checkFields("reg_mr", "options", options, "say address, length and access")
    const access = checkAccess("reg_mr", options.access)
    const memory = pin(core, "reg_mr", options, access)
    try {
      core.resources.claim("memoryRegions", core.limits.maxMr, "reg_mr")
    } catch (refusal) {
      memory.unpin()
      throw refusal
    }
    const local = core.memory.add(false)
    const remote = core.memory.add(true)
    if (local === undefined || remote === undefined) {
      if (local !== undefined) core.memory.remove(local)
      memory.unpin()
      core.resources.free("memoryRegions")
      throw new DeviceError("ENOMEM", "reg_mr", undefined, "all keys are taken", "deregister regions")
    }
    this.core = core
    this.local = local
    this.remote = remote
    this.memory = memory
    this.domain = pd
    this.flags = access
    this.place = placeOf(options, access)
    pd.retain()
    core.memory.addRegion(local, this)
    this.publish()
  }

  /** For this side's work requests. Never the same number as `rkey`. */
  get lkey(): number {
    return this.local.key
  }
  /** For peers. */
  get rkey(): number {
    return this.remote.key
  }
  get pd(): ProtectionDomain {
    return this.domain
  }
  /** Where the memory is in the address space. */
  get address(): number {
    return this.place.address
  }
  get length(): number {
    return this.place.length
  }
  /** By which address work requests name the first octet: 0 when the region is zero-based. */
  get iova(): number {
    return this.place.iova
  }
  get access(): number {
    return this.flags
  }
  /** The registered octets. */
  get octets(): Uint8Array {
    return this.memory.octets
  }

  /**
   * Who is told each time that a peer's WRITE has put octets here under `rkey`, packet by packet, for programs that wait for
   * memory to change: such as a benchmark, which on real memory would look again and again. Atomics and windows tell nobody.
   */
  onWrite(listener: (() => void) | undefined): void {
    this.remote.onWrite = listener
  }

  /**
   * Changes what it covers, whose it is, or what it allows. A new place brings new keys.
   * @throws DeviceError EINVAL, EFAULT, EBUSY while windows are bound to it
   */
  rereg(changes: RegionChanges): void {
    this.refuseBusy("rereg_mr", "unbind or invalidate them first")
    checkFields("rereg_mr", "changes", changes, "give translation, pd or access")
    const { translation, pd } = changes
    if (translation === undefined && pd === undefined && changes.access === undefined) {
      throw new DeviceError("EINVAL", "rereg_mr", undefined, "nothing to change", "give translation, pd or access")
    }
    if (translation !== undefined) checkFields("rereg_mr", "translation", translation, "say address and length")
    if (pd !== undefined && (!hasFields(pd) || pd.device !== this.domain.device)) {
      throw new DeviceError("EINVAL", "rereg_mr", "pd", "it is another device's", "take a domain of the same device")
    }
    const access = changes.access === undefined ? this.flags : checkAccess("rereg_mr", changes.access)
    if (translation !== undefined) {
      const memory = pin(this.core, "rereg_mr", translation, access)
      this.memory.unpin()
      this.memory = memory
      this.place = placeOf(translation, access)
      this.local.retag()
      this.remote.retag()
    } else {
      refuseReadOnly("rereg_mr", this.memory, access)
      const { address, length, iova } = this.place
      const wasZeroBased = (this.flags & Access.ZeroBased) !== 0
      this.place = placeOf(wasZeroBased ? { address, length } : { address, length, iova }, access)
    }
    this.flags = access
    if (pd !== undefined && pd !== this.domain) {
      pd.retain()
      this.domain.release()
      this.domain = pd
    }
    this.publish()
  }

  /** Ends it: both keys open nothing from now on. @throws DeviceError EBUSY while windows are bound, EINVAL the second time */
  dereg(): void {
    if (!this.alive) {
      throw new DeviceError("EINVAL", "dereg_mr", undefined, "the region is gone already", "deregister it once")
    }
    this.refuseBusy("dereg_mr", "unbind, invalidate or free them first")
    this.alive = false
    this.core.memory.remove(this.local)
    this.core.memory.remove(this.remote)
    this.memory.unpin()
    this.core.resources.free("memoryRegions")
    this.domain.release()
  }

  bindWindow(window: MemoryWindow, user: MemoryUser, bind: MwBind): MemoryFault {
    const { iova, length } = this.place
    // IBTA 1.7 §10.6.7.2: the region must allow windows, and writing when the window does; a zero-based one takes none.
    if ((this.flags & Access.MwBind) === 0 || (this.flags & Access.ZeroBased) !== 0) return MemoryFault.Access
    const writes = (bind.access & (Access.RemoteWrite | Access.RemoteAtomic)) !== 0
    if (writes && (this.flags & Access.LocalWrite) === 0) return MemoryFault.Access
    if (bind.address < iova || bind.length > iova + length - bind.address) return MemoryFault.Bounds
    window.bindTo(this, user, bind, this.memory.octets, bind.address - iova)
    return MemoryFault.None
  }

  /** Writes what it is into its two entries of the table. */
  private publish(): void {
    for (const entry of [this.local, this.remote]) {
      entry.valid = true
      entry.domain = this.domain.number
      entry.access = this.flags & (entry.remote ? REMOTE : Access.LocalWrite)
      entry.start = this.place.iova
      entry.end = this.place.iova + this.place.length
      entry.octets = this.memory.octets
      entry.offset = 0
    }
  }

  private refuseBusy(verb: string, remedy: string): void {
    if (!this.alive) throw new DeviceError("EINVAL", verb, undefined, "the region is gone", "register another")
    if (this.windows.size === 0) return
    throw new DeviceError("EBUSY", verb, undefined, `${this.windows.size} memory windows are bound to it`, remedy)
  }
}

const placeOf = (
  options: { readonly address: number; readonly length: number; readonly iova?: number },
  access: number,
) => ({
  address: options.address,
  length: options.length,
  iova: (access & Access.ZeroBased) === 0 ? (options.iova ?? options.address) : 0,
})

/** ib_check_mr_access: who lets a peer write must be able to write. */
const checkAccess = (verb: string, access: number): number => {
  const known = Number.isSafeInteger(access) ? access & ~PASSED_OVER : undefined
  if (known === undefined || (known & ~KNOWN) !== 0) {
    throw new DeviceError(
      "EINVAL",
      verb,
      "access",
      `${shown(access)} has bits that no access flag has`,
      "use the bits of Access",
    )
  }
  const writes = (known & (Access.RemoteWrite | Access.RemoteAtomic)) !== 0
  if (writes && (known & Access.LocalWrite) === 0) {
    throw new DeviceError(
      "EINVAL",
      verb,
      "access",
      `${(known & Access.RemoteWrite) !== 0 ? "RemoteWrite" : "RemoteAtomic"} without LocalWrite`,
      "add Access.LocalWrite",
    )
  }
  return known
}

const isAddress = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

const pin = (
  core: DeviceCore,
  verb: string,
  options: { readonly address: number; readonly length: number; readonly iova?: number },
  access: number,
): Pinned => {
  const { address, length, iova } = options
  if (!isAddress(length) || length < 1 || length > core.limits.maxMrBytes) {
    throw new DeviceError(
      "EINVAL",
      verb,
      "length",
      `${shown(length)} is no length of a region`,
      `give 1 to ${core.limits.maxMrBytes} bytes`,
    )
  }
  if (!isAddress(address)) {
    throw new DeviceError("EINVAL", verb, "address", `${shown(address)} is no address`, "take one that allocate gave")
  }
  if (
    iova !== undefined &&
    (!isAddress(iova) || !isAddress(iova + length) || iova % PAGE_BYTES !== address % PAGE_BYTES)
  ) {
    throw new DeviceError(
      "EINVAL",
      verb,
      "iova",
      `${shown(iova)} has another place in its page than the address, or is no address`,
      "take one below 2^53 that differs from the address by whole pages",
    )
  }
  const pinned = core.space.pin(address, length)
  if (pinned === undefined) {
    throw new DeviceError(
      "EFAULT",
      verb,
      "address",
      `${length} bytes from 0x${address.toString(16)} on are not all allocated`,
      "stay within one allocation",
    )
  }
  try {
    refuseReadOnly(verb, pinned, access)
  } catch (refusal) {
    pinned.unpin()
    throw refusal
  }
  return pinned
}

const refuseReadOnly = (verb: string, pinned: Pinned, access: number): void => {
  if (pinned.writable || (access & WRITES) === 0) return
  throw new DeviceError(
    "EFAULT",
    verb,
    "access",
    "the pages are read-only and the flags let the device write",
    "register it for reading alone, or allocate it writable",
  )
}
