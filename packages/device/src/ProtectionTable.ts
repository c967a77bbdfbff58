import { Access, type Memory, MemoryFault, type MemoryUser, type MwBind } from "@rdmakit/protocol"
import { hash32 } from "@rdmakit/units"
import type { MemoryWindow } from "./MemoryWindow.ts"

/** Indices that lie idle before the first is used again: a key that was good stays bad for as long. */
const IDLE_MIN = 1024
const INDICES_MAX = 1 << 24
const NO_OCTETS = new Uint8Array(0)
const REMOTE = Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic

/** One key of the table, and what it opens. Bound windows have a copy of their region's place, so that one look decides. */
export class KeyEntry {
  readonly index: number
  /** Index in the upper 24 bits, tag in the lower 8. */
  key: number
  /** An rkey, not an lkey. */
  readonly remote: boolean
  /** false: the key opens nothing now. */
  valid = false
  domain = -1
  /** Queue pair of a window of type 2; -1: any. */
  qpn = -1
  access = 0
  /** First address, and the one behind the last. */
  start = 0
  end = 0
  /** Octets of the region; `start` is at `offset`. */
  octets: Uint8Array = NO_OCTETS
  offset = 0
  /** The window, when it is a window's. */
  readonly window: MemoryWindow | undefined
  /** Called when a peer has written under this key. */
  onWrite: (() => void) | undefined = undefined
  private numbers: DataView | undefined = undefined

  constructor(index: number, tag: number, remote: boolean, window: MemoryWindow | undefined) {
    this.index = index
    this.key = ((index << 8) | tag) >>> 0
    this.remote = remote
    this.window = window
  }

  /** The octets as numbers: exactly these, so that what lies beside them is out of its reach too. */
  view(): DataView {
    const { octets } = this
    if (
      this.numbers?.buffer !== octets.buffer ||
      this.numbers.byteLength !== octets.byteLength ||
      this.numbers.byteOffset !== octets.byteOffset
    ) {
      this.numbers = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
    }
    return this.numbers
  }

  /** It opens nothing for good, and holds no memory. */
  close(): void {
    this.valid = false
    this.octets = NO_OCTETS
    this.numbers = undefined
    this.onWrite = undefined
  }

  /** From now on another tag: who has the old key has nothing. */
  retag(): void {
    this.key = ((this.index << 8) | ((this.key + 1) & 0xff)) >>> 0
  }
}

/** What binds a window: the table finds the region by its lkey. */
export interface Bindable {
  bindWindow(window: MemoryWindow, user: MemoryUser, bind: MwBind): MemoryFault
}

/** The keys of a device, and the memory behind them. Every access goes through `find`. */
export class ProtectionTable implements Memory {
  /** What the last atomic found. */
  original = 0n
  private readonly seed: number
  private readonly entries: Array<KeyEntry | undefined> = [undefined]
  /** Regions by the index of their lkey. */
  private readonly regions = new Map<KeyEntry, Bindable>()
  /** Indices given back, oldest first from `idleHead` on, with the tag that follows the last. */
  private readonly idle: Array<{ readonly index: number; readonly tag: number }> = []
  private idleHead = 0
  /** Where `find` found the octets: the entry, and the place in its octets. */
  private entry: KeyEntry | undefined
  private at = 0

  constructor(seed: number) {
    this.seed = seed >>> 0
  }

  /** A key that opens nothing yet. undefined: all are taken. */
  add(remote: boolean, window?: MemoryWindow): KeyEntry | undefined {
    let index = this.entries.length
    let tag = hash32(this.seed, 0x6b657973, index) & 0xff
    if (this.idle.length - this.idleHead > IDLE_MIN || index >= INDICES_MAX) {
      const oldest = this.idle[this.idleHead]
      if (oldest === undefined) return undefined
      this.idleHead += 1
      if (this.idleHead > IDLE_MIN) {
        this.idle.splice(0, this.idleHead)
        this.idleHead = 0
      }
      index = oldest.index
      tag = oldest.tag
    }
    const entry = new KeyEntry(index, tag, remote, window)
    this.entries[index] = entry
    return entry
  }

  /** Which region an lkey is for, where windows may be bound. */
  addRegion(entry: KeyEntry, region: Bindable): void {
    this.regions.set(entry, region)
  }

  remove(entry: KeyEntry): void {
    if (this.entries[entry.index] !== entry) return
    entry.close()
    this.entries[entry.index] = undefined
    this.regions.delete(entry)
    this.idle.push({ index: entry.index, tag: (entry.key + 1) & 0xff })
  }

  check(user: MemoryUser, key: number, remote: boolean, access: number, address: number, bytes: number): MemoryFault {
    // IBTA vol. 1, C9-88: the key of a request for no bytes is not looked at.
    if (bytes === 0) return MemoryFault.None
    return this.find(user, key, remote, access, address, bytes)
  }

  read(
    user: MemoryUser,
    key: number,
    remote: boolean,
    address: number,
    bytes: number,
    out: Uint8Array,
    outStart: number,
  ): MemoryFault {
    if (bytes === 0) return MemoryFault.None
    const fault = this.find(user, key, remote, remote ? Access.RemoteRead : 0, address, bytes)
    if (fault !== MemoryFault.None) return fault
    return copy(this.entry!.octets, this.at, bytes, out, outStart)
  }

  write(
    user: MemoryUser,
    key: number,
    remote: boolean,
    address: number,
    octets: Uint8Array,
    start: number,
    bytes: number,
  ): MemoryFault {
    if (bytes === 0) return MemoryFault.None
    const fault = this.find(user, key, remote, remote ? Access.RemoteWrite : Access.LocalWrite, address, bytes)
    if (fault !== MemoryFault.None) return fault
    const entry = this.entry!
    const outcome = copy(octets, start, bytes, entry.octets, this.at)
    if (remote && entry.onWrite !== undefined && outcome === MemoryFault.None) entry.onWrite()
    return outcome
  }

  compareAndSwap(user: MemoryUser, key: number, address: number, compare: bigint, swap: bigint): MemoryFault {
    const fault = this.findAtomic(user, key, address)
    if (fault !== MemoryFault.None) return fault
    this.original = this.load()
    if (this.original === BigInt.asUintN(64, compare)) this.store(swap)
    return MemoryFault.None
  }

  fetchAndAdd(user: MemoryUser, key: number, address: number, add: bigint): MemoryFault {
    const fault = this.findAtomic(user, key, address)
    if (fault !== MemoryFault.None) return fault
    this.original = this.load()
    this.store(this.original + add)
    return MemoryFault.None
  }

  invalidate(user: MemoryUser, key: number, _remote: boolean): MemoryFault {
    const entry = this.entryOf(key)
    if (entry === undefined || !entry.remote || !entry.valid) return MemoryFault.Key
    if (entry.domain !== user.domain) return MemoryFault.Domain
    // Regions that programs register, and windows of type 1, are not invalidated by work requests (IBTA 1.7 §10.6.7.2, and rxe).
    if (entry.window === undefined || entry.window.type !== 2) return MemoryFault.Access
    if (entry.qpn !== user.qpn) return MemoryFault.Domain
    entry.window.unbind()
    return MemoryFault.None
  }

  bind(user: MemoryUser, bind: MwBind): MemoryFault {
    const window = this.entryOf(bind.window)?.window
    if (window === undefined) return MemoryFault.Key
    if (window.domain !== user.domain) return MemoryFault.Domain
    if ((bind.remoteKey ^ bind.window) >>> 8 !== 0) return MemoryFault.Key
    if ((bind.access & ~(REMOTE | Access.ZeroBased)) !== 0) return MemoryFault.Access
    if (!isCount(bind.length) || !isCount(bind.address)) return MemoryFault.Bounds
    if (window.type === 2) {
      // IBTA 1.7 §10.6.7.2: bound when free, to another tag, and to something.
      if (window.region !== undefined || bind.length === 0) return MemoryFault.Access
      if (((bind.remoteKey ^ window.rkey) & 0xff) === 0) return MemoryFault.Key
    } else if (bind.length === 0) {
      window.unbind()
      window.retagTo(bind.remoteKey)
      return MemoryFault.None
    }
    const local = this.entryOf(bind.lkey)
    if (local === undefined || local.remote || !local.valid) return MemoryFault.Key
    if (local.domain !== user.domain) return MemoryFault.Domain
    return this.regions.get(local)?.bindWindow(window, user, bind) ?? MemoryFault.Key
  }

  private entryOf(key: number): KeyEntry | undefined {
    const entry = this.entries[key >>> 8]
    return entry !== undefined && entry.key === key >>> 0 ? entry : undefined
  }

  /** The one place that decides. Numbers come from packets: nothing is taken for granted of them. */
  private find(
    user: MemoryUser,
    key: number,
    remote: boolean,
    access: number,
    address: number,
    bytes: number,
  ): MemoryFault {
    const entry = this.entryOf(key)
    if (entry === undefined || entry.remote !== remote || !entry.valid) return MemoryFault.Key
    if (entry.domain !== user.domain || (entry.qpn !== -1 && entry.qpn !== user.qpn)) return MemoryFault.Domain
    if ((access & ~entry.access) !== 0) return MemoryFault.Access
    // Whole numbers below 2^53 alone, where subtraction is exact; `end - address` cannot overflow as `address + bytes` could.
    if (!isCount(address) || !isCount(bytes)) return MemoryFault.Bounds
    if (address < entry.start || bytes > entry.end - address) return MemoryFault.Bounds
    this.entry = entry
    this.at = entry.offset + (address - entry.start)
    return MemoryFault.None
  }

  private findAtomic(user: MemoryUser, key: number, address: number): MemoryFault {
    const fault = this.find(user, key, true, Access.RemoteAtomic, address, 8)
    if (fault !== MemoryFault.None) return fault
    return address % 8 === 0 ? MemoryFault.None : MemoryFault.Alignment
  }

  private load(): bigint {
    return this.entry!.view().getBigUint64(this.at, true)
  }

  private store(value: bigint): void {
    this.entry!.view().setBigUint64(this.at, BigInt.asUintN(64, value), true)
  }
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** Below so many bytes a loop is quicker than a view of the array. */
const LOOP_MAX = 32

/** Copies, when both ends have room: `set` would cut short, or throw. */
const copy = (from: Uint8Array, at: number, bytes: number, to: Uint8Array, toAt: number): MemoryFault => {
  if (!isCount(at) || !isCount(toAt) || bytes > from.length - at || bytes > to.length - toAt) return MemoryFault.Bounds
  if (bytes <= LOOP_MAX) for (let i = 0; i < bytes; i += 1) to[toAt + i] = from[at + i]!
  else to.set(at === 0 && bytes === from.length ? from : from.subarray(at, at + bytes), toAt)
  return MemoryFault.None
}
