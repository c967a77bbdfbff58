import { Access, MemoryFault } from "@rdmakit/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { lab, refusal } from "./fakes.ts"

import { ALL, attempts, INK, PAGE, region } from "./regions.ts"

describe("what a peer may not do", () => {
  const untouched = (octets: Uint8Array) => expect(octets.every((octet) => octet === 0xaa)).toBe(true)

  it.each([
    ["one byte before", (start: number) => [start - 1, 1]],
    ["across the front", (start: number) => [start - 8, 16]],
    ["one byte behind", (start: number) => [start + PAGE, 1]],
    ["across the end", (start: number) => [start + PAGE - 4, 8]],
    ["all and one more", (start: number) => [start, PAGE + 1]],
    ["a huge length", (start: number) => [start, 0xffffffff]],
    ["a length that makes the sum too large for a number", (start: number) => [start, Number.MAX_SAFE_INTEGER]],
    ["address + length = 2^53 and more", () => [Number.MAX_SAFE_INTEGER - 7, 8]],
    ["address + length = 2^64", () => [2 ** 64 - 8, 8]],
    ["a negative length", (start: number) => [start + 16, -8]],
    ["a negative address", () => [-8, 8]],
    ["address 0", () => [0, 8]],
    ["half an octet", (start: number) => [start + 0.5, 8]],
    ["half a length", (start: number) => [start, 8.5]],
    ["no number as address", () => [Number.NaN, 8]],
    ["no number as length", (start: number) => [start, Number.NaN]],
    ["endless", (start: number) => [start, Number.POSITIVE_INFINITY]],
  ] as ReadonlyArray<[string, (start: number) => [number, number]]>)("reach outside a region: %s", (_name, place) => {
    const at = lab()
    const { memory, mr, start, user } = region(at)
    const [address, bytes] = place(start)
    const faults = attempts(at, user, mr.rkey, address, bytes)
    // An atomic has eight bytes, whatever the length says: where those lie inside, it may.
    const inside = Number.isInteger(address) && address >= start && address + 8 <= start + PAGE
    expect(faults.slice(0, 4)).toEqual(Array(4).fill(MemoryFault.Bounds))
    if (inside) memory.octets.subarray(PAGE, PAGE + 24).fill(0xaa)
    else expect(faults.slice(4)).toEqual([MemoryFault.Bounds, MemoryFault.Bounds])
    untouched(memory.octets)
  })

  it("any address, length and key: outside the region nothing changes, inside only what is allowed", () => {
    const at = lab()
    const { memory, mr, start, user } = region(at)
    const numbers = fc.oneof(
      fc.double(),
      fc.integer(),
      fc.maxSafeInteger(),
      fc.integer({ min: -20, max: PAGE + 20 }).map((by) => start + by),
    )
    const keys = fc.oneof(
      fc.integer(),
      fc.double(),
      fc.constantFrom(mr.rkey, mr.lkey, mr.rkey ^ 1, mr.rkey + 256, 0, 2 ** 32 + mr.rkey),
    )
    fc.assert(
      fc.property(
        keys,
        numbers,
        fc.oneof(fc.double(), fc.integer({ min: -2, max: PAGE + 8 })),
        (key, address, bytes) => {
          const out = new Uint8Array(2 * PAGE)
          at.device.memory.read(user, key, true, address, bytes, out, 0)
          at.device.memory.write(user, key, true, address, INK, 0, bytes)
          at.device.memory.write(user, key, false, address, INK, 0, bytes)
          at.device.memory.fetchAndAdd(user, key, address, 1n)
          untouched(memory.octets.subarray(0, PAGE))
          untouched(memory.octets.subarray(2 * PAGE))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it("use a key after its region is gone, or has moved", () => {
    const at = lab()
    const { memory, mr, start, user } = region(at)
    const { rkey, lkey } = mr
    mr.rereg({ translation: { address: memory.address, length: 64 } })
    expect(mr.rkey).not.toBe(rkey)
    expect(mr.rkey >>> 8).toBe(rkey >>> 8)
    expect(attempts(at, user, rkey, start, 8)).toEqual(Array(6).fill(MemoryFault.Key))
    expect(at.device.memory.write(user, lkey, false, start, INK, 0, 8)).toBe(MemoryFault.Key)
    expect(at.device.memory.read(user, mr.lkey, false, memory.address, 8, new Uint8Array(8), 0)).toBe(MemoryFault.None)
    const moved = mr.rkey
    mr.dereg()
    expect(attempts(at, user, rkey, start, 8)).toEqual(Array(6).fill(MemoryFault.Key))
    expect(attempts(at, user, moved, memory.address, 8)).toEqual(Array(6).fill(MemoryFault.Key))
    expect(at.device.memory.write(user, lkey, false, start, INK, 0, 8)).toBe(MemoryFault.Key)
    untouched(memory.octets)
  })

  it("guess: no tag but the right one opens a region, and none that was good opens another's", () => {
    const at = lab()
    const { memory, mr, start, user } = region(at)
    for (let tag = 0; tag < 256; tag += 1) {
      const key = ((mr.rkey & 0xffffff00) | tag) >>> 0
      if (key !== mr.rkey) expect(attempts(at, user, key, start, 8)).toEqual(Array(6).fill(MemoryFault.Key))
    }
    const stale = new Set([mr.rkey, mr.lkey])
    mr.dereg()
    for (let i = 0; i < 3000; i += 1) {
      const next = at.pd.regMr({ address: start, length: PAGE, access: ALL })
      expect(stale.has(next.rkey) || stale.has(next.lkey)).toBe(false)
      stale.add(next.rkey)
      stale.add(next.lkey)
      next.dereg()
    }
    untouched(memory.octets)
  })

  it("B28: an lkey is no rkey, nor an rkey an lkey", () => {
    const at = lab()
    const { memory, mr, start, user } = region(at)
    expect(mr.lkey).not.toBe(mr.rkey)
    expect(attempts(at, user, mr.lkey, start, 8)).toEqual(Array(6).fill(MemoryFault.Key))
    expect(at.device.memory.write(user, mr.rkey, false, start, INK, 0, 8)).toBe(MemoryFault.Key)
    expect(at.device.memory.read(user, mr.rkey, false, start, 8, new Uint8Array(8), 0)).toBe(MemoryFault.Key)
    untouched(memory.octets)
  })

  it("come by a queue pair of another protection domain", () => {
    const at = lab()
    const { memory, mr, start } = region(at)
    const user = { domain: at.device.allocPd().number, qpn: 17 }
    expect(attempts(at, user, mr.rkey, start, 8)).toEqual(Array(6).fill(MemoryFault.Domain))
    expect(at.device.memory.write(user, mr.lkey, false, start, INK, 0, 8)).toBe(MemoryFault.Domain)
    mr.rereg({ pd: at.device.allocPd() })
    expect(attempts(at, { domain: at.pd.number, qpn: 17 }, mr.rkey, start, 8)).toEqual(
      Array(6).fill(MemoryFault.Domain),
    )
    untouched(memory.octets)
  })

  it("do what the flags leave out", () => {
    const at = lab()
    const { memory, mr, start, user } = region(at, Access.RemoteRead)
    const { memory: table } = at.device
    expect(table.write(user, mr.rkey, true, start, INK, 0, 8)).toBe(MemoryFault.Access)
    expect(table.write(user, mr.lkey, false, start, INK, 0, 8)).toBe(MemoryFault.Access)
    expect(table.fetchAndAdd(user, mr.rkey, start, 1n)).toBe(MemoryFault.Access)
    expect(table.check(user, mr.rkey, true, Access.RemoteRead | Access.RemoteWrite, start, 8)).toBe(MemoryFault.Access)
    untouched(memory.octets)
    const out = new Uint8Array(8)
    expect(table.read(user, mr.rkey, true, start, 8, out, 0)).toBe(MemoryFault.None)
    expect(table.read(user, mr.lkey, false, start, 8, out, 0)).toBe(MemoryFault.None)
    expect(out[0]).toBe(0xaa)
    mr.rereg({ access: ALL & ~Access.RemoteRead })
    expect(table.read(user, mr.rkey, true, start, 8, out, 0)).toBe(MemoryFault.Access)
    expect(table.write(user, mr.rkey, true, start, INK, 0, 8)).toBe(MemoryFault.None)
  })

  it("do an atomic that is not aligned, or hangs over the end", () => {
    const at = lab()
    const { memory, mr, start, user } = region(at)
    const { memory: table } = at.device
    for (const by of [1, 2, 4, 7]) {
      expect(table.fetchAndAdd(user, mr.rkey, start + by, 1n)).toBe(MemoryFault.Alignment)
      expect(table.compareAndSwap(user, mr.rkey, start + by, 0xaaaaaaaaaaaaaaaan, 0n)).toBe(MemoryFault.Alignment)
    }
    expect(table.fetchAndAdd(user, mr.rkey, start + PAGE, 1n)).toBe(MemoryFault.Bounds)
    expect(table.fetchAndAdd(user, mr.rkey, start + PAGE - 4, 1n)).toBe(MemoryFault.Bounds)
    untouched(memory.octets)
  })

  it("make the device read or write outside the packet", () => {
    const at = lab()
    const { memory, mr, start, user } = region(at)
    const { memory: table } = at.device
    expect(table.write(user, mr.rkey, true, start, new Uint8Array(8), 4, 8)).toBe(MemoryFault.Bounds)
    expect(table.write(user, mr.rkey, true, start, new Uint8Array(8), -4, 8)).toBe(MemoryFault.Bounds)
    expect(table.read(user, mr.rkey, true, start, 100, new Uint8Array(64), 0)).toBe(MemoryFault.Bounds)
    expect(table.read(user, mr.rkey, true, start, 8, new Uint8Array(8), 1)).toBe(MemoryFault.Bounds)
    untouched(memory.octets)
  })

  it("nothing under any key is nothing (IBTA 1.7 §9.7.4.1.5)", () => {
    const at = lab()
    const { memory } = region(at)
    const user = { domain: 99, qpn: 99 }
    expect(at.device.memory.check(user, 0xdead, true, Access.RemoteWrite, -1, 0)).toBe(MemoryFault.None)
    expect(at.device.memory.write(user, 0xdead, true, 2 ** 60, INK, 0, 0)).toBe(MemoryFault.None)
    expect(at.device.memory.read(user, 0xdead, true, 2 ** 60, 0, new Uint8Array(0), 0)).toBe(MemoryFault.None)
    untouched(memory.octets)
  })
})

describe("regions", () => {
  it("copy in and out, short and long, and atomics see the low octet first", () => {
    const at = lab()
    const { memory, mr, start, user } = region(at)
    const { memory: table } = at.device
    for (const bytes of [1, 31, 32, 33, 1000]) {
      const from = Uint8Array.from({ length: bytes + 2 }, (_, i) => i * 7)
      expect(table.write(user, mr.rkey, true, start + 3, from, 1, bytes)).toBe(MemoryFault.None)
      expect(memory.octets.subarray(PAGE + 3, PAGE + 3 + bytes)).toEqual(from.subarray(1, 1 + bytes))
      const out = new Uint8Array(bytes + 4)
      expect(table.read(user, mr.lkey, false, start + 3, bytes, out, 2)).toBe(MemoryFault.None)
      expect(out.subarray(2, 2 + bytes)).toEqual(from.subarray(1, 1 + bytes))
    }
    memory.octets.set([0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], PAGE + 8)
    expect(table.fetchAndAdd(user, mr.rkey, start + 8, 3n)).toBe(MemoryFault.None)
    expect(table.original).toBe(0xfffffffffffffffen)
    expect([...memory.octets.subarray(PAGE + 8, PAGE + 16)]).toEqual([1, 0, 0, 0, 0, 0, 0, 0])
    expect(table.compareAndSwap(user, mr.rkey, start + 8, 2n, 9n)).toBe(MemoryFault.None)
    expect(table.original).toBe(1n)
    expect(table.compareAndSwap(user, mr.rkey, start + 8, 1n, 0x0102030405060708n)).toBe(MemoryFault.None)
    expect([...memory.octets.subarray(PAGE + 8, PAGE + 16)]).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
  })

  it("B30: a peer that may write needs LocalWrite", () => {
    const at = lab()
    const { address } = at.device.allocate(64)
    for (const access of [Access.RemoteWrite, Access.RemoteAtomic, Access.RemoteWrite | Access.RemoteRead]) {
      expect(refusal(() => at.pd.regMr({ address, length: 64, access }))).toEqual({
        errno: "EINVAL",
        attribute: "access",
      })
    }
    expect(at.device.resources.memoryRegions).toBe(0)
    const mr = at.pd.regMr({ address, length: 64, access: Access.LocalWrite })
    expect(refusal(() => mr.rereg({ access: Access.RemoteWrite }))).toEqual({ errno: "EINVAL", attribute: "access" })
    expect(mr.access).toBe(Access.LocalWrite)
  })

  it("refuse what is not allocated, read-only pages that are to be written, and lengths that are none", () => {
    const at = lab()
    const memory = at.device.allocate(2 * PAGE)
    const next = at.device.allocate(PAGE)
    const fixed = at.device.allocate(PAGE, { writable: false })
    const register = (address: number, length: number, access: number = Access.LocalWrite) =>
      refusal(() => at.pd.regMr({ address, length, access }))
    expect(next.address - memory.address).toBeGreaterThan(2 * PAGE)
    expect(memory.address % PAGE).toBe(0)
    expect(register(memory.address, 2 * PAGE + 1)).toEqual({ errno: "EFAULT", attribute: "address" })
    expect(register(memory.address - 1, 8)).toEqual({ errno: "EFAULT", attribute: "address" })
    expect(register(memory.address, next.address + 1 - memory.address)).toEqual({
      errno: "EFAULT",
      attribute: "address",
    })
    expect(register(0, 8)).toEqual({ errno: "EFAULT", attribute: "address" })
    expect(register(Number.NaN, 8)).toEqual({ errno: "EINVAL", attribute: "address" })
    expect(register(memory.address, 0)).toEqual({ errno: "EINVAL", attribute: "length" })
    expect(register(memory.address, 2 ** 53)).toEqual({ errno: "EINVAL", attribute: "length" })
    expect(register(memory.address, 8, 1 << 8)).toEqual({ errno: "EINVAL", attribute: "access" })
    expect(register(fixed.address, 8)).toEqual({ errno: "EFAULT", attribute: "access" })
    expect(register(fixed.address, 8, Access.MwBind)).toEqual({ errno: "EFAULT", attribute: "access" })
    const mr = at.pd.regMr({ address: fixed.address, length: 8, access: Access.RemoteRead })
    expect(refusal(() => mr.rereg({ access: Access.LocalWrite }))).toEqual({ errno: "EFAULT", attribute: "access" })
    expect(refusal(() => at.device.release(fixed))).toEqual({ errno: "EBUSY", attribute: undefined })
    mr.dereg()
    at.device.release(fixed)
    expect(refusal(() => at.device.release(fixed)).errno).toBe("EINVAL")
    expect(register(fixed.address, 8)).toEqual({ errno: "EFAULT", attribute: "address" })
    expect(refusal(() => mr.dereg()).errno).toBe("EINVAL")
  })

  it("may be zero-based, or named by other addresses", () => {
    const at = lab()
    const memory = at.device.allocate(2 * PAGE)
    const user = { domain: at.pd.number, qpn: 1 }
    const zero = at.pd.regMr({ address: memory.address + 100, length: 50, access: ALL | Access.ZeroBased })
    expect(at.device.memory.write(user, zero.rkey, true, 0, INK, 0, 50)).toBe(MemoryFault.None)
    expect(at.device.memory.write(user, zero.rkey, true, 1, INK, 0, 50)).toBe(MemoryFault.Bounds)
    expect(at.device.memory.write(user, zero.rkey, true, memory.address + 100, INK, 0, 1)).toBe(MemoryFault.Bounds)
    expect(memory.octets.indexOf(0x55)).toBe(100)
    expect(memory.octets.lastIndexOf(0x55)).toBe(149)
    const named = at.pd.regMr({ address: memory.address + 200, length: 8, access: ALL, iova: 3 * PAGE + 200 })
    expect(at.device.memory.write(user, named.lkey, false, 3 * PAGE + 200, INK, 0, 8)).toBe(MemoryFault.None)
    expect(at.device.memory.write(user, named.lkey, false, memory.address + 200, INK, 0, 8)).toBe(MemoryFault.Bounds)
    expect(memory.octets[200]).toBe(0x55)
    const iova = (value: number) =>
      refusal(() => at.pd.regMr({ address: memory.address, length: 8, access: 0, iova: value }))
    expect(iova(1)).toEqual({ errno: "EINVAL", attribute: "iova" })
    expect(iova(2 ** 53)).toEqual({ errno: "EINVAL", attribute: "iova" })
  })
})

describe("a program that waits for memory to change", () => {
  it("is told when a peer has written, and of nothing else", () => {
    const at = lab()
    const { mr, start, user } = region(at)
    const { memory } = at.device
    const seen: Array<number> = []
    mr.onWrite(() => seen.push(mr.octets[0]!))
    expect(memory.write(user, mr.rkey, true, start, INK, 0, 8)).toBe(MemoryFault.None)
    expect(seen).toEqual([0x55])
    memory.write(user, mr.rkey, true, start, INK, 0, 0)
    memory.write(user, mr.rkey, true, start + PAGE, INK, 0, 8)
    memory.write(user, mr.lkey, false, start, INK, 0, 8)
    memory.compareAndSwap(user, mr.rkey, start, 0n, 0n)
    expect(seen.length).toBe(1)
    mr.onWrite(undefined)
    memory.write(user, mr.rkey, true, start, INK, 0, 8)
    expect(seen.length).toBe(1)
  })
})
