import {
  type CaptureError,
  CaptureReader,
  interfaceName,
  optionCodes,
  optionNumber,
  optionTexts,
  type PacketRecord,
  readCapture,
} from "@rdmakit/pcap"
import { describe, expect, test } from "vitest"
import {
  block,
  captureNames,
  captureOf,
  enhancedPacket,
  indexedFrames,
  interfaceBlock,
  join,
  option,
  order,
  packetsOf,
  pad,
  pcapHeader,
  pcapPacket,
  plain,
  recordsOf,
  sectionHeader,
  text,
} from "./octets.ts"

const data = Uint8Array.from({ length: 61 }, (_, index) => index)
const faultOf = (octets: Uint8Array, file = "a.pcap"): CaptureError => {
  try {
    recordsOf(octets, octets.length, file)
  } catch (error) {
    return error as CaptureError
  }
  throw new Error("no error")
}

describe.each([true, false])("little-endian: %s", (littleEndian) => {
  const o = order(littleEndian)

  test.each([
    [0xa1b2c3d4, 1_000_000n, 123456, 1700000000123456000n],
    [0xa1b23c4d, 1_000_000_000n, 123456789, 1700000000123456789n],
  ])("pcap with magic %i", (magic, ticksPerSecond, fraction, timeNs) => {
    const records = recordsOf(join(pcapHeader(o, magic), pcapPacket(o, 1700000000, fraction, data, 100)))
    expect(records.map(({ kind }) => kind)).toEqual(["section", "interface", "packet"])
    expect(records[0]).toMatchObject({ format: "pcap", littleEndian, majorVersion: 2, minorVersion: 4 })
    expect(records[1]).toMatchObject({ interface: { linkType: 1, snapLength: 65535, fcsOctets: undefined } })
    const [packet] = packetsOf(records)
    expect(packet!.interface.ticksPerSecond).toBe(ticksPerSecond)
    expect(packet).toMatchObject({ frame: 1, offset: 24, timeNs, originalOctets: 100, isTruncated: true })
    expect(packet!.timePs).toBe(timeNs * 1000n)
    expect(packet!.data).toEqual(data)
  })

  test("the frame check sequence is in the upper half of a pcap's link type", () => {
    const [, described] = recordsOf(pcapHeader(o, 0xa1b2c3d4, 0x24000001))
    expect(described).toMatchObject({ interface: { linkType: 1, fcsOctets: 4 } })
    // Without the flag the upper bits mean nothing.
    const [, without] = recordsOf(pcapHeader(o, 0xa1b2c3d4, 0x20000001))
    expect(without).toMatchObject({ interface: { linkType: 1, fcsOctets: undefined } })
  })

  test("before version 2.3 the lengths of a packet stand in the other order", () => {
    const [packet] = packetsOf(
      recordsOf(join(pcapHeader(o, 0xa1b2c3d4, 1, 2), o.u32(1), o.u32(2), o.u32(100), o.u32(61), data)),
    )
    expect(packet).toMatchObject({ capturedOctets: 61, originalOctets: 100 })
  })

  test("every block of pcapng", () => {
    const octets = join(
      sectionHeader(o, option(o, 1, text("made by hand")), option(o, 4, text("tests")), o.u32(0)),
      interfaceBlock(
        o,
        96,
        option(o, 2, text("eth0")),
        option(o, 9, Uint8Array.of(9)),
        option(o, 13, Uint8Array.of(32)),
      ),
      enhancedPacket(o, 0, 1573830016444223380n, data, 1500, option(o, 2, o.u32(0x21)), option(o, 1, text("hello"))),
      block(o, 3, o.u32(1500), new Uint8Array(96)),
      block(o, 2, o.u16(0), o.u16(7), o.u32(0), o.u32(5), o.u32(61), o.u32(61), pad(data)),
      block(o, 4, o.u16(1), o.u16(11), Uint8Array.of(10, 0, 0, 1), text("host\0"), text("x\0"), Uint8Array.of(0)),
      block(o, 5, o.u32(0), o.u32(1), o.u32(2), option(o, 4, o.u64(12n)), option(o, 2, join(o.u32(3), o.u32(4)))),
      block(o, 10, o.u32(0x544c534b), o.u32(5), pad(text("KEYS!"))),
      block(o, 0x0bad, o.u32(32473), pad(text("ours"))),
      block(o, 0x40000bad, o.u32(32473), pad(text("mine"))),
      block(o, 0x99, Uint8Array.of(1, 2, 3, 4)),
    )
    const records = recordsOf(octets)
    const [section, described, packet, simple, old, names, statistics, secrets, custom, local, unknown] = records
    expect(section).toMatchObject({ kind: "section", format: "pcapng", littleEndian, sectionOctets: undefined })
    if (section?.kind !== "section" || described?.kind !== "interface") throw new Error("order of records")
    expect(optionTexts(section.options, 1)).toEqual(["made by hand"])
    expect(described.interface).toMatchObject({ snapLength: 96, fcsOctets: 4, ticksPerSecond: 1_000_000_000n })
    expect(interfaceName(described.interface)).toBe("eth0")
    if (packet?.kind !== "packet" || simple?.kind !== "packet" || old?.kind !== "packet") throw new Error("no packets")
    expect(packet).toMatchObject({ timeNs: 1573830016444223380n, isTruncated: true, originalOctets: 1500 })
    expect(optionNumber(packet.options, optionCodes.packet.flags)).toBe(0x21n)
    expect(optionTexts(packet.options, 1)).toEqual(["hello"])
    expect(simple).toMatchObject({ frame: 2, timeNs: undefined, capturedOctets: 96, originalOctets: 1500 })
    expect(old).toMatchObject({ frame: 3, ticks: 5n, capturedOctets: 61 })
    expect(optionNumber(old.options, optionCodes.packet.dropCount)).toBe(7n)
    expect(names).toMatchObject({ entries: [{ address: Uint8Array.of(10, 0, 0, 1), names: ["host", "x"] }] })
    if (statistics?.kind !== "statistics") throw new Error("no statistics")
    expect(statistics.ticks).toBe(0x100000002n)
    expect(optionNumber(statistics.options, optionCodes.statistics.received)).toBe(12n)
    expect(secrets).toMatchObject({ secretsType: 0x544c534b, data: text("KEYS!") })
    expect(custom).toMatchObject({ enterprise: 32473, copyable: true, data: text("ours") })
    expect(local).toMatchObject({ enterprise: 32473, copyable: false })
    expect(unknown).toMatchObject({ kind: "block", type: 0x99, body: Uint8Array.of(1, 2, 3, 4) })
  })

  test("every chunking gives the same records", () => {
    const octets = join(
      sectionHeader(o),
      interfaceBlock(o, 0),
      enhancedPacket(o, 0, 1n, data, 61, option(o, 1, text("one"))),
      enhancedPacket(o, 0, 2n, new Uint8Array(700).fill(9)),
      enhancedPacket(o, 0, 3n, new Uint8Array(0)),
    )
    const whole = packetsOf(recordsOf(octets)).map(plain)
    expect(whole).toHaveLength(3)
    for (let chunk = 1; chunk < octets.length; chunk++) {
      expect(packetsOf(recordsOf(octets, chunk)).map(plain)).toEqual(whole)
    }
  })
})

describe("times", () => {
  const o = order(true)
  const timeOf = (ticks: bigint, ...options: ReadonlyArray<Uint8Array>) => {
    const octets = join(sectionHeader(o), interfaceBlock(o, 0, ...options), enhancedPacket(o, 0, ticks, data))
    return packetsOf(recordsOf(octets))[0]!
  }
  const resolution = (code: number) => option(o, 9, Uint8Array.of(code))

  test("without an option they are microseconds", () => {
    expect(timeOf(1573830016444223n).timeNs).toBe(1573830016444223000n)
  })

  test("any power of ten and of two", () => {
    expect(timeOf(1573830016444223380n, resolution(9)).timeNs).toBe(1573830016444223380n)
    expect(timeOf(15738300164442n, resolution(4)).timeNs).toBe(1573830016444200000n)
    expect(timeOf(1573830016n, resolution(0)).timeNs).toBe(1573830016000000000n)
    expect(timeOf(1573830016444223380n * 4n, resolution(12)).timePs).toBe(6295320065776893520n)
    // 2^-30: 444223380 ns are 476980240.9 ticks, so the nearest below is less than one tick off.
    const ticks = (1573830016n << 30n) + ((444223380n << 30n) / 1_000_000_000n + 1n)
    expect(timeOf(ticks, resolution(0x80 | 30)).timeNs).toBe(1573830016444223380n)
    expect(timeOf(1n, resolution(0x80 | 1)).timeNs).toBe(500_000_000n)
    expect(timeOf(5n, resolution(127)).timeNs).toBe(0n)
    expect(timeOf(5n, resolution(255)).timeNs).toBe(0n)
  })

  test("the offset is signed", () => {
    expect(timeOf(7n, option(o, 14, o.u64(1000n))).timeNs).toBe(1_000_000_007_000n)
    expect(timeOf(7n, option(o, 14, o.u64(-1n))).timeNs).toBe(-999_993_000n)
  })
})

test("a section has its own byte order, interfaces and resolution; frames are counted through", () => {
  const little = order(true)
  const big = order(false)
  const records = recordsOf(
    join(
      sectionHeader(little),
      interfaceBlock(little, 0),
      enhancedPacket(little, 0, 1n, data),
      sectionHeader(big),
      interfaceBlock(big, 0, option(big, 9, Uint8Array.of(9))),
      enhancedPacket(big, 0, 1n, data),
    ),
  )
  expect(packetsOf(records).map(({ frame, timeNs }) => [frame, timeNs])).toEqual([
    [1, 1000n],
    [2, 1n],
  ])
  expect(
    faultOf(
      join(sectionHeader(little), interfaceBlock(little, 0), sectionHeader(big), enhancedPacket(big, 0, 0n, data)),
    ).message,
  ).toContain("interface: found 0, expected below 0")
})

test.each(captureNames)("the capture %s has the frames of the index", (name) => {
  const octets = captureOf(name)
  const whole = packetsOf(recordsOf(octets))
  expect(whole).toHaveLength(indexedFrames.get(name)!)
  for (const chunk of [1, 7, 1000]) expect(packetsOf(recordsOf(octets, chunk)).map(plain)).toEqual(whole.map(plain))
  expect(whole.at(-1)!.offset + 16 + whole.at(-1)!.capturedOctets).toBe(octets.length)
})

test("octets come from any iterable", async () => {
  const octets = captureOf("v_badrkey")
  let packets = 0
  for await (const record of readCapture([octets.subarray(0, 100), octets.subarray(100)])) {
    if (record.kind === "packet") packets++
  }
  expect(packets).toBe(18)
})

describe("what cannot be read is refused", () => {
  const o = order(true)
  const start = join(sectionHeader(o), interfaceBlock(o, 0))

  test("a length of 4 GB, before its octets arrive", () => {
    const pcap = faultOf(join(pcapHeader(o, 0xa1b2c3d4), o.u32(0), o.u32(0), o.u32(0xffffffff), o.u32(0xffffffff)))
    expect(pcap).toMatchObject({ _tag: "CaptureError", reason: "too-long", offset: 24, record: 1 })
    expect(pcap.message).toBe(
      "a.pcap@24: record 1: captured length: found 4294967295, expected at most 16777216; " +
        "the file is damaged, or maxRecordOctets is too small for it",
    )
    expect(faultOf(join(start, o.u32(6), o.u32(0xfffffffc)))).toMatchObject({
      reason: "too-long",
      offset: 48,
      record: 3,
    })
  })

  test.each([false, true])("the memory of records in several chunks, used again: %s", (reuseMemory) => {
    const reader = new CaptureReader({ reuseMemory })
    const file = join(
      pcapHeader(o, 0xa1b2c3d4),
      ...[1, 2, 3].map((each) =>
        pcapPacket(
          o,
          each,
          0,
          data.map(() => each),
          61,
        ),
      ),
    )
    const packets: Array<PacketRecord> = []
    for (let at = 0; at < file.length; at += 10) {
      reader.push(file.slice(at, at + 10))
      for (let record = reader.next(); record !== undefined; record = reader.next()) {
        if (record.kind !== "packet") continue
        expect(record.data).toEqual(data.map(() => packets.length + 1))
        packets.push(record)
      }
    }
    expect(packets.length).toBe(3)
    expect(packets.map(({ data }) => data[60])).toEqual(reuseMemory ? [3, 3, 3] : [1, 2, 3])
  })

  test("more of anything than memory should hold", () => {
    const many = (count: number, octets: Uint8Array) => new Uint8Array(Buffer.alloc(count * octets.length, octets))
    const interfaces = interfaceBlock(o, 0)
    expect(recordsOf(join(sectionHeader(o), many(65536, interfaces), sectionHeader(o), interfaces)).length).toBe(65539)
    expect(faultOf(join(sectionHeader(o), many(65537, interfaces))).message).toContain(
      "record 65538: interfaces of a section: found 65537, expected at most 65536; the file is damaged",
    )
    const wide = interfaceBlock(o, 0, many(20, option(o, 2, new Uint8Array(60000))))
    expect(faultOf(join(sectionHeader(o), many(14, wide)))).toMatchObject({ reason: "too-long", record: 15 })
    const comments = many(4097, option(o, 1, new Uint8Array(0)))
    expect(faultOf(join(start, enhancedPacket(o, 0, 1n, data, 61, comments))).message).toContain(
      "record 3: options of a block: found 4097, expected at most 4096; the file is damaged",
    )
    const name = join(o.u16(1), o.u16(4), new Uint8Array(4))
    expect(faultOf(join(start, block(o, 4, many(65537, name), o.u32(0)))).message).toContain("names of a block")
  })

  test.each<[string, Uint8Array, string]>([
    ["a block shorter than its fields", join(start, o.u32(6), o.u32(28)), "length of block 0x00000006: found 28"],
    [
      "another file behind it",
      join(pcapHeader(o, 0xa1b2c3d4), pcapPacket(o, 1, 2, data, 61), pcapHeader(order(false), 0xa1b23c4d)),
      "a.pcap@101: record 2: packet: found the header of another pcap file, expected a packet or the end",
    ],
    ["a block of uneven length", join(start, o.u32(9), o.u32(15)), "expected a multiple of 4"],
    ["lengths that differ", join(start, o.u32(9), o.u32(12), o.u32(16)), "length at the end of block"],
    ["a byte-order magic", join(o.u32(0x0a0d0d0a), o.u32(28), o.u32(7), new Uint8Array(16)), "byte-order magic"],
    ["a version", block(o, 0x0a0d0d0a, o.u32(0x1a2b3c4d), o.u16(2), o.u16(0), o.u64(0n)), "found 2.0, expected 1.0"],
    [
      "more captured than the block has",
      join(start, block(o, 6, new Uint8Array(12), o.u32(9), o.u32(9), new Uint8Array(8))),
      "captured length: found 9",
    ],
    ["an interface nobody described", join(start, enhancedPacket(o, 1, 0n, data)), "interface: found 1"],
    ["a simple packet longer than its block", join(start, block(o, 3, o.u32(5), new Uint8Array(4))), "packet length"],
    [
      "an option that leaves its block",
      join(start, enhancedPacket(o, 0, 0n, data, 61, o.u16(1), o.u16(5))),
      "length of option 1",
    ],
    [
      "a time resolution of two octets",
      join(start, interfaceBlock(o, 0, option(o, 9, Uint8Array.of(6, 6)))),
      "if_tsresol",
    ],
    [
      "a time offset of four octets",
      join(start, interfaceBlock(o, 0, option(o, 14, Uint8Array.of(1, 2, 3, 4)))),
      "if_tsoffset",
    ],
    ["a name that leaves its block", join(start, block(o, 4, o.u16(1), o.u16(9), new Uint8Array(4))), "name record"],
    ["an address cut short", join(start, block(o, 4, o.u16(2), o.u16(4), new Uint8Array(4), o.u32(0))), "name record"],
    ["secrets that leave their block", join(start, block(o, 10, o.u32(0), o.u32(5))), "length of the secrets"],
  ])("%s", (_, octets, message) => {
    const fault = faultOf(octets)
    expect(fault.message).toContain(message)
    expect(["malformed", "unsupported"]).toContain(fault.reason)
  })

  test("what is no capture", () => {
    expect(faultOf(text("hello, world"))).toMatchObject({ reason: "unknown-format", record: 0, found: "0x68656c6c" })
    expect(faultOf(Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0)).hint).toContain("compressed")
    expect(faultOf(pcapHeader(o, 0xa1b2cd34))).toMatchObject({ reason: "unsupported" })
    expect(faultOf(join(o.u32(0xa1b2c3d4), o.u16(3), new Uint8Array(18)))).toMatchObject({ reason: "unsupported" })
  })

  test("a file cut anywhere gives its whole records and then says so", () => {
    const octets = captureOf("v_badrkey")
    const packets = packetsOf(recordsOf(octets))
    const ends = new Set([24, ...packets.map((packet) => packet.offset + 16 + packet.capturedOctets)])
    for (let length = 0; length < octets.length; length += length < 40 ? 1 : 7) {
      if (ends.has(length)) continue
      expect(faultOf(octets.subarray(0, length))).toMatchObject({ reason: "truncated" })
    }
    const cut = octets.subarray(0, 300)
    const fault = faultOf(cut, "cut.pcap")
    const whole = packets.filter((packet) => packet.offset + 16 + packet.capturedOctets <= 300)
    const offset = whole.at(-1)!.offset + 16 + whole.at(-1)!.capturedOctets
    expect(fault).toMatchObject({ offset, record: whole.length + 1, found: `${300 - offset} octets` })
    expect(faultOf(new Uint8Array(0)).hint).toBe("the file is empty")
  })

  test("the error stays", async () => {
    const octets = join(start, o.u32(9), o.u32(12), o.u32(16), enhancedPacket(o, 0, 0n, data))
    const kinds: Array<string> = []
    const read = async (): Promise<void> => {
      for await (const record of readCapture([octets])) kinds.push(record.kind)
    }
    await expect(read()).rejects.toMatchObject({ _tag: "CaptureError" })
    expect(kinds).toEqual(["section", "interface"])
  })
})
