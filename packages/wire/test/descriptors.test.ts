import { describe, expect, test } from "vitest"
import {
  efaStatusText,
  emitEfaSend,
  emitEfaWideSend,
  parseEfaReceive,
  parseEfaReceiveCompletion,
  parseEfaSend,
  parseEfaSendCompletion,
  parseEfaWideSend,
} from "../src/Efa.ts"
import {
  emitErdmaSend,
  erdmaStatusText,
  parseErdmaCompletion,
  parseErdmaCompletionDoorbell,
  parseErdmaReceive,
  parseErdmaSend,
  parseErdmaSendDoorbell,
} from "../src/Erdma.ts"
import type { Parse } from "../src/Result.ts"

// Vectors by hand, from the structures of Linux and rdma-core: little-endian words as they lie in memory.
const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(/\s/g, ""), "hex"))
const text = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")

describe("EFA", () => {
  test("a send of two buffers with an immediate", () => {
    const octets = hex(`
      3412 90 1d  2a00 0200  efcdab89  0700 0000  78563412 ${"00".repeat(12)}
      00100000 cdab3400 0000efbe 00000000
      00080000 01000000 88776655 44332211`)
    const outcome = parseEfaSend(octets)
    expect(outcome).toMatchObject({
      ok: true,
      faults: [],
      value: {
        requestId: 0x1234,
        phase: true,
        signaled: true,
        destinationQp: 42,
        addressHandle: 7,
        queueKey: 0x12345678,
        immediate: 0x89abcdef,
        operation: {
          kind: "send",
          buffers: [
            { bytes: 4096, localKey: 0x34abcd, address: 0xbeef0000n },
            { bytes: 2048, localKey: 1, address: 0x1122334455667788n },
          ],
        },
      },
    })
    if (!outcome.ok) return
    const again = new Uint8Array(64)
    expect(emitEfaSend(outcome.value, again)).toBe(64)
    expect(text(again)).toBe(text(octets))
  })

  test("an inline message of no octets, and a write", () => {
    const inline = hex(`0000 a0 0c 0100 0000 ${"00".repeat(56)}`)
    expect(parseEfaSend(inline)).toMatchObject({ value: { operation: { kind: "sendInline", data: hex("") } } })
    const write = hex(
      `0000 82 0c 0100 0100 ${"00".repeat(24)} 00000040 44332211 0000000001000000 00000040 01000000 0000000002000000`,
    )
    expect(parseEfaSend(write)).toMatchObject({
      value: {
        operation: {
          kind: "write",
          remote: { bytes: 0x40000000, key: 0x11223344, address: 0x100000000n },
          local: { bytes: 0x40000000, localKey: 1, address: 0x200000000n },
        },
      },
    })
  })

  test.each([
    ["0000 10 0c 0000 0000", { what: "value", field: "meta" }],
    ["0000 80 08 0000 0000", { what: "value", field: "first" }],
    ["0000 85 0c 0000 0000", { what: "reserved", field: "operation" }],
    ["0000 a1 0c 0000 0100", { what: "value", field: "inline" }],
    ["0000 80 0c 0000 0300", { what: "length", field: "length" }],
    ["0000 a0 0c 0000 2100", { what: "length", field: "length" }],
    ["0000 81 0c 0000 0200", { what: "length", field: "length" }],
  ])("%s is refused", (start, error) => {
    expect(parseEfaSend(hex(`${start} ${"00".repeat(56)}`))).toMatchObject({ ok: false, error })
  })

  test("what is stale behind the buffers is a fault with its offset", () => {
    const octets = hex(`0000 80 0c 0100 0100 ${"00".repeat(55)} 01`)
    expect(parseEfaSend(octets)).toMatchObject({ ok: true, faults: [{ what: "ignored", offset: 63, found: 1 }] })
  })

  /** The entry of either size, without faults and emitted to the same octets. */
  const again = <A>(
    octets: Uint8Array,
    parse: (octets: Uint8Array) => Parse<A>,
    emit: (value: A, octets: Uint8Array) => number,
  ): A => {
    const outcome = parse(octets)
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.error))
    expect(outcome.faults).toEqual([])
    const emitted = new Uint8Array(octets.length)
    expect(emit(outcome.value, emitted)).toBe(octets.length)
    expect(text(emitted)).toBe(text(octets))
    return outcome.value
  }

  test("hints at 14, and bits 16 to 63 of the request at 26", () => {
    const octets = hex(
      `2211 80 0d 2a00 0000 00000000 0700 0100 78563412 ${"00".repeat(6)} 443366558877 ${"00".repeat(32)}`,
    )
    expect(again(octets, parseEfaSend, emitEfaSend)).toMatchObject({
      requestId: 0x1122,
      requestIdHigh: 0x7788_5566_3344,
      processingHints: 1,
      addressHandle: 7,
      queueKey: 0x12345678,
    })
    octets[14] = 5
    octets[20] = 9
    expect(parseEfaSend(octets)).toMatchObject({
      value: { processingHints: 1 },
      faults: [
        { what: "ignored", offset: 14, found: 4 },
        { what: "ignored", offset: 20, found: 9 },
      ],
    })
  })

  test("a registration of one page and of a list, and an invalidation", () => {
    // lkey at 32, permissions at 36, page shift and mode at 37, address at 40, length at 48, pages at 56.
    const start = `0100 83 1d ${"00".repeat(28)}`
    const page = hex(`${start} 44332211 05 0c 0000 0010000000000000 0010000000000000 00f0ddccbbaa0000`)
    expect(again(page, parseEfaSend, emitEfaSend).operation).toEqual({
      kind: "register",
      localKey: 0x11223344,
      localWrite: true,
      remoteWrite: false,
      remoteRead: true,
      pageShift: 12,
      address: 0x1000n,
      bytes: 0x1000n,
      pages: { kind: "page", address: 0xaabbccddf000n },
    })
    page[37] = 0x35
    expect(again(page, parseEfaSend, emitEfaSend).operation).toMatchObject({ pageShift: 21, pages: { kind: "list" } })
    page[37] = 0x4c
    expect(parseEfaSend(page)).toMatchObject({ ok: false, error: { what: "reserved", field: "pageMode", offset: 37 } })
    const invalidation = hex(`0100 84 1d ${"00".repeat(28)} 44332211 ${"00".repeat(28)}`)
    expect(again(invalidation, parseEfaSend, emitEfaSend).operation).toEqual({
      kind: "invalidate",
      localKey: 0x11223344,
    })
  })

  const wide = (octets: string): Uint8Array => hex(octets.replaceAll(/\s/g, "").padEnd(256, "0"))

  test("a wide entry sends 80 octets from octet 32, and two buffers as the other", () => {
    const data = "5a".repeat(80)
    const octets = wide(`0100 a0 1d 2a00 5000 ${"00".repeat(24)} ${data}`)
    expect(again(octets, parseEfaWideSend, emitEfaWideSend).operation).toEqual({ kind: "sendInline", data: hex(data) })
    octets[6] = 81
    expect(parseEfaWideSend(octets)).toMatchObject({ ok: false, error: { what: "length", field: "length", offset: 6 } })
    const buffers = wide(`0100 80 1d 2a00 0200 ${"00".repeat(24)}
      00100000 cdab3400 0000efbe 00000000 00080000 01000000 88776655 44332211`)
    expect(again(buffers, parseEfaWideSend, emitEfaWideSend).operation).toMatchObject({
      kind: "send",
      buffers: [{ bytes: 4096 }, { address: 0x1122334455667788n }],
    })
  })

  test("a wide entry writes what it carries: the peer's memory at 32, the data at 48", () => {
    const octets = wide(`0100 a2 1d 2a00 0300 ${"00".repeat(24)} 03000000 44332211 00000000 01000000 aabbcc`)
    expect(again(octets, parseEfaWideSend, emitEfaWideSend).operation).toEqual({
      kind: "writeInline",
      remote: { key: 0x11223344, address: 0x100000000n },
      data: hex("aabbcc"),
    })
    octets[32] = 4
    expect(parseEfaWideSend(octets)).toMatchObject({
      ok: false,
      error: { what: "length", field: "remote", offset: 32 },
    })
    octets[2] = 0xa1
    expect(parseEfaWideSend(octets)).toMatchObject({ ok: false, error: { what: "value", field: "inline" } })
    expect(parseEfaSend(wide(`0100 a2 1d 2a00 0300`))).toMatchObject({ ok: false, error: { field: "inline" } })
  })

  test("signals are reserved bits of an entry of 64 octets, and not read in one of 128", () => {
    const octets = wide("0100 80 4c")
    expect(parseEfaSend(octets)).toMatchObject({ ok: true, faults: [{ what: "ignored", offset: 3, found: 0x40 }] })
    expect(parseEfaWideSend(octets)).toMatchObject({ ok: false, error: { what: "unsupported", field: "signals" } })
  })

  test("receives and completions", () => {
    expect(parseEfaReceive(hex("8877665544332211 0500 0020 cdab34c0"))).toMatchObject({
      value: { address: 0x1122334455667788n, requestId: 5, bytes: 8192, localKey: 0x34abcd, first: true, last: true },
    })
    expect(parseEfaSendCompletion(hex("0500 0a 03 2a00 0000"))).toMatchObject({
      value: { requestId: 5, status: 10, phase: true, operation: 0, qp: 42 },
    })
    expect(parseEfaReceiveCompletion(hex("0500 00 ad 2a00 0010 ffff 0700 efcdab89"))).toMatchObject({
      value: {
        phase: true,
        operation: 2,
        unsolicited: true,
        bytes: 4096,
        addressHandle: undefined,
        sourceQp: 7,
        immediate: 0x89abcdef,
      },
    })
    expect(parseEfaSendCompletion(hex("0500 00 05 2a00 0000"))).toMatchObject({ ok: false, error: { field: "queue" } })
    expect(parseEfaReceiveCompletion(hex(`0500 00 02${"00".repeat(12)}`))).toMatchObject({ ok: false })
    expect(efaStatusText(10)).toBe("remote: no receive posted")
    expect(efaStatusText(99)).toBe("status 99")
  })
})

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
