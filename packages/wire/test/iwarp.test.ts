import { readFileSync } from "node:fs"
import { describe, expect, it, test } from "vitest"
import { crc32c } from "../src/Crc.ts"
import { DDP_TAGGED, DDP_UNTAGGED, type Ddp, parseDdp } from "../src/Ddp.ts"
import { FpduStream, fpduBytes, parseFpdu, parseMpa, type StreamFpdu, type StreamGap, sealFpdu } from "../src/Mpa.ts"
import { emitRdmap, parseRdmap, rdmapBytes, rdmapOpcode, terminateText } from "../src/Rdmap.ts"
import { readCapture } from "./capture.ts"
import { unitsOf } from "./mpaUnits.ts"
import { hex } from "./octetText.ts"
import { tcpStreams } from "./tcpStreams.ts"

/** All numbers of a unit under the names of the table, absent where it has none. */
const fieldsOf = (frame: number, ulpdu: Uint8Array): Record<string, bigint> => {
  const ddp = parseDdp(ulpdu)
  const rdmap = parseRdmap(ulpdu)
  if (!ddp.ok || !rdmap.ok) throw new Error(`frame ${frame}`)
  const { kind, ulpOctet: _, ...segment } = ddp.value
  const { ulpWord: __, ...shown } =
    kind === "untagged" ? (segment as Ddp & { kind: "untagged" }) : { ulpWord: 0, ...segment }
  const request = rdmap.value.kind === "readRequest" ? rdmap.value : {}
  const opcode = rdmapOpcode(rdmap.value)
  const all = { ...shown, ...request, frame, ulpduBytes: ulpdu.length, opcode }
  return Object.fromEntries(
    Object.entries(all).flatMap(([field, value]) => (typeof value === "string" ? [] : [[field, BigInt(value)]])),
  )
}

describe.each([
  ["siw_rping_v4", false],
  ["siw_crc_rping_v4", true],
])("the capture %s", (name, crc) => {
  const streams = [...tcpStreams(readCapture(name).map(({ octets }) => octets)).values()]
  const opened = streams.map((segments) => {
    const opening = parseMpa(segments[0]!.payload)
    if (!opening.ok) throw new Error(JSON.stringify(opening.error))
    const stream = new FpduStream({ markers: opening.value.markers, crc: opening.value.crc })
    const found: Array<StreamFpdu | StreamGap> = []
    stream.push(segments[0]!.payload.subarray(opening.payloadStart))
    for (const { payload } of segments.slice(1)) {
      stream.push(payload)
      found.push(...unitsOf(stream))
    }
    stream.end()
    found.push(...unitsOf(stream))
    return { opening: opening.value, found }
  })

  it("opens with a request and a reply of MPA", () => {
    expect(opened.map(({ opening }) => opening.kind).sort()).toEqual(["reply", "request"])
    for (const { opening } of opened) expect(opening).toMatchObject({ crc, markers: false, rejected: false })
  })

  it("has units only, each aligned with a segment, each CRC right or absent", () => {
    const units = opened.flatMap(({ found }) => found)
    expect(units.length).toBeGreaterThan(10)
    for (const unit of units)
      expect(unit).toMatchObject({ kind: "fpdu", crc: crc ? "right" : "absent", wrongMarkers: 0 })
    expect(units.every((unit) => unit.kind === "fpdu" && unit.aligned)).toBe(true)
  })

  it("says of each unit what tshark 4.0.17 says", () => {
    const lines = readFileSync(new URL(`../../../testdata/captures/${name}.tshark.tsv`, import.meta.url), "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t"))
    const [columns, ...rows] = lines as [Array<string>, ...Array<Array<string>>]
    const expected = rows.map((row) =>
      Object.fromEntries(columns.flatMap((column, index) => (row[index] ? [[column, BigInt(row[index])]] : []))),
    )
    const said = streams.flatMap((segments, index) => {
      // Every segment carries one unit, so the units have the frames of the segments behind the opening one.
      const units = opened[index]!.found.filter((unit) => unit.kind === "fpdu")
      expect(units).toHaveLength(segments.length - 1)
      return units.map((unit, at) => fieldsOf(segments[at + 1]!.frame, unit.ulpdu))
    })
    expect(said.sort((a, b) => Number(a.frame! - b.frame!))).toEqual(expected)
  })

  it("each unit is an RDMAP message that is emitted again as it was", () => {
    const kinds: Record<string, number> = {}
    for (const unit of opened.flatMap(({ found }) => found)) {
      if (unit.kind !== "fpdu") continue
      const message = parseRdmap(unit.ulpdu)
      if (!message.ok) throw new Error(JSON.stringify(message.error))
      kinds[message.value.kind] = (kinds[message.value.kind] ?? 0) + 1
      const again = unit.ulpdu.slice().fill(0, 0, message.payloadStart)
      expect(emitRdmap(message.value, again)).toBe(message.payloadStart)
      expect(again).toEqual(unit.ulpdu)
      expect(rdmapBytes(message.value)).toBe(message.payloadStart)
    }
    // Three rounds of rping: the client writes its buffer's address, the server reads, then writes.
    expect(kinds).toMatchObject({ readRequest: 3, readResponse: 3, write: 3 })
    expect(kinds.send).toBeGreaterThanOrEqual(12)
  })
})

describe("MPA", () => {
  test("revision 2 has its enhanced data before the private data (RFC 6581 §9)", () => {
    const key = Buffer.from("MPA ID Rep Frame").toString("hex")
    const outcome = parseMpa(hex(`${key} 50 02 0007 c010 4008 aabbcc`))
    expect(outcome).toMatchObject({
      ok: true,
      faults: [],
      value: {
        kind: "reply",
        markers: false,
        crc: true,
        revision: 2,
        enhanced: {
          inboundReads: 16,
          outboundReads: 8,
          peerToPeer: true,
          readyBySend: true,
          readyByWrite: false,
          readyByRead: true,
        },
        privateData: hex("aabbcc"),
      },
    })
  })

  test.each([
    ["MPA ID Xxx Frame", "40 01 0000", { what: "value", field: "key", offset: 0 }],
    ["MPA ID Req Frame", "60 01 0000", { what: "value", field: "rejected", offset: 16 }],
    ["MPA ID Req Frame", "40 03 0000", { what: "reserved", field: "revision", offset: 17 }],
    ["MPA ID Req Frame", "40 01 0201", { what: "length", field: "privateDataBytes", offset: 18 }],
    ["MPA ID Req Frame", "50 02 0003 000000", { what: "length", field: "privateDataBytes", offset: 18 }],
    ["MPA ID Req Frame", "40 01 0004 0000", { what: "length", field: "header", offset: 0 }],
  ])("%s %s", (key, rest, error) => {
    expect(parseMpa(hex(Buffer.from(key).toString("hex") + rest))).toMatchObject({ ok: false, error })
  })

  test("the S flag means nothing in revision 1", () => {
    const outcome = parseMpa(hex(`${Buffer.from("MPA ID Req Frame").toString("hex")} 50 01 0000`))
    expect(outcome).toMatchObject({
      ok: true,
      value: { enhanced: undefined },
      faults: [{ what: "ignored", found: 16 }],
    })
  })

  test("a unit is padded to four octets before its CRC, low octet first", () => {
    expect([0, 1, 2, 3, 14, 18].map(fpduBytes)).toEqual([8, 8, 8, 12, 20, 24])
    const octets = new Uint8Array(20).fill(0xff)
    octets.set([0, 13])
    expect(sealFpdu(octets, 0, true)).toBe(20)
    // Two octets of header and thirteen of payload take one of padding.
    expect([...octets.subarray(14, 16)]).toEqual([0xff, 0])
    expect(new DataView(octets.buffer).getUint32(16, true)).toBe(crc32c(octets, 0, 16))
  })
})

describe("DDP and RDMAP", () => {
  test("a tagged and an untagged header, by hand (RFC 5041 §4)", () => {
    const write = hex("c1 40 11223344 0102030405060708")
    expect(parseDdp(write)).toMatchObject({
      value: { kind: "tagged", last: true, ulpOctet: 0x40, stag: 0x11223344, taggedOffset: 0x0102030405060708n },
    })
    expect(DDP_TAGGED.view(write)).toMatchObject({
      value: { tagged: true, version: 1, taggedOffset: 0x0102030405060708n },
    })
    const send = hex("41 44 89abcdef 00000000 00000005 00000000")
    expect(parseRdmap(send)).toMatchObject({
      value: { kind: "send", solicited: false, invalidatedStag: 0x89abcdef, messageSequence: 5 },
    })
    expect(DDP_UNTAGGED.view(send)).toMatchObject({ value: { tagged: false, ulpWord: 0x89abcdef, messageSequence: 5 } })
  })

  test("a terminate repeats the header at fault (RFC 5040 §4.8)", () => {
    const outcome = parseRdmap(
      hex("41 47 00000000 00000002 00000001 00000000 1100 c000 0036 c140112233440000000000000000"),
    )
    expect(outcome).toMatchObject({
      ok: true,
      faults: [],
      value: { kind: "terminate", terminate: { layer: 1, errorType: 1, errorCode: 0, segment: { bytes: 54 } } },
    })
    if (!outcome.ok || outcome.value.kind !== "terminate") throw new Error("no terminate")
    expect(terminateText(outcome.value.terminate)).toBe("DDP: tagged buffer error: invalid STag")
    const at = (layer: number, errorType: number, errorCode: number) =>
      terminateText({ layer, errorType, errorCode, segment: undefined })
    expect(at(0, 1, 2)).toBe("RDMAP: remote protection error: access rights violation")
    expect(at(2, 0, 2)).toBe("MPA: MPA error: CRC of MPA wrong")
    expect(at(0, 0, 0)).toBe("RDMAP: local catastrophic error")
    expect(at(9, 9, 9)).toBe("layer 9: error type 9: code 9")
  })

  test.each([
    ["42 43", { format: "rdmap", what: "reserved", field: "version" }],
    ["41 83 00000000 00000000 00000001 00000000", { what: "reserved", field: "version", offset: 1 }],
    ["41 4c 00000000 00000000 00000001 00000000", { what: "reserved", field: "opcode", offset: 1 }],
    ["41 40 00000000 00000000 00000001 00000000", { what: "value", field: "tagged", offset: 0 }],
    ["c1 43 00000000 0000000000000000", { what: "value", field: "tagged", offset: 0 }],
    ["41 43 00000000 00000001 00000001 00000000", { what: "value", field: "queue", offset: 6 }],
    ["41 47 00000000 00000002 00000001 00000004", { what: "value", field: "messageOffset", offset: 14 }],
    ["41 47 00000000 00000002 00000001 00000000 0000 8000", { what: "value", field: "headerControl", offset: 20 }],
    [`41 4a 00000000 00000001 00000001 00000000 00000003 ${"00".repeat(48)}`, { what: "reserved", field: "operation" }],
  ])("%s is refused", (octets, error) => {
    expect(parseRdmap(hex(octets))).toMatchObject({ ok: false, error })
  })

  test("a unit that claims more than there is", () => {
    expect(parseFpdu(hex("0010 0000"))).toMatchObject({ ok: false, error: { what: "length", field: "ulpduBytes" } })
  })
})
