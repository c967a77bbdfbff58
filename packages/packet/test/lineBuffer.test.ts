import { afterEach, expect, test, vi } from "vitest"
import { PacketPool } from "../src/index.ts"
import { lineBuffer } from "../src/lineBuffer.ts"

afterEach(() => {
  vi.unstubAllGlobals()
})

/** What can be seen of where a buffer begins: WebAssembly's memory comes in pages of 64 KiB (WebAssembly 1.0 §4.2.8). */
const isInPages = (buffer: ArrayBuffer): boolean => buffer.byteLength % 65_536 === 0

const isZero = (buffer: ArrayBuffer): boolean => new Uint8Array(buffer).every((octet) => octet === 0)

test.each([65_536, 65_537, 1_000_000])("a table of %d bytes lies in whole pages, all zeros", (bytes) => {
  const buffer = lineBuffer(bytes)
  expect(buffer.byteLength).toBeGreaterThanOrEqual(bytes)
  expect(isInPages(buffer)).toBe(true)
  expect(isZero(buffer)).toBe(true)
})

test("a small table takes no page", () => {
  expect(lineBuffer(64).byteLength).toBe(64)
})

test("without WebAssembly a table is an ordinary buffer", () => {
  vi.stubGlobal("WebAssembly", undefined)
  const buffer = lineBuffer(100_000)
  expect(buffer.byteLength).toBe(100_000)
  expect(isZero(buffer)).toBe(true)
})

test("with no room for guard pages a table is an ordinary buffer, and room is not asked for again", async () => {
  // What was refused is remembered for as long as the module is there.
  vi.resetModules()
  const fresh = await import("../src/lineBuffer.ts")
  let asked = 0
  class Memory {
    constructor() {
      asked++
      throw new RangeError("could not allocate memory")
    }
  }
  vi.stubGlobal("WebAssembly", { Memory })
  expect(fresh.lineBuffer(100_000).byteLength).toBe(100_000)
  expect(fresh.lineBuffer(200_000).byteLength).toBe(200_000)
  expect(asked).toBe(1)
})

test("a pool grows from a table to a larger one, and keeps what is in it", () => {
  const pool = new PacketPool({ capacity: 1024 })
  const handles = Array.from({ length: 3000 }, () => pool.alloc())
  handles.forEach((handle) => {
    pool.words[handle << 4] = handle
  })
  pool.alloc()
  while (pool.alive < 5000) pool.alloc()
  expect(handles.every((handle) => pool.words[handle << 4] === handle)).toBe(true)
})
