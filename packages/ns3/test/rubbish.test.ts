import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  applyOverrides,
  configKeys,
  Ns3FormatError,
  parseConfig,
  parseFct,
  parseFlows,
  parsePfc,
  parseQlen,
  parseTopology,
  parseTraceList,
  parseTrFilter,
  readTr,
} from "../src/index.ts"
import { messageOf } from "./faults.ts"
import { octetsOf } from "./testdata.ts"

const config = parseConfig(octetsOf("tiny/hpcc.config.txt"), "config")

const readers: ReadonlyArray<readonly [string, string, (text: string | Uint8Array) => unknown]> = [
  ["config", "tiny/hpcc.config.txt", (text) => parseConfig(text, "f")],
  ["topology", "tiny/topology.txt", (text) => parseTopology(text, "f")],
  ["flows", "incast16/flow.txt", (text) => parseFlows(text, "f", { nodes: 18, switches: [17] })],
  ["trace list", "tiny/trace.txt", (text) => parseTraceList(text, "f")],
  ["completion times", "incast16/hpcc.fct.txt", (text) => parseFct(text, "f")],
  ["PFC events", "pfcdemo/timely.pfc.txt", (text) => parsePfc(text, "f")],
  ["queue lengths", "tiny/hpcc.qlen.txt", (text) => parseQlen(text, "f")],
  ["trace", "tiny/hpcc.tr", (text) => readTr(typeof text === "string" ? octets(text) : text, "f", () => {})],
  ["filter", "tiny/trace.txt", (text) => parseTrFilter(String(text))],
  ["override", "tiny/trace.txt", (text) => applyOverrides(config, [String(text)])],
]

const octets = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Reads, and lets nothing but a format error pass. */
const attempt = (read: (text: string | Uint8Array) => unknown, text: string | Uint8Array): void => {
  try {
    read(text)
  } catch (error) {
    if (!(error instanceof Ns3FormatError)) throw error
    expect(error.message).toContain(error.file)
  }
}

describe.each(readers)("%s", (_, path, read) => {
  test("arbitrary text is read or refused", () => {
    const words = fc
      .array(
        fc.oneof(
          fc.constantFrom(...configKeys.keys(), "time:", "1Gbps", "1us", "(", ")", "&", "|", "=", "node", "flow", ","),
          fc.nat().map(String),
          fc.double().map(String),
          fc.string({ unit: "binary", maxLength: 4 }),
        ),
        { maxLength: 30 },
      )
      .chain((parts) => fc.constantFrom(" ", "\n", "").map((space) => parts.join(space)))
    fc.assert(fc.property(words, (text) => attempt(read, text)))
  })

  test("arbitrary octets are read or refused", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (text) => attempt(read, text)))
  })

  test("a damaged file is read or refused", () => {
    const whole = octetsOf(path)
    const place = fc.nat({ max: whole.length - 1 })
    const damage = fc.record({ at: place, length: fc.nat({ max: 8 }), put: fc.uint8Array({ maxLength: 8 }) })
    fc.assert(
      fc.property(damage, ({ at, length, put }) => {
        const damaged = new Uint8Array(whole.length - Math.min(length, whole.length - at) + put.length)
        damaged.set(whole.subarray(0, at))
        damaged.set(put, at)
        damaged.set(whole.subarray(at + length), at + put.length)
        attempt(read, damaged)
      }),
    )
  })
})

describe("text", () => {
  test.each([
    [Uint8Array.of(0x1f, 0x8b, 0x08, 0x00), 'f:1:1: text: found "\\x1f" (octet 0)'],
    [Uint8Array.of(0x1f, 0x8b, 0x08, 0x00), "the file is compressed: unpack it first"],
    [Uint8Array.of(0x33, 0x0a, 0x00), 'f:2:1: text: found "\\x00" (octet 2), expected plain text'],
    [Uint8Array.of(0x33, 0x7f), 'f:1:2: text: found "\\x7f" (octet 1)'],
    [octets("1 ".repeat(3) + "x".repeat(5000)), "f:1:7: word: found"],
    [octets("3 1 ü2"), 'f:1:5: number of links: found "ü2", expected a whole number'],
    [octets("3 ü 2"), 'f:1:3: number of switches: found "ü"'],
  ])("%#", (text, message) => {
    expect(messageOf(() => parseTopology(text, "f"))).toContain(message)
  })

  test("octets that are not UTF-8 are refused where text is wanted", () => {
    const text = Uint8Array.of(...octets("TRACE_FILE a"), 0xff)
    expect(messageOf(() => parseConfig(text, "f"))).toContain('f:1:13: text: found "\\xff" (octet 12)')
  })

  test("a byte order mark is no word, paths may be in any script", () => {
    const text = "\uFEFFTOPOLOGY_FILE 拓扑.txt FLOW_FILE f RATE_AI 1Gbps RATE_HAI 1Gbps CC_MODE 3"
    expect(parseConfig(text, "f").config.topologyFile).toBe("拓扑.txt")
    expect(messageOf(() => parseConfig(`TOPOLOGY_FILE 拓扑.txt CC_MOD 3`, "f"))).toContain("f:1:22: key:")
  })

  test("a claim of more than the file can hold costs no memory", () => {
    expect(messageOf(() => parseFlows("9007199254740991\n0 1 3 100 5 2", "f"))).toContain("the file ends after 1")
    expect(messageOf(() => parseTopology("65536 0 2147483647\n", "f"))).toContain("the file ends after 0")
  })
})
