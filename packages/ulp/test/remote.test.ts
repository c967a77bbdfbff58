import { describe, expect, it, test } from "vitest"
import {
  AtomicDatatype,
  AtomicOperation,
  MemoryTable,
  type RdmAccess,
  RdmError,
  type RdmOptions,
} from "../src/index.ts"
import { applyAtomic, isAtomic } from "../src/rdm/Atomics.ts"
import { Network, type NetworkOptions, pattern } from "./datagrams.ts"

const MIB = 1_048_576
const all: ReadonlySet<RdmAccess> = new Set(["read", "write", "atomic"])

const pair = (options: Partial<RdmOptions> = {}, network: Partial<NetworkOptions> = {}) => {
  const world = new Network({ seed: 11, hosts: [options, options], ...network })
  const [a, b] = world.hosts as [Network["hosts"][number], Network["hosts"][number]]
  // A message each way, so that both know what the other can do.
  b.endpoint.receive(new Uint8Array(0), 0)
  a.endpoint.send(1, new Uint8Array(0), 0)
  world.run()
  a.events.length = 0
  b.events.length = 0
  return { world, a, b }
}

const direct = { rdmaRead: true, rdmaWrite: true }
const readOnly = { rdmaRead: true }

describe("writes", () => {
  const cases = [0, 8, 996, 5000, MIB].flatMap((bytes) =>
    [{}, readOnly, direct].flatMap((options) => [false, true].map((confirmed) => [bytes, options, confirmed] as const)),
  )
  test.each(cases)("%i bytes, %o, confirmed: %s", (bytes, options, deliveryComplete) => {
    const { world, a, b } = pair(options)
    // Two ranges apart: the second begins where the first ends.
    const memory = new Uint8Array(bytes + 100)
    const whole = b.memory.add(memory, all)!
    const cut = BigInt(bytes >> 1)
    const targets = [
      { ...whole, bytes: cut },
      { ...whole, address: whole.address + cut + 50n, bytes: BigInt(bytes) - cut },
    ]
    const data = pattern(bytes, 7)
    expect(a.endpoint.write(1, data, targets, 5, { deliveryComplete })).toBeUndefined()
    expect(world.run()).toBe(true)
    expect(a.events).toMatchObject([{ type: "completed", operation: "write", context: 5, bytes }])
    expect(b.events).toEqual([])
    const half = Number(cut)
    expect(Buffer.compare(memory.subarray(0, half), data.subarray(0, half))).toBe(0)
    expect(memory.subarray(half, half + 50)).toEqual(new Uint8Array(50))
    expect(Buffer.compare(memory.subarray(half + 50, bytes + 50), data.subarray(half))).toBe(0)
    expect([a.endpoint.open, b.endpoint.open, a.memory.count]).toEqual([0, 0, 0])
  })

  it("tell the responder their data, once", () => {
    const { world, a, b } = pair(direct)
    const target = b.memory.add(new Uint8Array(3000), all)!
    a.endpoint.write(1, pattern(3000, 1), [target], 5, { cqData: 77n })
    world.run()
    expect(b.events).toEqual([{ type: "remoteWrite", peer: 0, bytes: 3000, cqData: 77n }])
  })

  it("of 64 KiB that the responder cannot read come by long-CTS", () => {
    const { world, a, b } = pair(readOnly, { refuses: () => true })
    const memory = new Uint8Array(65_536)
    const data = pattern(65_536, 3)
    a.endpoint.write(1, data, [b.memory.add(memory, all)!], 5)
    world.run()
    expect(Buffer.compare(memory, data)).toBe(0)
    expect(a.events).toMatchObject([{ type: "completed" }])
    expect([a.endpoint.open, b.endpoint.open, a.memory.count]).toEqual([0, 0, 0])
  })

  it("that may not be are counted, and change nothing", () => {
    const { world, a, b } = pair()
    const memory = new Uint8Array(64)
    const readable = b.memory.add(memory, new Set<RdmAccess>(["read"]))!
    const writable = b.memory.add(memory, new Set<RdmAccess>(["write"]))!
    const data = pattern(64, 1)
    a.endpoint.write(1, data, [readable], 1)
    a.endpoint.write(1, data, [{ ...writable, address: writable.address + 1n }], 2)
    a.endpoint.write(1, data, [{ ...writable, key: 99n }], 3)
    world.run()
    expect(b.endpoint.counters.accessRefused).toBe(3)
    expect(memory).toEqual(new Uint8Array(64))
  })
})

describe("reads", () => {
  const cases = [0, 8, 1000, 1001, 40_000, MIB].flatMap((bytes) =>
    [{}, direct].map((options) => [bytes, options] as const),
  )
  test.each(cases)("%i bytes, %o", (bytes, options) => {
    const { world, a, b } = pair(options)
    const memory = pattern(bytes + 10, 7)
    const whole = b.memory.add(memory, all)!
    const cut = BigInt(bytes >> 1)
    const targets = [
      { ...whole, address: whole.address + 10n, bytes: BigInt(bytes) - cut },
      { ...whole, bytes: cut },
    ]
    const into = new Uint8Array(bytes)
    expect(a.endpoint.read(1, into, targets, 5)).toBeUndefined()
    expect(world.run()).toBe(true)
    expect(a.events).toMatchObject([{ type: "completed", operation: "read", context: 5, bytes }])
    const first = bytes - Number(cut)
    expect(Buffer.compare(into.subarray(0, first), memory.subarray(10, 10 + first))).toBe(0)
    expect(Buffer.compare(into.subarray(first), memory.subarray(0, Number(cut)))).toBe(0)
    expect([a.endpoint.open, b.endpoint.open]).toEqual([0, 0])
  })

  it("by a device that refuses them fail", () => {
    const { world, a, b } = pair(direct, { refuses: () => true })
    a.endpoint.read(1, new Uint8Array(8), [b.memory.add(new Uint8Array(8), all)!], 5)
    world.run()
    expect(a.events).toMatchObject([{ type: "failed", operation: "read", reason: "refused" }])
  })
})

/** By hand, from fi_atomic(3): operation, datatype, memory, operand, comparand, and what memory is then. */
const arithmetic: ReadonlyArray<
  readonly [keyof typeof AtomicOperation, keyof typeof AtomicDatatype, string, string, string | undefined, string]
> = [
  ["Min", "Int8", "7f 80", "80 7f", undefined, "80 80"],
  ["Max", "Uint8", "7f 80", "80 7f", undefined, "80 80"],
  ["Sum", "Uint16", "ffff 0100", "0200 0100", undefined, "0100 0200"],
  ["Product", "Uint32", "ffffffff", "ffffffff", undefined, "01000000"],
  ["Product", "Int64", "ffffffffffffffff", "0500000000000000", undefined, "fbffffffffffffff"],
  ["Sum", "Uint64", "ffffffffffffffff", "0200000000000000", undefined, "0100000000000000"],
  ["LogicalOr", "Int32", "00000000 05000000", "07000000 00000000", undefined, "01000000 01000000"],
  ["LogicalAnd", "Int32", "00000000 05000000", "07000000 02000000", undefined, "00000000 01000000"],
  ["LogicalXor", "Int32", "04000000 05000000", "07000000 00000000", undefined, "00000000 01000000"],
  ["BitOr", "Uint8", "f0", "0f", undefined, "ff"],
  ["BitAnd", "Uint8", "f3", "0f", undefined, "03"],
  ["BitXor", "Uint8", "ff", "0f", undefined, "f0"],
  ["Write", "Double", "0000000000000000", "000000000000f03f", undefined, "000000000000f03f"],
  ["Sum", "Double", "000000000000f03f", "000000000000f03f", undefined, "0000000000000040"],
  ["Sum", "Float", "0000803f", "0000803f", undefined, "00000040"],
  ["SwapIfEqual", "Uint64", "0100000000000000", "0900000000000000", "0100000000000000", "0900000000000000"],
  ["SwapIfEqual", "Uint64", "0200000000000000", "0900000000000000", "0100000000000000", "0200000000000000"],
  ["SwapIfNotEqual", "Uint8", "02 01", "09 09", "01 01", "09 01"],
  ["SwapIfLessOrEqual", "Uint8", "02 01 00", "09 09 09", "01 01 01", "09 09 00"],
  ["SwapIfLess", "Uint8", "02 01 00", "09 09 09", "01 01 01", "09 01 00"],
  ["SwapIfGreaterOrEqual", "Uint8", "02 01 00", "09 09 09", "01 01 01", "02 09 09"],
  ["SwapIfGreater", "Int8", "02 01 ff", "09 09 09", "01 01 01", "02 01 09"],
  ["MaskedSwap", "Uint8", "f5", "0a", "0f", "fa"],
]
const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"))

describe("atomics", () => {
  test.each(arithmetic)("%s of %s: %s", (operation, datatype, before, operand, compare, after) => {
    const memory = hex(before)
    const comparand = compare === undefined ? undefined : hex(compare)
    applyAtomic(AtomicDatatype[datatype], AtomicOperation[operation], memory, hex(operand), comparand)
    expect(memory).toEqual(hex(after))
  })

  it("have no bits of floats, and compare only where they say so", () => {
    expect(isAtomic("fetch", AtomicDatatype.Double, AtomicOperation.BitOr)).toBe(false)
    expect(isAtomic("write", AtomicDatatype.Int8, AtomicOperation.Read)).toBe(false)
    expect(isAtomic("fetch", AtomicDatatype.Int8, AtomicOperation.SwapIfEqual)).toBe(false)
    expect(isAtomic("compare", AtomicDatatype.Int8, AtomicOperation.Sum)).toBe(false)
    expect(isAtomic("write", 10, AtomicOperation.Sum)).toBe(false)
  })

  it("write, fetch and compare, in the order of messages", () => {
    const { world, a, b } = pair()
    const memory = new Uint8Array(16)
    const target = b.memory.add(memory, all)!
    const operands = new Uint8Array(16)
    operands[0] = 5
    operands[8] = 7
    const sum = { datatype: AtomicDatatype.Uint64, operation: AtomicOperation.Sum }
    a.endpoint.atomic(1, operands, [target], 1, sum)
    const fetched = new Uint8Array(16)
    a.endpoint.fetchAtomic(1, operands, undefined, fetched, [target], 2, sum)
    const swapped = new Uint8Array(8)
    const first = { ...target, bytes: 8n }
    const swap = { datatype: AtomicDatatype.Uint64, operation: AtomicOperation.SwapIfEqual }
    a.endpoint.fetchAtomic(1, hex("6300000000000000"), hex("0a00000000000000"), swapped, [first], 3, swap)
    a.endpoint.atomic(1, hex("0100000000000000"), [first], 4, { ...sum, deliveryComplete: true })
    expect(world.run()).toBe(true)
    expect(a.events.map((event) => event.type === "completed" && event.context).toSorted()).toEqual([1, 2, 3, 4])
    expect([fetched[0], fetched[8], swapped[0], memory[0], memory[8]]).toEqual([5, 7, 10, 100, 14])
    expect([a.endpoint.open, b.endpoint.open]).toEqual([0, 0])
  })

  it("are refused when they do not fit, or are none", () => {
    const { a, b } = pair()
    const sum = { datatype: AtomicDatatype.Uint64, operation: AtomicOperation.Sum }
    const big = b.memory.add(new Uint8Array(4096), all)!
    expect(() => a.endpoint.atomic(1, new Uint8Array(4096), [big], 1, sum)).toThrow(RdmError)
    expect(() => a.endpoint.atomic(1, new Uint8Array(12), [{ ...big, bytes: 12n }], 1, sum)).toThrow("a multiple of 8")
    expect(() => a.endpoint.atomic(1, new Uint8Array(8), [big], 1, { ...sum, operation: 12 })).toThrow(
      "operation is 12",
    )
    expect(() => a.endpoint.write(1, new Uint8Array(8), [big], 1)).toThrow("targets is 4096")
    expect(() => a.endpoint.send(1, new Uint8Array(8), 1, { tag: 1n << 64n })).toThrow("tag")
  })
})

describe("the memory of a program", () => {
  it("is reached by its key, in its range, for what it is for", () => {
    const table = new MemoryTable(2)
    const octets = pattern(100, 1)
    const target = table.add(octets, new Set<RdmAccess>(["read"]))!
    expect(table.resolve(target, "read")).toEqual(octets)
    expect(table.resolve({ ...target, address: target.address + 60n, bytes: 40n }, "read")).toEqual(octets.subarray(60))
    expect(table.resolve({ ...target, address: target.address + 61n, bytes: 40n }, "read")).toBeUndefined()
    expect(table.resolve({ ...target, address: target.address - 1n }, "read")).toBeUndefined()
    expect(table.resolve(target, "write")).toBeUndefined()
    expect(table.register(octets)).toBeDefined()
    expect(table.register(octets)).toBeUndefined()
    table.release(target)
    expect(table.resolve(target, "read")).toBeUndefined()
  })
})
