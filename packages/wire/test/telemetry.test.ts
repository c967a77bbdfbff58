import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { emitHpccInt, emitNs3Int, parseHpccInt, parseNs3Int } from "../src/Hpcc.ts"
import { parseIfa, parseIfaHop, parseIfaMetadata } from "../src/Ifa.ts"
import { emitIntMdHop, type IntMd, IntMdInstruction, intMdHops, parseIntMd } from "../src/IntMd.ts"
import { emitIoam, IoamTrace, ioamNodes, ioamNodeWords, parseIoam } from "../src/Ioam.ts"
import { emitPint, parsePint } from "../src/Pint.ts"
import { emitSrd, parseSrd, type Srd } from "../src/Srd.ts"
import { u16 } from "./arbitrary.ts"
import { hex, text } from "./octetText.ts"

const read = <A>(outcome: { ok: true; value: A } | { ok: false; error: unknown }): A => {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.error))
  return outcome.value
}

describe("HPCC", () => {
  test("the paper's layout: 42 octets for five hops", () => {
    const hop = { speedCode: 2, time: 0x123456, txUnits: 0xabcde, queueUnits: 0x1f0f }
    const octets = new Uint8Array(42)
    expect(emitHpccInt({ pathId: 0x7a5, hops: [hop, hop, hop, hop, hop] }, octets)).toBe(42)
    expect(text(octets.subarray(0, 10))).toBe("57a5" + "2123456abcde1f0f")
    expect(read(parseHpccInt(octets)).hops[4]).toEqual(hop)
  })

  test("ns-3's layout is C bit-fields in the order of the host", () => {
    const hop = { rateCode: 2, time: 0x123456, txUnits: 0xabcde, queueUnits: 0x1f0f0 & 0x1ffff }
    const none = { rateCode: 0, time: 0, txUnits: 0, queueUnits: 0 }
    const octets = new Uint8Array(42)
    emitNs3Int({ hopCount: 1, hops: [hop, none, none, none, none] }, octets)
    expect(text(octets.subarray(0, 8))).toBe("b2a291f0e65578f8")
    expect(text(octets.subarray(40))).toBe("0100")
    expect(read(parseNs3Int(octets))).toEqual({ hopCount: 1, hops: [hop, none, none, none, none] })
  })

  test("PINT's digest takes all there is, low octet first", () => {
    expect(parsePint(hex("34"))).toMatchObject({ value: { bytes: 1, digest: 0x34 } })
    expect(parsePint(hex("3412"))).toMatchObject({ value: { bytes: 2, digest: 0x1234 } })
    expect(parsePint(hex("341200"))).toMatchObject({ ok: false, error: { what: "length", found: 3 } })
    expect(parsePint(hex("34"), 0, 2)).toMatchObject({ ok: false, error: { what: "truncated", offset: 1 } })
    const octets = new Uint8Array(3)
    expect(emitPint({ bytes: 2, digest: 0xabcd }, octets, 1)).toBe(3)
    expect(text(octets)).toBe("00cdab")
    expect(() => emitPint({ bytes: 1, digest: 256 }, octets)).toThrow("pint.digest")
  })
})

describe("P4 INT", () => {
  // Over RoCEv2: two hops with node ID, queue and egress time (Hop ML 4), the last one without a time.
  const octets = hex(
    `14 0b 12b7  20 00 04 06  9400 0000 0000 0000
     00000002 05 000100 ffffffffffffffff
     00000001 00 000020 0000000000abcdef`,
  )

  test("shim, header and stack, the last hop first", () => {
    const value = read(parseIntMd(octets))
    expect(value).toMatchObject({
      next: { kind: "udpPort", port: 4791 },
      hopWords: 4,
      remainingHops: 6,
      discard: false,
    })
    const outcome = intMdHops(value)
    if (!outcome.ok) throw new Error("no hops")
    expect(outcome.source).toHaveLength(0)
    expect(outcome.hops).toEqual([
      { nodeId: 2, queue: 0x05000100, egressTime: undefined, rest: new Uint8Array(0) },
      { nodeId: 1, queue: 0x20, egressTime: 0xabcdefn, rest: new Uint8Array(0) },
    ])
    const again = new Uint8Array(16)
    for (const [index, hop] of outcome.hops.entries()) {
      expect(emitIntMdHop(value.instructions, hop, again)).toBe(16)
      expect(again).toEqual(value.stack.subarray(16 * index, 16 * index + 16))
    }
  })

  test("what only the source added is behind the hops; a complement is at the end of each", () => {
    const { NodeId, ChecksumComplement } = IntMdInstruction
    const value: IntMd = {
      ...read(parseIntMd(octets)),
      instructions: NodeId | ChecksumComplement | 0x0040,
      hopWords: 3,
      stack: hex("00000007 ffffffff 00001234 0badcafe"),
    }
    expect(intMdHops(value)).toEqual({
      ok: true,
      hops: [{ nodeId: 7, checksumComplement: 0x1234, rest: hex("ffffffff") }],
      source: hex("0badcafe"),
    })
    expect(intMdHops({ ...value, hopWords: 1 })).toMatchObject({ ok: false, error: { field: "hopWords" } })
    expect(intMdHops({ ...value, hopWords: 0, instructions: 0 })).toMatchObject({ ok: true, hops: [] })
  })

  test("the hops of any stack are emitted again", () => {
    const property = fc.property(
      u16,
      fc.uint8Array({ minLength: 4, maxLength: 500 }),
      fc.nat(31),
      (instructions, bytes, hopWords) => {
        const stack = bytes.subarray(0, bytes.length & ~3)
        const outcome = intMdHops({ ...read(parseIntMd(octets)), instructions, hopWords, stack })
        if (!outcome.ok) return
        const again = new Uint8Array(stack.length)
        let at = 0
        for (const hop of outcome.hops) at = emitIntMdHop(instructions, hop, again, at)
        again.set(outcome.source, at)
        expect(again).toEqual(stack)
      },
    )
    fc.assert(property, { numRuns: 500 })
  })

  test.each([
    ["34 03 12b7", { what: "unsupported", field: "type", offset: 0 }],
    ["1c 03 12b7", { what: "reserved", field: "nextType", offset: 0 }],
    ["14 02 12b7 20000000 00000000", { what: "length", field: "words", offset: 1 }],
    ["14 ff 12b7 20000000 00000000 00000000", { what: "length", field: "words", offset: 1 }],
    ["14 03 12b7 10000000 00000000 00000000", { what: "reserved", field: "version", offset: 4 }],
  ])("%s is refused", (bad, error) => {
    expect(parseIntMd(hex(bad))).toMatchObject({ ok: false, error })
  })
})

describe("IOAM", () => {
  test("a trace with room for three nodes, two of which came by (RFC 9197 §4.4)", () => {
    // Hop limit and node, interfaces, queue depth, fraction: what HPCC++ asks for.
    const traceType = IoamTrace.HopLimitNode | IoamTrace.Interfaces | IoamTrace.QueueDepth | IoamTrace.Fraction
    expect(ioamNodeWords(traceType)).toBe(4)
    const octets = hex(
      `31 3a 00 00  007b 20 04 d20000 00  ${"00".repeat(16)}
       3e 000002 0003 0004 00abcdef 00000100  3f 000001 ffff 0002 00123456 ffffffff`,
    )
    const value = read(parseIoam(octets))
    expect(value).toMatchObject({ mutable: true, nameSpace: 123, remainingWords: 4, traceType, overflow: false })
    expect(ioamNodes(value)).toEqual({
      ok: true,
      nodes: [
        { hopLimit: 62, node: 2, ingress: 3, egress: 4, fraction: 0xabcdef, queueDepth: 256 },
        { hopLimit: 63, node: 1, ingress: undefined, egress: 2, fraction: 0x123456, queueDepth: undefined },
      ],
    })
  })

  test("wide fields and a snapshot of each node's own length", () => {
    const traceType = IoamTrace.HopLimitNodeWide | IoamTrace.BufferOccupancy | IoamTrace.Snapshot
    expect(ioamNodeWords(traceType)).toBe(3)
    const nodeData = hex("40 00000000000005 00000009 01 000077 deadbeef  41 ffffffffffffff 00000008 00 ffffff")
    const value = {
      mutable: true,
      nameSpace: 0,
      overflow: false,
      loopback: true,
      active: true,
      remainingWords: 0,
      traceType,
      nodeData,
    }
    const octets = new Uint8Array(12 + nodeData.length)
    emitIoam(value, octets)
    expect(read(parseIoam(octets))).toEqual(value)
    expect(ioamNodes(value)).toEqual({
      ok: true,
      nodes: [
        { hopLimit: 64, nodeWide: 5n, bufferOccupancy: 9, snapshot: { schema: 0x77, data: hex("deadbeef") } },
        { hopLimit: 65, nodeWide: undefined, bufferOccupancy: 8, snapshot: { schema: 0xffffff, data: hex("") } },
      ],
    })
    expect(ioamNodes({ ...value, nodeData: nodeData.subarray(0, 28) })).toMatchObject({ ok: false })
  })

  test.each([
    ["05 0a 00 00 0000 08 00 800000 00", { what: "unsupported", field: "optionType" }],
    ["31 0a 00 01 0000 08 00 800000 00", { what: "unsupported", field: "type" }],
    ["31 0b 00 00 0000 08 00 800000 00 00", { what: "length", field: "optionBytes" }],
    ["31 0a 00 00 0000 10 00 800000 00", { what: "value", field: "nodeWords" }],
    ["31 0a 00 00 0000 08 01 800000 00", { what: "length", field: "remainingWords" }],
  ])("%s is refused", (bad, error) => {
    expect(parseIoam(hex(bad))).toMatchObject({ ok: false, error })
  })
})

describe("IFA", () => {
  test("header, metadata header and HPCC++'s hop", () => {
    expect(parseIfa(hex("2f 11 04 ff"))).toMatchObject({
      value: { nameSpace: 15, protocol: 17, flags: 4, wordsMax: 255 },
    })
    expect(parseIfa(hex("3f 11 04 ff"))).toMatchObject({ ok: false, error: { what: "unsupported", field: "version" } })
    expect(parseIfaMetadata(hex(`00 00 fe 08 ${"00".repeat(32)}`))).toMatchObject({
      value: { hopLimit: 254, payloadBytes: 32 },
      payloadStart: 4,
      payloadEnd: 36,
    })
    expect(parseIfaMetadata(hex("00 00 fe 08"))).toMatchObject({ ok: false, error: { what: "length", offset: 3 } })
    const hop = hex("1 abcde 40 4 4a 12345 0005 0006 3b9ac9ff 000003e8 01020304 0000 0200 00000000")
    expect(parseIfaHop(hop)).toMatchObject({
      faults: [],
      value: {
        nameSpace: 1,
        device: 0xabcde,
        timeToLive: 64,
        speedCode: 4,
        congestion: 1,
        queue: 10,
        rxSeconds: 0x12345,
        egressPort: 5,
        ingressPort: 6,
        rxNanoseconds: 999_999_999,
        residenceNs: 1000,
        txBytes: 0x01020304,
        queueLength: 512,
      },
    })
  })
})

describe("the model of SRD", () => {
  test("a WRITE with immediate, and an acknowledgement, octet for octet", () => {
    const octets = new Uint8Array(44)
    const data: Srd = {
      kind: "data",
      repeated: true,
      generation: 0x0102,
      timestamp: 0x1122_3344_5566_7788n,
      queueKey: 0x0a0b0c0d,
      sourceQp: 0x010203,
      oldest: 0x040506,
      operation: { kind: "write", immediate: 0x99aabbcc, remoteKey: 7, remoteAddress: 0x1_0000_0002n, bytes: 64 },
    }
    expect(emitSrd(data, octets)).toBe(44)
    expect(text(octets)).toBe(
      "12c001021122334455667788" + "0a0b0c0d0001020300040506" + "0000000700000001000000020000004099aabbcc",
    )
    expect(read(parseSrd(octets))).toEqual(data)
    const ack: Srd = {
      kind: "ack",
      repeated: false,
      generation: 1,
      timestamp: 5n,
      congestion: true,
      status: 10,
      cumulative: 0x8,
      base: 0x9,
      selectiveLow: 1n,
      selectiveHigh: 2n,
    }
    expect(emitSrd(ack, octets)).toBe(36)
    expect(text(octets.subarray(0, 36))).toBe(
      "152000010000000000000005" + "0a00000800000009" + "00000000000000010000000000000002",
    )
  })

  test.each([
    ["21 00", { what: "reserved", field: "version" }],
    ["10 00", { what: "reserved", field: "operation" }],
    ["16 00", { what: "reserved", field: "operation" }],
    ["13 80", { what: "value", field: "hasImmediate" }],
  ])("%s is refused", (start, error) => {
    expect(parseSrd(hex(`${start}${"00".repeat(50)}`))).toMatchObject({ ok: false, error })
  })
})
