import { describe, expect, it, test } from "vitest"
import { ETHERNET, emitEthernet, parseEthernet } from "../src/Ethernet.ts"
import { parseGre } from "../src/Gre.ts"
import { parseIcmpEcho } from "../src/Icmp.ts"
import { emitLrh } from "../src/Infiniband.ts"
import { emitIpv4, ipv4Checksum, parseIpv4, parseIpv4Options } from "../src/Ipv4.ts"
import { parseIpv6Extension, parseIpv6Options } from "../src/Ipv6.ts"
import { EmitError, formatError } from "../src/index.ts"
import { layout } from "../src/Layout.ts"
import { emitLldp, parseLldp } from "../src/Lldp.ts"
import { parsePfc } from "../src/Pfc.ts"
import { parseTcpOptions } from "../src/Tcp.ts"
import { emitUdp, parseUdp } from "../src/Udp.ts"
import { parseVxlan } from "../src/Vxlan.ts"
import { hex } from "./octetText.ts"

describe("Ethernet", () => {
  it("a length instead of a type ends the payload, one past the frame is a lie", () => {
    const frame = hex("0180c2000000 525400000001 0026 4242030000")
    expect(parseEthernet(frame, 0, 60)).toMatchObject({ ok: true, payloadStart: 14, payloadEnd: 52 })
    expect(parseEthernet(frame)).toMatchObject({ ok: false, error: { what: "length", offset: 12, found: 38 } })
  })

  it("types from 1,501 to 1,535 are reserved, and a fifth tag is too many", () => {
    expect(parseEthernet(hex(`${"00".repeat(12)}05dd`))).toMatchObject({ ok: false, error: { what: "reserved" } })
    expect(parseEthernet(hex(`${"00".repeat(12)}${"81000001".repeat(5)}0800`))).toMatchObject({
      ok: false,
      error: { what: "value", field: "tags", offset: 28 },
    })
  })

  it("is seen in place", () => {
    const frame = hex("525400000002 525400000001 0800")
    const view = ETHERNET.view(frame)
    if (!view.ok) throw new Error(formatError(view.error))
    expect(view.value.source).toBe(0x5254_0000_0001)
    frame[11] = 9
    expect(view.value.source).toBe(0x5254_0000_0009)
    expect(ETHERNET.view(frame, 1)).toMatchObject({ ok: false, error: { what: "length", found: 13 } })
  })
})

describe("IPv4", () => {
  // RFC 1071 has no packet; this header and its checksum are the usual worked example.
  const header = hex("4500 0073 0000 4000 4011 b861 c0a8 0001 c0a8 00c7")

  it("has a header checksum", () => {
    expect(ipv4Checksum(header, 0, 20)).toBe(0xb861)
    expect(parseIpv4(header, 0, 0x73)).toMatchObject({ ok: true, faults: [], payloadEnd: 0x73 })
    const broken = header.slice()
    broken[10] = 0
    expect(parseIpv4(broken, 0, 0x73)).toMatchObject({
      ok: true,
      faults: [{ what: "checksum", offset: 10, found: 0x61, expected: "47201" }],
    })
  })

  test.each<readonly [string, (octets: Uint8Array) => void, object]>([
    ["another version", (octets) => octets.set([0x55], 0), { what: "reserved", field: "version", found: 5 }],
    ["a header of four words", (octets) => octets.set([0x44], 0), { what: "length", field: "headerWords" }],
    [
      "a total below the header",
      (octets) => octets.set([0, 19], 2),
      { what: "length", field: "totalLength", offset: 2 },
    ],
    ["a total past the frame", (octets) => octets.set([0xff], 2), { what: "length", field: "totalLength" }],
  ])("%s", (_, change, error) => {
    const octets = header.slice()
    change(octets)
    expect(parseIpv4(octets, 0, 0x73)).toMatchObject({ ok: false, error })
  })

  it("options one by one", () => {
    expect(parseIpv4Options(hex("01 94 04 0000 00 ff"))).toMatchObject({
      ok: true,
      value: [{ code: 1 }, { code: 0x94, data: hex("0000") }],
    })
    expect(parseIpv4Options(hex("07 03"))).toMatchObject({ ok: false, error: { what: "length", offset: 1, found: 3 } })
    expect(parseIpv4Options(hex("07 01 00"))).toMatchObject({ ok: false, error: { what: "length", found: 1 } })
    expect(parseIpv4Options(hex("07"))).toMatchObject({ ok: false, error: { what: "truncated", offset: 1 } })
  })
})

it("options of IPv6: padding, a router alert, and one that lies", () => {
  expect(parseIpv6Options(hex("00 05 02 0000 01 00"))).toEqual({
    ok: true,
    value: [
      { type: 0, data: hex("") },
      { type: 5, data: hex("0000") },
      { type: 1, data: hex("") },
    ],
  })
  expect(parseIpv6Options(hex("05 03 00"))).toMatchObject({ ok: false, error: { what: "length", offset: 1 } })
})

it("reserved bits of a fragment's header, each in its place", () => {
  expect(parseIpv6Extension(44, hex("11 03 0004 00000001"))).toMatchObject({
    ok: true,
    faults: [
      { what: "ignored", offset: 1, found: 3 },
      { what: "ignored", offset: 3, found: 2 },
    ],
  })
})

it("options of TCP", () => {
  expect(
    parseTcpOptions(hex("020405b4 0402 080a 00000001 00000002 01 030307 050a 00000010 00000020 fd 03 aa 00")),
  ).toEqual({
    ok: true,
    value: [
      { kind: "maximumSegment", bytes: 1460 },
      { kind: "sackPermitted" },
      { kind: "timestamps", value: 1, echo: 2 },
      { kind: "padding" },
      { kind: "windowScale", shift: 7 },
      { kind: "sack", blocks: [[16, 32]] },
      { kind: "other", code: 0xfd, data: hex("aa") },
    ],
  })
  // A shift above 14 is no window scale (RFC 7323 §2.3).
  expect(parseTcpOptions(hex("03030f"))).toMatchObject({ value: [{ kind: "other", code: 3 }] })
})

describe("PFC", () => {
  it("quanta of a class that is not enabled are ignored", () => {
    const frame = hex("0101 0008 0001 0000 0000 ffff 0000 0000 0000 0000")
    expect(parsePfc(frame)).toMatchObject({
      ok: true,
      value: {
        kind: "pfc",
        quanta: [undefined, undefined, undefined, 0xffff, undefined, undefined, undefined, undefined],
      },
      faults: [{ what: "ignored", field: "quanta0", offset: 4, found: 1 }],
    })
  })

  it("a frame that enables nothing pauses nothing", () => {
    const outcome = parsePfc(hex(`0101 0000 ${"ffff".repeat(8)}`))
    expect(outcome).toMatchObject({ ok: true, value: { kind: "pfc", quanta: Array(8).fill(undefined) } })
  })

  it("quanta 0 resume", () => {
    expect(parsePfc(hex("0001 0000"))).toMatchObject({ ok: true, value: { kind: "pause", quanta: 0 } })
  })
})

it("reserved bits of VXLAN are ignored, its flag is not", () => {
  expect(parseVxlan(hex("48 000000 123456 00"))).toMatchObject({
    ok: true,
    value: { vni: 0x123456 },
    faults: [{ what: "ignored", offset: 0, found: 4 }],
  })
  expect(parseVxlan(hex("08 000700 123456 01"))).toMatchObject({
    faults: [
      { what: "ignored", offset: 1, found: 0x700 },
      { what: "ignored", offset: 7, found: 1 },
    ],
  })
  expect(parseVxlan(hex("00 000000 123456 00"))).toMatchObject({ ok: false, error: { field: "valid" } })
})

it("GRE of PPTP and source routes are not read", () => {
  expect(parseGre(hex("3001 880b"))).toMatchObject({ ok: false, error: { what: "unsupported", field: "version" } })
  expect(parseGre(hex("4000 0800"))).toMatchObject({ ok: false, error: { what: "reserved", field: "routing" } })
})

it("other messages of ICMP are not read", () => {
  expect(parseIcmpEcho(6, hex("87 00 0000 00000000"))).toMatchObject({ ok: false, error: { what: "unsupported" } })
})

it("LLDP without an end mark is cut or wrong", () => {
  const ttl = hex("0602 0078")
  expect(parseLldp(ttl)).toMatchObject({ ok: false, error: { what: "length" } })
  expect(parseLldp(ttl, 0, 60)).toMatchObject({ ok: false, error: { what: "truncated", offset: 4 } })
  expect(parseLldp(hex("0602 0078 0000"))).toMatchObject({
    ok: true,
    value: { tlvs: [{ kind: "timeToLive", seconds: 120 }] },
  })
})

describe("errors", () => {
  it("say what, where and what was expected", () => {
    const outcome = parseUdp(hex("c000 12b7 0004 0000"))
    expect(outcome.ok ? "" : formatError(outcome.error)).toBe(
      "udp.length at octet 4: found 4, expected 8 to 8 (length)",
    )
    const cut = parseUdp(hex("c000"), 0, 100)
    expect(cut.ok ? "" : formatError(cut.error)).toBe(
      "udp.header at octet 2: found 2, expected 8 octets at least (truncated)",
    )
  })

  it("a start that is no position is the caller's fault, not the octets'", () => {
    const udp = { sourcePort: 1, destinationPort: 4791, payloadBytes: 0, checksum: 0 }
    for (const start of [-1, 1.5, Number.NaN]) {
      expect(() => emitUdp(udp, new Uint8Array(16), start)).toThrow("udp.start: found")
      expect(() => parseUdp(new Uint8Array(16), start)).toThrow(RangeError)
    }
  })

  it("an emitter refuses what cannot be said", () => {
    const udp = { sourcePort: 70_000, destinationPort: 4791, payloadBytes: 0, checksum: 0 }
    expect(() => emitUdp(udp, new Uint8Array(8))).toThrow(EmitError)
    expect(() => emitUdp(udp, new Uint8Array(8))).toThrow(
      "udp.sourcePort: found 70000, expected a whole number of 16 bits",
    )
    const ethernet = { destination: 0, source: 0, tags: [], etherType: 0x8100 }
    expect(() => emitEthernet(ethernet, new Uint8Array(20))).toThrow("ethernet.etherType")
    const ip = { trafficClass: 0, identification: 0, dontFragment: false, moreFragments: false, fragmentOffset: 0 }
    const odd = { ...ip, ttl: 1, protocol: 17, source: 0, destination: 0, options: new Uint8Array(3), payloadBytes: 0 }
    expect(() => emitIpv4(odd, new Uint8Array(60))).toThrow("ipv4.options")
    const lrh = { virtualLane: 0, serviceLevel: 0, next: "local", destinationLid: 1, sourceLid: 2 } as const
    for (const payloadBytes of [8, 14, 8184])
      expect(() => emitLrh({ ...lrh, payloadBytes }, new Uint8Array(8))).toThrow("lrh.payloadBytes")
    const chassis = { kind: "chassisId", subtype: 4, id: new Uint8Array(0) } as const
    expect(() => emitLldp({ tlvs: [chassis] }, new Uint8Array(600))).toThrow("lldp.id")
    const name = { kind: "text", type: 5, octets: new Uint8Array(256) } as const
    expect(() => emitLldp({ tlvs: [name] }, new Uint8Array(600))).toThrow("lldp.octets")
  })
})

it("a layout reads fields of any width at any bit", () => {
  const odd = layout("odd", "a:3 b:1 c:12 d:7 _:2 e:23 f:64 g:24 h:2B")
  expect(odd.bytes).toBe(19)
  const octets = hex("b3ff ab54 1234 0102030405060708 0a0b0c beef 00").subarray(0, 19)
  const view = odd.view(octets)
  if (!view.ok) throw new Error(formatError(view.error))
  const { a, b, c, d, e, f, g, h } = view.value
  const bits = Array.from(octets, (octet) => octet.toString(2).padStart(8, "0")).join("")
  const number = (start: number, width: number) => Number.parseInt(bits.slice(start, start + width), 2)
  expect([a, b, c, d, e, g]).toEqual([
    number(0, 3),
    true,
    number(4, 12),
    number(16, 7),
    number(25, 23),
    number(112, 24),
  ])
  expect(f).toBe(BigInt(`0b${bits.slice(48, 112)}`))
  expect(h).toEqual(octets.subarray(17, 19))
})
