import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  DONE,
  emitKeys,
  emitMtu,
  emitPingpong,
  emitResults,
  emitRping,
  emitVersion,
  emitWord,
  FormatError,
  KEYS_BYTES,
  MTU_BYTES,
  PINGPONG_BYTES,
  parseKeys,
  parseMtu,
  parsePingpong,
  parseResults,
  parseRping,
  parseVersion,
  parseWord,
  RPING_BYTES,
  VERSION_BYTES,
  WORD_BYTES,
} from "../src/index.ts"

/** What the tools of perftest 6.06 said to each other in a Linux guest; "> " is the client. */
const exchanges: Record<string, ReadonlyArray<string>> = JSON.parse(
  gunzipSync(readFileSync(new URL("exchanges.json.gz", import.meta.url))).toString(),
)
const octetsOf = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"))
const text = (value: string): Uint8Array => new TextEncoder().encode(value)
const messages = (line: string) => exchanges[line]!.map((each) => octetsOf(each.slice(2)))

describe("what Linux's perftest sent", () => {
  const perftests = Object.keys(exchanges).filter((line) => line.startsWith("ib_"))
  test.each(perftests)("%s: every message is read, and written again the same", (line) => {
    const [version, , cycle, , cacheLine, , mtu, , ...others] = messages(line)
    expect(parseVersion(version!)).toBe("6.06")
    expect(emitVersion("6.06")).toEqual(version)
    expect([parseWord("cycle buffer", cycle!), parseWord("cache line", cacheLine!)]).toEqual([4096, 64])
    expect(emitWord(4096)).toEqual(cycle)
    expect(parseMtu(mtu!)).toBe(1024)
    expect(emitMtu(1024)).toEqual(mtu)
    const keys = others.filter(({ length }) => length === KEYS_BYTES)
    expect(keys.length).toBeGreaterThan(6)
    for (const octets of keys) expect(emitKeys(parseKeys(octets))).toEqual(octets)
  })

  test("keys of ib_write_bw", () => {
    const { address, gid, ...others } = parseKeys(messages("ib_write_bw -n 100 -s 4096")[8]!)
    expect(others).toEqual({ lid: 0, outstandingReads: 1, qpn: 0x15, psn: 0x1f20aa, rkey: 0x72a, srqn: 0 })
    expect(address).toBe(0x55631297d000n)
    expect(Buffer.from(gid).toString("hex")).toBe("00000000000000000000ffff0a000001")
  })

  test("results are those that the client printed, of both queue pairs", () => {
    const results = messages("ib_write_bw -n 100 -q 2 -b -s 1024").filter(({ length }) => length === 8)
    const client = parseResults(results.filter((_, index) => index % 2 === 0))
    const server = parseResults(results.filter((_, index) => index % 2 === 1))
    expect([client.bytes, client.iterations]).toEqual([1024, 200])
    // 1024 200 58.42 25.54 0.026152 was printed.
    expect((client.peak + server.peak).toFixed(2)).toBe("58.42")
    expect((client.average + server.average).toFixed(2)).toBe("25.54")
    expect((client.messageRate + server.messageRate).toFixed(6)).toBe("0.026152")
    expect(emitResults(client)).toEqual(results.filter((_, index) => index % 2 === 0))
  })

  const pingpongs = Object.keys(exchanges).filter((line) => line.startsWith("ibv_"))
  test.each(pingpongs)("%s: client, server, done", (line) => {
    const [client, server, done, ...others] = messages(line)
    for (const octets of [client!, server!]) expect(emitPingpong(parsePingpong(octets))).toEqual(octets)
    expect(parsePingpong(client!).gid).toEqual(parsePingpong(server!).gid)
    expect([done, others]).toEqual([DONE, []])
  })

  test("a server that measured nothing sends what was in its memory, and that is read", () => {
    const results = messages("ib_write_bw -n 100 -s 4096").filter(({ length }) => length === 8)
    const server = results.filter((_, index) => index % 2 === 1)
    expect(Number.isFinite(parseResults(server).bytes)).toBe(true)
  })
})

const uint = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 })
const gid = fc.uint8Array({ minLength: 16, maxLength: 16 })

describe("emit and parse are inverse", () => {
  const each = <A>(arbitrary: fc.Arbitrary<A>, check: (value: A) => void) => fc.assert(fc.property(arbitrary, check))
  const address = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })

  test("pingpong", () => {
    each(fc.record({ lid: uint(16), qpn: uint(24), psn: uint(24), gid }), (destination) => {
      const octets = emitPingpong(destination)
      expect(octets.length).toBe(PINGPONG_BYTES)
      expect(parsePingpong(octets)).toEqual(destination)
    })
  })

  test("perftest keys", () => {
    const numbers = { lid: uint(16), outstandingReads: uint(16), qpn: uint(24), psn: uint(24) }
    each(fc.record({ ...numbers, rkey: uint(32), srqn: uint(32), address, gid }), (keys) => {
      expect(parseKeys(emitKeys(keys))).toEqual(keys)
    })
  })

  test("rping", () => {
    each(fc.record({ address, rkey: uint(32), bytes: uint(32) }), (buffer) => {
      expect(parseRping(emitRping(buffer))).toEqual(buffer)
    })
  })

  test("results", () => {
    const doubles = { peak: fc.double(), average: fc.double(), messageRate: fc.double() }
    each(fc.record({ bytes: uint(31), iterations: uint(31), ...doubles }), (results) => {
      expect(parseResults(emitResults(results))).toEqual(results)
    })
  })

  test.each([256, 512, 1024, 2048, 4096])("a path MTU of %i", (bytes) => {
    expect(parseMtu(emitMtu(bytes))).toBe(bytes)
  })
})

describe("what is no such message is told, and never thrown as something else", () => {
  const parsers = {
    pingpong: [parsePingpong, PINGPONG_BYTES],
    keys: [parseKeys, KEYS_BYTES],
    version: [parseVersion, VERSION_BYTES],
    word: [(octets: Uint8Array) => parseWord("cycle buffer", octets), WORD_BYTES],
    mtu: [parseMtu, MTU_BYTES],
    rping: [parseRping, RPING_BYTES],
  } as const

  test("arbitrary octets", () => {
    const parser = fc.constantFrom(...Object.values(parsers))
    fc.assert(
      fc.property(parser, fc.uint8Array({ maxLength: 120 }), fc.boolean(), ([parse, bytes], octets, isWhole) => {
        const input = isWhole ? Uint8Array.from({ length: bytes }, (_, index) => octets[index] ?? 0x30) : octets
        try {
          parse(input)
        } catch (error) {
          expect(error).toBeInstanceOf(FormatError)
        }
      }),
    )
  })

  const refusal = (run: () => unknown): string => {
    try {
      run()
    } catch (error) {
      if (error instanceof FormatError) return error.message
      throw error
    }
    return "not refused"
  }

  test("with the field, what was found and what was expected", () => {
    const message = emitPingpong({ lid: 0, qpn: 0x11, psn: 5, gid: new Uint8Array(16) })
    expect(refusal(() => parsePingpong(message.subarray(1)))).toBe(
      "pingpong address, length: found 51 octets, expected 52",
    )
    expect(refusal(() => parsePingpong(message.with(7, 0x78)))).toBe(
      'pingpong address, QPN: found "00x011", expected 6 hexadecimal digits',
    )
    expect(refusal(() => parsePingpong(message.with(51, 0x30)))).toBe(
      'pingpong address, GID: found "0", expected a NUL after it',
    )
    expect(refusal(() => parseKeys(text("0".repeat(KEYS_BYTES))))).toBe(
      'perftest keys, LID: found "0", expected a ":" after it',
    )
    expect(refusal(() => parseMtu(text("9\0")))).toMatch(/^perftest MTU, path MTU: found "9\.", expected "1" to "5"/)
    expect(refusal(() => parseVersion(emitVersion("5.6")))).toMatch(/expected 5\.70 or later$/)
    expect(refusal(() => parseVersion(text("HTTP/1.1 400 Bad")))).toMatch(/expected 16 octets with a text and a NUL$/)
    // A peer does not say how much memory there is to be.
    expect(refusal(() => parseWord("cycle buffer", emitWord(2 ** 31 - 1)))).toBe(
      "perftest word, cycle buffer: found 2147483647, expected at most 1048576",
    )
    expect(refusal(() => parseWord("cycle buffer", emitWord(0)))).toBe(
      "perftest word, cycle buffer: found 0, expected a number above 0",
    )
    expect(refusal(() => parseResults([]))).toMatch(/^perftest results, length/)
    expect(refusal(() => parseRping(new Uint8Array(15)))).toBe("rping buffer, length: found 15 octets, expected 16")
  })
})
