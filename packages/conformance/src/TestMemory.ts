import { Access, type Memory, MemoryFault, type MemoryUser } from "@rdmakit/protocol"

/** Keys that a `TestMemory` has at first: one for local use, and two for remote use. */
export const LOCAL_KEY = 0x100
export const REMOTE_KEY = 0x201
export const WINDOW_KEY = 0x301
/** Address of its first octet. */
export const BASE = 0x1000

const ALL = Access.LocalWrite | Access.RemoteWrite | Access.RemoteRead | Access.RemoteAtomic

/** A little memory with one region over all of it, under keys for local use, which are even, and for remote use, which are odd. */
export class TestMemory implements Memory {
  readonly octets: Uint8Array
  /** Keys that are good, each with its rights. */
  readonly rights = new Map<number, number>([
    [LOCAL_KEY, ALL],
    [REMOTE_KEY, ALL],
    [WINDOW_KEY, ALL],
  ])
  /** Bytes that came in by a remote key. */
  remoteBytes = 0
  original = 0n

  constructor(bytes: number) {
    this.octets = new Uint8Array(bytes)
  }

  check(user: MemoryUser, key: number, remote: boolean, access: number, address: number, bytes: number): MemoryFault {
    if (bytes === 0) return MemoryFault.None
    const rights = this.rights.get(key)
    if (rights === undefined || remote === ((key & 1) === 0)) return MemoryFault.Key
    if (user.domain !== 1) return MemoryFault.Domain
    if (address < BASE || address + bytes > BASE + this.octets.length) return MemoryFault.Bounds
    return (rights & access) === access ? MemoryFault.None : MemoryFault.Access
  }

  read(user: MemoryUser, key: number, remote: boolean, address: number, bytes: number, out: Uint8Array, start: number) {
    const fault = this.check(user, key, remote, remote ? Access.RemoteRead : 0, address, bytes)
    if (fault === MemoryFault.None) out.set(this.octets.subarray(address - BASE, address - BASE + bytes), start)
    return fault
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
    const fault = this.check(user, key, remote, remote ? Access.RemoteWrite : Access.LocalWrite, address, bytes)
    if (fault !== MemoryFault.None) return fault
    this.octets.set(octets.subarray(start, start + bytes), address - BASE)
    if (remote) this.remoteBytes += bytes
    return fault
  }

  private get view(): DataView {
    return new DataView(this.octets.buffer)
  }

  compareAndSwap(user: MemoryUser, key: number, address: number, compare: bigint, swap: bigint): MemoryFault {
    const fault = this.check(user, key, true, Access.RemoteAtomic, address, 8)
    if (fault !== MemoryFault.None) return fault
    this.original = this.view.getBigUint64(address - BASE, true)
    if (this.original === compare) this.view.setBigUint64(address - BASE, swap, true)
    return fault
  }

  fetchAndAdd(user: MemoryUser, key: number, address: number, add: bigint): MemoryFault {
    const fault = this.check(user, key, true, Access.RemoteAtomic, address, 8)
    if (fault !== MemoryFault.None) return fault
    this.original = this.view.getBigUint64(address - BASE, true)
    this.view.setBigUint64(address - BASE, this.original + add, true)
    return fault
  }

  invalidate(_user: MemoryUser, key: number): MemoryFault {
    return this.rights.delete(key) ? MemoryFault.None : MemoryFault.Key
  }

  bind(): MemoryFault {
    return MemoryFault.Key
  }
}
