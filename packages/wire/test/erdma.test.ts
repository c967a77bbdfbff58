import { describe, expect, it, test } from "vitest"
import {
  emitErdmaMpa,
  emitErdmaSend,
  erdmaStatusText,
  parseErdmaCompletion,
  parseErdmaCompletionDoorbell,
  parseErdmaMpa,
  parseErdmaReceive,
  parseErdmaSend,
  parseErdmaSendDoorbell,
} from "../src/Erdma.ts"
import { hex, text } from "./octetText.ts"

// Vectors by hand, from the structures of erdma_hw.h (Linux) and how erdma_qp.c fills them: little-endian words as they lie in memory.

describe("eRDMA", () => {
  /** The operation of an entry without faults, which is emitted to the same octets. */
  const again = (octets: Uint8Array): unknown => {
    const outcome = parseErdmaSend(octets)
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.error))
    expect(outcome.faults).toEqual([])
    const emitted = new Uint8Array(octets.length)
    expect(emitErdmaSend(outcome.value, emitted)).toBe(octets.length)
    expect(text(emitted)).toBe(text(octets))
    return outcome.value.operation
  }

  test("a SEND with an immediate and one buffer: one block", () => {
    // index 5, signaled, opcode 3, queue pair 0xabcde, one block, one buffer.
    const octets = hex("0500 40 18 debc0a 01 89abcdef 00100000 0000efbe00000000 00100000 34120000")
    const outcome = parseErdmaSend(octets)
    expect(outcome).toMatchObject({
      ok: true,
      faults: [],
      payloadStart: 32,
      value: {
        index: 5,
        qp: 0xabcde,
        signaled: true,
        operation: {
          kind: "send",
          extra: { kind: "immediate", word: 0x89abcdef },
          bytes: 4096,
          payload: { kind: "buffers", buffers: [{ address: 0xbeef0000n, bytes: 4096, key: 0x1234 }] },
        },
      },
    })
    if (!outcome.ok) return
    const again = new Uint8Array(32)
    emitErdmaSend(outcome.value, again)
    expect(text(again)).toBe(text(octets))
  })

  test("a READ names its source in a second block and counts no buffers", () => {
    const octets = hex(`
      0700 40 08 01001000  00000000 00200000 11000000 0000000001000000 00000000
      0000000002000000 00200000 22000000 ${"00".repeat(16)}`)
    expect(parseErdmaSend(octets)).toMatchObject({
      faults: [],
      payloadStart: 64,
      value: {
        operation: {
          kind: "read",
          invalidatedStag: undefined,
          bytes: 8192,
          sink: { stag: 0x11, address: 0x100000000n },
          source: { address: 0x200000000n, bytes: 8192, key: 0x22 },
        },
      },
    })
  })

  test("compare and swap", () => {
    const octets = hex(`
      0900 40 88 01001000  0000000000000000 0200000000000000 0100000000000000
      0000000001000000 00000000 22000000  0000000002000000 08000000 11000000`)
    expect(parseErdmaSend(octets)).toMatchObject({
      faults: [],
      value: { operation: { kind: "atomic", operation: { kind: "compareSwap", compare: 1n, swap: 2n } } },
    })
  })

  test("fetch and add: its operand at 16, the peer's memory at 32, this host's at 48", () => {
    const octets = hex(`
      0900 40 90 01001000  0000000000000000 0500000000000000 0000000000000000
      0000000001000000 00000000 22000000  0000000002000000 08000000 11000000`)
    expect(again(octets)).toMatchObject({
      kind: "atomic",
      operation: { kind: "fetchAdd", add: 5n },
      remote: { address: 0x100000000n, bytes: 0, key: 0x22 },
      local: { address: 0x200000000n, bytes: 8, key: 0x11 },
    })
    // What the ring keeps in the word that only compare and swap uses.
    octets[24] = 7
    expect(parseErdmaSend(octets)).toMatchObject({ faults: [{ what: "ignored", offset: 24, found: 7 }] })
  })

  test("a SEND that invalidates: its STag is little-endian, unlike an immediate", () => {
    const octets = hex(`0600 40 68 debc0a00 44332211 00000000 ${"00".repeat(16)}`)
    expect(again(octets)).toMatchObject({ kind: "send", extra: { kind: "invalidate", word: 0x11223344 }, bytes: 0 })
  })

  test("a registration with three pages in its second block", () => {
    // addr at 8, length at 16, stag at 20, attrs at 24: rights read and write, local and remote (bits 2 to 5), count << 12.
    const octets = hex(`
      0800 40 70 01001000  0010000000000000 00300000 44332211 3c300000 00000000
      0010000001000000 0020000002000000 0030000003000000 0000000000000000`)
    expect(again(octets)).toEqual({
      kind: "register",
      stag: 0x11223344,
      address: 0x1000n,
      bytes: 0x3000,
      rights: { remoteAtomic: false, localRead: true, localWrite: true, remoteRead: true, remoteWrite: true },
      pages: { kind: "inline", addresses: [0x100001000n, 0x200002000n, 0x300003000n] },
    })
  })

  test("a registration by a table: one block, type 1 in bits 6 and 7, its count above", () => {
    const octets = hex("0700 40 70 01000000  0010000000000000 00002000 44332211 46002000 00000000")
    expect(again(octets)).toMatchObject({
      kind: "register",
      bytes: 0x200000,
      rights: { remoteAtomic: true, localRead: true, localWrite: false, remoteRead: false, remoteWrite: false },
      pages: { kind: "indirect", count: 512 },
    })
  })

  test("an invalidation uses the STag alone", () => {
    const octets = hex("0700 40 78 01000000  0000000000000000 00000000 44332211 00000000 00000000")
    expect(again(octets)).toEqual({ kind: "invalidate", stag: 0x11223344 })
    octets[8] = 1
    expect(parseErdmaSend(octets)).toMatchObject({ ok: true, faults: [{ what: "ignored", offset: 8, found: 1 }] })
  })

  test.each([
    ["0000 00 20 00000000", { what: "unsupported", field: "opcode" }],
    // REG_MR: a block of pages too many, a table of type 2, five inline pages; LOCAL_INV of two blocks.
    ["0000 00 70 00001000", { what: "length", field: "blocks", offset: 6 }],
    [`0000 00 70 00001000 ${"00".repeat(16)} 80100000`, { what: "reserved", field: "tableType", offset: 24 }],
    [`0000 00 70 00001000 ${"00".repeat(16)} 00500000`, { what: "length", field: "pageCount", offset: 25 }],
    ["0000 00 78 00001000", { what: "length", field: "blocks", offset: 6 }],
    ["0000 00 10 00004000", { what: "length", field: "blocks" }],
    ["0000 00 10 00000002", { what: "length", field: "count" }],
    ["0000 00 10 00001000", { what: "length", field: "count" }],
  ])("%s is refused", (start, error) => {
    expect(parseErdmaSend(hex(`${start} ${"00".repeat(200)}`))).toMatchObject({ ok: false, error })
  })

  test("receives, completions and doorbells", () => {
    expect(
      parseErdmaReceive(hex(`0100 0000 debc0a00 ${"00".repeat(8)} 8877665544332211 00100000 34120000`)),
    ).toMatchObject({
      faults: [],
      value: { index: 1, qp: 0xabcde, address: 0x1122334455667788n, bytes: 4096, stag: 0x1234 },
    })
    // Big-endian but for the immediate.
    expect(parseErdmaCompletion(hex(`80050100 00000003 000abcde efcdab89 00001000 ${"00".repeat(12)}`))).toMatchObject({
      faults: [],
      value: {
        owner: true,
        opcode: 5,
        queue: "receive",
        syndrome: 0,
        index: 3,
        qp: 0xabcde,
        notice: { kind: "immediate", immediate: 0x89abcdef },
        bytes: 4096,
      },
    })
    expect(parseErdmaCompletion(hex(`00000300${"00".repeat(28)}`))).toMatchObject({
      ok: false,
      error: { field: "queueType" },
    })
    expect(parseErdmaSendDoorbell(hex("0500 0000 debc0a00"))).toMatchObject({ value: { index: 5, qp: 0xabcde } })
    expect(parseErdmaCompletionDoorbell(hex("563412 d0 efcdab 07"))).toMatchObject({
      value: { consumer: 0x123456, armSequence: 1, solicited: true, arm: true, queue: 0xabcdef, index: 7 },
    })
    expect(erdmaStatusText(15)).toBe("flushed")
    expect(erdmaStatusText(77)).toBe("status 77")
  })
})

describe("the opening frame", () => {
  it("is MPA's in revision 129, cookie and congestion control before the private data, which alone is counted", () => {
    const request = hex(`4d5041204944205265712046 72616d65 00810002 12345678 00000002 abcd`)
    const value = {
      kind: "request",
      markers: false,
      crc: false,
      rejected: false,
      cookie: 0x12345678,
      congestionControl: 2,
      privateData: Uint8Array.of(0xab, 0xcd),
    } as const
    expect(parseErdmaMpa(request)).toMatchObject({ faults: [], value, payloadStart: 30 })
    const octets = new Uint8Array(30)
    expect(emitErdmaMpa(value, octets)).toBe(30)
    expect(octets).toEqual(request)
  })

  it("of another revision, or a request that is cut, is refused", () => {
    const plain = hex(`4d5041204944205265712046 72616d65 00010000 00000000 00000000`)
    expect(parseErdmaMpa(plain)).toMatchObject({ ok: false, error: { field: "revision", found: 1, expected: "129" } })
    plain[17] = 129
    expect(parseErdmaMpa(plain)).toMatchObject({ ok: true })
    expect(parseErdmaMpa(plain.subarray(0, 27))).toMatchObject({ ok: false })
    plain[18] = 3
    expect(parseErdmaMpa(plain)).toMatchObject({ ok: false, error: { field: "privateDataBytes" } })
  })
})
