import { describe, expect, test } from "vitest"
import { moderationOf, type PerfOptions, PerfSettingError, perfSettings, sizesOf } from "../src/index.ts"

describe("settings", () => {
  test("defaults are perftest's", () => {
    const { bytes, iterations, queuePairs, txDepth, rxDepth, inlineBytes } = perfSettings({ test: "write-bw" })
    expect({ bytes, iterations, queuePairs, txDepth, rxDepth, inlineBytes }).toEqual({
      ...{ bytes: 65_536, iterations: 5000, queuePairs: 1, txDepth: 128, rxDepth: 512, inlineBytes: 0 },
    })
    expect(perfSettings({ test: "send-bw" }).iterations).toBe(1000)
    const latency = perfSettings({ test: "send-lat" })
    expect([latency.bytes, latency.txDepth, latency.inlineBytes]).toEqual([2, 1, 236])
    expect(perfSettings({ test: "send-lat", connection: "ud" }).inlineBytes).toBe(188)
    expect(perfSettings({ test: "write-lat" }).inlineBytes).toBe(220)
    expect(perfSettings({ test: "read-lat" }).inlineBytes).toBe(0)
    expect(perfSettings({ test: "atomic-bw" }).bytes).toBe(8)
  })

  test("no queue is deeper than there are iterations", () => {
    const settings = perfSettings({ test: "send-bw", iterations: 20 })
    expect([settings.txDepth, settings.rxDepth, moderationOf(settings, 64)]).toEqual([20, 20, 20])
  })

  test("completions are moderated up to 8,192 bytes", () => {
    const settings = perfSettings({ test: "write-bw" })
    expect([moderationOf(settings, 8192), moderationOf(settings, 8193)]).toEqual([100, 1])
    expect(moderationOf(perfSettings({ test: "write-bw", moderation: 7 }), 65_536)).toBe(7)
    expect(moderationOf(perfSettings({ test: "write-lat" }), 2)).toBe(1)
  })

  test("all sizes are powers of two, of UD up to the path MTU", () => {
    const all = sizesOf(perfSettings({ test: "write-bw", all: true }), 1024)
    expect([all[0], all.at(-1), all.length]).toEqual([2, 8_388_608, 23])
    const datagrams = sizesOf(perfSettings({ test: "send-bw", all: true, connection: "ud" }), 1024)
    expect([datagrams[0], datagrams.at(-1), datagrams.length]).toEqual([2, 1024, 10])
    expect(sizesOf(perfSettings({ test: "send-bw", connection: "ud" }), 2048)).toEqual([2048])
  })

  test.each<[PerfOptions, string]>([
    [{ test: "read-bw", connection: "uc" }, "connection: found uc, expected rc, for reads"],
    [{ test: "write-lat", connection: "ud" }, "connection: found ud, expected rc or uc, for writes"],
    [{ test: "send-lat", bidirectional: true }, "bidirectional: found it with latency, expected it with bandwidth"],
    [{ test: "send-lat", queuePairs: 2 }, "queuePairs: found 2, expected a whole number 1..1"],
    [{ test: "send-bw", iterations: 4 }, "iterations: found 4, expected a whole number 5..100000000"],
    [{ test: "send-bw", mtuBytes: 1500 }, "mtuBytes: found 1500, expected 256, 512, 1024, 2048, 4096"],
    [{ test: "send-bw", bytes: -1 }, "bytes: found -1, expected a whole number 0..2147483647"],
    [{ test: "atomic-bw", bytes: 16 }, "bytes: found 16, expected a whole number 8..8"],
    [{ test: "atomic-lat", all: true }, "all: found it with atomics, expected another test: atomics are of 8 bytes"],
    [{ test: "send-bw", all: true, bytes: 2 }, "bytes: found it with all sizes, expected one of the two"],
  ])("%o is refused", (options, message) => {
    expect(() => perfSettings(options)).toThrow(PerfSettingError)
    expect(() => perfSettings(options)).toThrow(message)
  })

  test("a datagram longer than the path MTU is refused", () => {
    const settings = perfSettings({ test: "send-bw", connection: "ud", bytes: 2000 })
    expect(() => sizesOf(settings, 1024)).toThrow(
      "bytes: found 2000, expected at most 1024, the path MTU, for datagrams",
    )
  })
})
