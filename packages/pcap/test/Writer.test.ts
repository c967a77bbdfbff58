import {
  type CaptureOption,
  type CaptureRecord,
  numberOption,
  optionCodes,
  PcapngWriter,
  PcapWriter,
  textOption,
} from "@rdmakit/pcap"
import { describe, expect, test } from "vitest"
import { captureNames, captureOf, join, packetsOf, plain, recordsOf, text } from "./octets.ts"

const data = Uint8Array.from({ length: 61 }, (_, index) => index)

const written = (write: (sink: (octets: Uint8Array) => void) => { flush(): void }): Uint8Array => {
  const chunks: Array<Uint8Array> = []
  write((octets) => chunks.push(octets)).flush()
  return join(...chunks)
}

const copied = (records: ReadonlyArray<CaptureRecord>, littleEndian: boolean): Uint8Array =>
  written((sink) => {
    const writer = new PcapngWriter({ littleEndian }, sink)
    for (const record of records) writer.record(record)
    return writer
  })

/** A file with everything that pcapng has. */
const everything = (littleEndian: boolean): Uint8Array =>
  written((sink) => {
    const writer = new PcapngWriter({ littleEndian }, sink)
    const { interface: codes, packet, statistics, section } = optionCodes
    writer.section([textOption(section.application, "rdmakit"), textOption(optionCodes.comment, "π")])
    const speed = numberOption(codes.speed, 100_000_000_000n, 8)
    const nanoseconds = writer.interface({ linkType: 1, fcsOctets: 4, options: [textOption(codes.name, "p0"), speed] })
    const binary = writer.interface({ linkType: 247, ticksPerSecond: 1n << 32n, offsetSeconds: -5n, snapLength: 128 })
    const micro = writer.interface({ linkType: 1, ticksPerSecond: 1_000_000n })
    const flags = numberOption(packet.flags, 2, 4)
    const custom: CaptureOption = { code: 2989, value: Uint8Array.of(0xd9, 0x7e, 0, 0, 1, 2, 3) }
    writer.packet(nanoseconds, 1573830016444223380n, data, 1500, [flags, custom, numberOption(packet.dropCount, 3n, 8)])
    writer.packet(binary, (1n << 64n) - 1n, data.subarray(0, 60))
    writer.packet(micro, 0n, new Uint8Array(0))
    writer.simplePacket(data)
    writer.names([{ type: 1, address: Uint8Array.of(10, 0, 0, 1), names: ["a", "b"] }])
    const time = { code: statistics.startTime, value: Uint8Array.of(1, 0, 0, 0, 2, 0, 0, 0) }
    writer.statistics(binary, 77n, [numberOption(statistics.received, 1n << 40n, 8), time])
    writer.secrets(0x544c534b, text("keys!"), [textOption(1, "secret")])
    writer.custom(32473, true, text("ours"))
    writer.custom(32473, false, text("mine"))
    writer.section()
    writer.packet(writer.interface({ linkType: 1 }), 1n, new Uint8Array(100_000).fill(7))
    return writer
  })

/** Records as plain data, equal when two files say the same. */
const said = (records: ReadonlyArray<CaptureRecord>) =>
  records.map((record) => {
    if (record.kind === "packet") return plain(record)
    const { offset: _, ...rest } = record
    return record.kind === "section" ? { ...rest, littleEndian: undefined } : rest
  })

describe("pcapng", () => {
  test.each([true, false])("what was written is read, little-endian %s", (littleEndian) => {
    const records = recordsOf(everything(littleEndian))
    expect(records.map(({ kind }) => kind).join(" ")).toBe(
      "section interface interface interface packet packet packet packet names statistics secrets custom custom " +
        "section interface packet",
    )
    const [first, second, third, simple, last] = packetsOf(records)
    expect(first).toMatchObject({ timeNs: 1573830016444223380n, isTruncated: true })
    expect(first!.interface).toMatchObject({ fcsOctets: 4, linkType: 1 })
    expect(second).toMatchObject({ ticks: (1n << 64n) - 1n, timeNs: (1n << 32n) * 1_000_000_000n - 5_000_000_001n })
    expect(third).toMatchObject({ timeNs: 0n, capturedOctets: 0 })
    expect(simple).toMatchObject({ ticks: undefined, capturedOctets: 61 })
    expect(last).toMatchObject({ capturedOctets: 100_000, timeNs: 1n })
  })

  test.each([true, false])("a copy in the same byte order is the same file, little-endian %s", (littleEndian) => {
    const octets = everything(littleEndian)
    expect(Buffer.compare(copied(recordsOf(octets), littleEndian), octets)).toBe(0)
  })

  test("a copy in the other byte order says the same, and turned again is the same file", () => {
    const octets = everything(true)
    const turned = copied(recordsOf(octets), false)
    expect(Buffer.compare(turned, everything(false))).toBe(0)
    expect(said(recordsOf(turned))).toEqual(said(recordsOf(octets)))
    expect(Buffer.compare(copied(recordsOf(turned), true), octets)).toBe(0)
  })

  test("an interface is described before its first packet when its record is left out", () => {
    const packets = packetsOf(recordsOf(captureOf("v_badrkey")))
    const records = recordsOf(copied(packets, true))
    expect(records.slice(0, 2).map(({ kind }) => kind)).toEqual(["section", "interface"])
    expect(packetsOf(records).map(({ timeNs }) => timeNs)).toEqual(packets.map(({ timeNs }) => timeNs))
  })

  test("an unknown block keeps its octets in its own byte order, and has no place in the other", () => {
    const block: CaptureRecord = {
      kind: "block",
      offset: 0,
      type: 9,
      littleEndian: true,
      body: Uint8Array.of(1, 2, 3, 4),
    }
    expect(recordsOf(copied([block], true))[1]).toMatchObject({ kind: "block", type: 9, body: block.body })
    expect(() => copied([block], false)).toThrow("block 9: found little-endian")
  })

  test.each<[string, (writer: PcapngWriter) => void, string]>([
    ["an interface nobody described", (writer) => writer.packet(0, 0n, data), "interface: found 0"],
    ["odd ticks", (writer) => writer.interface({ linkType: 1, ticksPerSecond: 3n }), "a power of 10 or 2"],
    ["a link type of 17 bits", (writer) => writer.interface({ linkType: 65536 }), "link type"],
    ["a link type that is no number", (writer) => writer.interface({ linkType: Number.NaN }), "link type: found NaN"],
    [
      "a length that is no number",
      (writer) => writer.packet(writer.interface({ linkType: 1 }), 0n, data, Number.NaN),
      "original octets: found NaN",
    ],
    [
      "a time before the epoch",
      (writer) => writer.packet(writer.interface({ linkType: 1 }), -1n, data),
      "ticks: found -1",
    ],
    [
      "a time past 64 bits",
      (writer) => writer.packet(writer.interface({ linkType: 1 }), 1n << 64n, data),
      "ticks: found 18446744073709551616",
    ],
    ["a text of 64 KiB", (writer) => writer.section([textOption(1, "x".repeat(65536))]), "option: found 65536 octets"],
  ])("%s is refused", (_, write, message) => {
    const writer = new PcapngWriter({}, () => {})
    expect(() => write(writer)).toThrow(message)
    expect(() => write(writer)).toThrow(expect.objectContaining({ _tag: "CaptureError", reason: "unwritable" }))
  })
})

describe("pcap", () => {
  test("numbers that have no room are refused", () => {
    const written = (linkType: number, snapLength: number, originalOctets: number) => () =>
      new PcapWriter({ linkType, snapLength }, () => {}).packet(0n, data, originalOctets)
    expect(written(1, 65_535, 64)).not.toThrow()
    expect(written(Number.NaN, 65_535, 64)).toThrow("link type: found NaN")
    expect(written(1, -1, 64)).toThrow("snap length: found -1")
    expect(written(1, 65_535, 2 ** 32)).toThrow("original octets: found 4294967296")
  })

  test.each([
    ["nanoseconds", true, 1573830016444223380n],
    ["nanoseconds", false, 1573830016444223380n],
    ["microseconds", true, 1573830016444223000n],
    ["microseconds", false, 1573830016444223000n],
  ] as const)("%s, little-endian %s", (resolution, littleEndian, timeNs) => {
    const octets = written((sink) => {
      const writer = new PcapWriter({ linkType: 1, resolution, littleEndian, fcsOctets: 4, snapLength: 60 }, sink)
      writer.packet(1573830016444223380n, data)
      writer.packet(0n, data.subarray(0, 10), 64)
      return writer
    })
    const [first, second] = packetsOf(recordsOf(octets))
    expect(first).toMatchObject({ timeNs, capturedOctets: 60, originalOctets: 61, interface: { fcsOctets: 4 } })
    expect(second).toMatchObject({ timeNs: 0n, capturedOctets: 10, originalOctets: 64 })
  })

  test.each(captureNames)("%s is the same file again", (name) => {
    const octets = captureOf(name)
    const [first, ...rest] = packetsOf(recordsOf(octets))
    const { linkType, snapLength } = first!.interface
    const again = written((sink) => {
      const writer = new PcapWriter({ linkType, snapLength, resolution: "microseconds" }, sink)
      for (const packet of [first!, ...rest]) writer.packet(packet.timeNs!, packet.data, packet.originalOctets)
      return writer
    })
    expect(Buffer.compare(again, octets)).toBe(0)
  })

  test.each([
    [-1n, "time: found -1 ns"],
    [4294967296n * 1_000_000_000n, "expected 0 up to 2^32 seconds"],
  ])("the time %s is refused", (timeNs, message) => {
    expect(() => new PcapWriter({ linkType: 1 }, () => {}).packet(timeNs, data)).toThrow(message)
  })

  test("an odd frame check sequence is refused", () => {
    expect(() => new PcapWriter({ linkType: 1, fcsOctets: 3 }, () => {})).toThrow("frame check sequence")
    expect(() => new PcapWriter({ linkType: 70000 }, () => {})).toThrow("link type")
  })
})
