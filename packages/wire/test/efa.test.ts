import { describe, expect, test } from "vitest"
import {
  type EfaExtendedReceiveCompletion,
  efaStatusText,
  emitEfaExtendedReceiveCompletion,
  emitEfaSend,
  emitEfaWideSend,
  parseEfaExtendedReceiveCompletion,
  parseEfaExtendedSendCompletion,
  parseEfaReceive,
  parseEfaReceiveCompletion,
  parseEfaSend,
  parseEfaSendCompletion,
  parseEfaWideSend,
} from "../src/Efa.ts"
import { EmitError } from "../src/Octets.ts"
import type { Parse } from "../src/Result.ts"
import { hex, text } from "./octetText.ts"

// Vectors by hand, from the structures of efa_io_defs.h (Linux, rdma-core, libfabric): little-endian words as they lie in memory.

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

describe("EFA, extended completions", () => {
  const faultless = (outcome: Parse<EfaExtendedReceiveCompletion>): EfaExtendedReceiveCompletion => {
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.error))
    expect(outcome.faults).toEqual([])
    return outcome.value
  }

  test("of a send: bits 16 to 63 of the request at 6, four reserved octets at 12", () => {
    const octets = hex("2211 00 03 2a00 443366558877 00000000")
    const outcome = parseEfaExtendedSendCompletion(octets)
    expect(outcome).toMatchObject({
      faults: [],
      payloadStart: 16,
      value: { requestId: 0x1122, requestIdHigh: 0x7788_5566_3344, status: 0, phase: true, operation: 0, qp: 42 },
    })
    octets[13] = 1
    expect(parseEfaExtendedSendCompletion(octets)).toMatchObject({
      ok: true,
      faults: [{ what: "ignored", offset: 12 }],
    })
    octets[3] = 5
    expect(parseEfaExtendedSendCompletion(octets)).toMatchObject({ ok: false, error: { field: "queue", offset: 3 } })
  })

  test("of a write: the high half of its length at 16", () => {
    const octets = hex(`0500 00 ad 2a00 0010 0300 0700 efcdab89 0200 ${"00".repeat(14)}`)
    expect(faultless(parseEfaExtendedReceiveCompletion(octets))).toEqual({
      requestId: 5,
      status: 0,
      phase: true,
      operation: 2,
      unsolicited: true,
      qp: 42,
      bytes: 0x21000,
      addressHandle: 3,
      sourceQp: 7,
      immediate: 0x89abcdef,
      sourceAddress: undefined,
    })
    octets[18] = 1
    expect(parseEfaExtendedReceiveCompletion(octets)).toMatchObject({ faults: [{ what: "ignored", offset: 18 }] })
  })

  test("of a send from an unknown address handle: the sender's address at 16", () => {
    const address = "fe800000000000000011223344556677"
    const octets = hex(`0500 00 05 2a00 0010 ffff 0700 00000000 ${address}`)
    const value = faultless(parseEfaExtendedReceiveCompletion(octets))
    expect(value).toMatchObject({ bytes: 4096, addressHandle: undefined, sourceAddress: hex(address) })
    const emitted = new Uint8Array(32)
    expect(emitEfaExtendedReceiveCompletion(value, emitted)).toBe(32)
    expect(text(emitted)).toBe(text(octets))
    // With a handle nobody reads the address, and nobody may say one.
    octets[8] = 1
    expect(parseEfaExtendedReceiveCompletion(octets)).toMatchObject({ value: { sourceAddress: undefined } })
    const wrong = [{ addressHandle: 1 }, { sourceAddress: undefined }, { operation: 2 }, { bytes: 0x10000 }]
    for (const change of wrong)
      expect(() => emitEfaExtendedReceiveCompletion({ ...value, ...change }, emitted)).toThrow(EmitError)
  })
})
