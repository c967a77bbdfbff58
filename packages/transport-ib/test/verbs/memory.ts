import { Access, type Memory, MemoryFault, type MemoryUser, type MwBind } from "@rdmakit/protocol"

/** A region, or a window, of the test's memory. */
export interface Region {
  readonly address: number
  readonly length: number
  access: number
  /** Found under a remote key, a local one, or either. */
  readonly remote: boolean
  /** A window of type 2 that can be invalidated. */
  readonly window: boolean
  valid: boolean
  readonly domain: number
}

/** What of memory was touched, and how. */
export interface Touch {
  readonly what: "read" | "write" | "atomic"
  readonly remote: boolean
  readonly address: number
  readonly bytes: number
}

export const LOCAL_KEY = 0x100
export const REMOTE_KEY = 0x201
export const WINDOW_KEY = 0x301
export const BASE = 0x1000

/** A little memory with one region over all of it: a key for local use, another for remote use. */
export class TestMemory implements Memory {
  readonly octets: Uint8Array
  readonly regions = new Map<number, Region>()
  readonly touches: Array<Touch> = []
  original = 0n

  constructor(bytes: number, access = 15) {
    this.octets = new Uint8Array(bytes)
    const whole = { address: BASE, length: bytes, access, window: false, valid: true, domain: 1 }
    this.regions.set(LOCAL_KEY, { ...whole, remote: false })
    this.regions.set(REMOTE_KEY, { ...whole, remote: true })
  }

  check(user: MemoryUser, key: number, remote: boolean, access: number, address: number, bytes: number): MemoryFault {
    if (bytes === 0) return MemoryFault.None
    const region = this.regions.get(key)
    if (region === undefined || region.remote !== remote || !region.valid) return MemoryFault.Key
    if (region.domain !== user.domain) return MemoryFault.Domain
    if (address < region.address || address + bytes > region.address + region.length) return MemoryFault.Bounds
    return (region.access & access) === access ? MemoryFault.None : MemoryFault.Access
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
    const fault = this.check(user, key, remote, remote ? Access.RemoteRead : 0, address, bytes)
    if (fault !== MemoryFault.None) return fault
    this.touches.push({ what: "read", remote, address, bytes })
    out.set(this.octets.subarray(address - BASE, address - BASE + bytes), outStart)
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
    const access = remote ? Access.RemoteWrite : Access.LocalWrite
    const fault = this.check(user, key, remote, access, address, bytes)
    if (fault !== MemoryFault.None) return fault
    this.touches.push({ what: "write", remote, address, bytes })
    this.octets.set(octets.subarray(start, start + bytes), address - BASE)
    return fault
  }

  compareAndSwap(user: MemoryUser, key: number, address: number, compare: bigint, swap: bigint): MemoryFault {
    return this.atomic(user, key, address, (value) => (value === compare ? swap : value))
  }
  fetchAndAdd(user: MemoryUser, key: number, address: number, add: bigint): MemoryFault {
    return this.atomic(user, key, address, (value) => value + add)
  }

  private atomic(user: MemoryUser, key: number, address: number, change: (value: bigint) => bigint): MemoryFault {
    const fault = this.check(user, key, true, Access.RemoteAtomic, address, 8)
    if (fault !== MemoryFault.None) return fault
    if (address % 8 !== 0) return MemoryFault.Alignment
    this.touches.push({ what: "atomic", remote: true, address, bytes: 8 })
    this.original = this.number(address)
    this.setNumber(address, change(this.original))
    return fault
  }

  number(address: number): bigint {
    return new DataView(this.octets.buffer).getBigUint64(address - BASE, true)
  }
  setNumber(address: number, value: bigint): void {
    new DataView(this.octets.buffer).setBigUint64(address - BASE, BigInt.asUintN(64, value), true)
  }

  invalidate(_user: MemoryUser, key: number, _remote: boolean): MemoryFault {
    const region = this.regions.get(key)
    if (region === undefined || !region.window || !region.valid) return MemoryFault.Key
    region.valid = false
    return MemoryFault.None
  }

  bind(user: MemoryUser, { access, address, length, lkey, remoteKey, window }: MwBind): MemoryFault {
    if (window >>> 8 !== remoteKey >>> 8) return MemoryFault.Key
    const fault = this.check(user, lkey, false, Access.MwBind & 0, address, length)
    if (fault !== MemoryFault.None) return fault
    this.regions.set(remoteKey, { address, length, access, remote: true, window: true, valid: true, domain: 1 })
    return fault
  }

  /** Fills a stretch with octets that tell where they are and which message they are of. */
  paint(address: number, bytes: number, colour: number): void {
    for (let at = 0; at < bytes; at++) this.octets[address - BASE + at] = (at * 7 + (at >> 8) + colour) & 0xff
  }
  slice(address: number, bytes: number): Uint8Array {
    return this.octets.slice(address - BASE, address - BASE + bytes)
  }
}
