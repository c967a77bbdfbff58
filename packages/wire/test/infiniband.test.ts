import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { emitIpCm, parseIpCm } from "../src/Cm.ts"
import * as Ib from "../src/Infiniband.ts"
import { transport } from "./formats/Infiniband.ts"

describe("opcodes", () => {
  it("every code of every service, and no other", () => {
    const of = (service: string) =>
      Array.from({ length: 256 }, (_, code) => Ib.opcodeOf(code)).filter((each) => each?.service === service)
    const counts = ["Rc", "Uc", "Rd", "Ud", "Xrc", "Cnp"].map((service) => [service, of(service).length])
    expect(Object.fromEntries(counts)).toEqual({ Rc: 25, Uc: 12, Rd: 24, Ud: 2, Xrc: 25, Cnp: 2 })
  })

  test.each([
    [0x00, "Rc", "SendFirst", []],
    [0x03, "Rc", "SendLastImmediate", ["immDt"]],
    [0x06, "Rc", "WriteFirst", ["reth"]],
    [0x0b, "Rc", "WriteOnlyImmediate", ["reth", "immDt"]],
    [0x0c, "Rc", "ReadRequest", ["reth"]],
    [0x0e, "Rc", "ReadResponseMiddle", []],
    [0x10, "Rc", "ReadResponseOnly", ["aeth"]],
    [0x11, "Rc", "Acknowledge", ["aeth"]],
    [0x12, "Rc", "AtomicAcknowledge", ["aeth", "atomicAckEth"]],
    [0x13, "Rc", "CompareSwap", ["atomicEth"]],
    [0x17, "Rc", "SendOnlyInvalidate", ["ieth"]],
    [0x1c, "Rc", "Flush", ["feth", "reth"]],
    [0x1d, "Rc", "AtomicWrite", ["reth"]],
    [0x29, "Uc", "WriteLastImmediate", ["immDt"]],
    [0x4b, "Rd", "WriteOnlyImmediate", ["rdeth", "deth", "reth", "immDt"]],
    [0x4e, "Rd", "ReadResponseMiddle", ["rdeth"]],
    [0x52, "Rd", "AtomicAcknowledge", ["rdeth", "aeth", "atomicAckEth"]],
    [0x55, "Rd", "Resync", ["rdeth", "deth"]],
    [0x65, "Ud", "SendOnlyImmediate", ["deth", "immDt"]],
    [0xa0, "Xrc", "SendFirst", ["xrceth"]],
    [0xac, "Xrc", "ReadRequest", ["xrceth", "reth"]],
    [0xb1, "Xrc", "Acknowledge", ["aeth"]],
    [0x80, "Cnp", "Notify", ["cnp"]],
    [0x81, "Cnp", "Notify", ["cnp"]],
  ])("%i is %s %s", (code, service, operation, headers) => {
    expect(Ib.opcodeOf(code)).toMatchObject({ code, service, operation, headers })
  })

  test.each([0x15, 0x18, 0x2c, 0x56, 0x60, 0x66, 0x82, 0xb5, 0xc0, 0xe0, 0xff])("%i is reserved", (code) => {
    expect(Ib.opcodeOf(code)).toBeUndefined()
    expect(Ib.parseBth(Uint8Array.of(code, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))).toMatchObject({
      ok: false,
      error: { what: "reserved", field: "opcode", offset: 0, found: code },
    })
  })
})

describe("syndromes", () => {
  it("code 0 of the RNR timer is the longest, and 25 is 61.44 ms", () => {
    expect([0, 1, 12, 13, 14, 25, 31].map((code) => Ib.rnrNak(code).delayUs / 1000)).toEqual([
      655.36, 0.01, 0.64, 0.96, 1.28, 61.44, 491.52,
    ])
  })

  it("credits grow to 32,768, and code 31 has none", () => {
    expect([0, 5, 30, 31].map((code) => Ib.acknowledgement(code).credits)).toEqual([0, 6, 32_768, undefined])
  })

  it("the codes of NAKs, the rest is reserved", () => {
    const meanings = [0x60, 0x61, 0x62, 0x63, 0x64].map((octet) => Ib.syndromeOf(octet))
    expect(meanings).toMatchObject([
      { code: 0, meaning: "psnSequenceError" },
      { code: 1, meaning: "invalidRequest" },
      { code: 2, meaning: "remoteAccessError" },
      { code: 3, meaning: "remoteOperationalError" },
      { code: 4, meaning: "invalidRdRequest" },
    ])
    expect([0x65, 0x40, 0x80, 0xff].map((octet) => Ib.syndromeOf(octet))).toEqual(Array(4).fill(undefined))
  })

  it("a syndrome that contradicts itself is refused", () => {
    expect(() => Ib.syndromeOctet({ kind: "ack", code: 3, credits: 4 })).toThrow("aeth.syndrome")
  })
})

describe("sequence numbers", () => {
  it("B11: they wrap at 2^24", () => {
    expect(Array.from({ length: Ib.packetsOf(4096, 1024) + 1 }, (_, n) => Ib.psnPlus(0xff_fffe, n))).toEqual([
      0xff_fffe, 0xff_ffff, 0, 1, 2,
    ])
    expect(Ib.psnDistance(1, 0xff_ffff)).toBe(2)
    expect(Ib.psnDistance(0xff_ffff, 1)).toBe(-2)
    expect(Ib.psnDistance(0x80_0000, 0)).toBe(-0x80_0000)
    expect(Ib.psnPlus(0, -1)).toBe(0xff_ffff)
  })

  it("B12, B13: packets of a message at an MTU of 1,024", () => {
    expect([0, 1, 1024, 1025, 2 ** 31].map((bytes) => Ib.packetsOf(bytes, 1024))).toEqual([1, 1, 1, 2, 2_097_152])
  })
})

it("B15: immediate data is never negative", () => {
  expect(Ib.parseImmDt(Uint8Array.of(0x89, 0xab, 0xcd, 0xef))).toMatchObject({
    ok: true,
    value: { immediate: 0x89ab_cdef },
  })
})

it("what stands in front of an IPv4 address in private data is a fault in its place", () => {
  const octets = new Uint8Array(36)
  const value = { version: 4, sourcePort: 40_000, source: 0x0a00_0001, destination: 0x0a00_0002 } as const
  emitIpCm(value, octets)
  octets.set([0x41], 1)
  octets.set([7], 9)
  octets.set([8], 31)
  expect(parseIpCm(octets)).toMatchObject({
    value,
    faults: [
      { field: "reserved", offset: 1, found: 1 },
      { field: "source", offset: 9, found: 7 },
      { field: "destination", offset: 31, found: 8 },
    ],
  })
})

it("headers of every opcode are read as they were written, and none may be missing", () => {
  fc.assert(
    fc.property(transport, fc.nat(40), (value, room) => {
      const octets = new Uint8Array(Ib.transportBytes(value) + value.bth.padBytes + Ib.ICRC_BYTES + 60)
      const payloadStart = Ib.emitTransport(value, octets, 3)
      const payload = Ib.opcodeOf(value.bth.opcode)!.payload ? room : 0
      const end = payloadStart + payload + value.bth.padBytes + Ib.ICRC_BYTES
      const outcome = Ib.parseTransport(octets, 3, end)
      expect(outcome).toEqual({ ok: true, value, faults: [], payloadStart, payloadEnd: payloadStart + payload })
      expect(Ib.parseTransport(octets, 3, payloadStart + value.bth.padBytes + Ib.ICRC_BYTES - 1).ok).toBe(false)
    }),
  )
})
