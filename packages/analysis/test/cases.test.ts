// Situations from the field, each an input and the right answer.
import { numberOption, optionCodes, PcapngWriter, PcapWriter } from "@rdmakit/pcap"
import { crc32 } from "@rdmakit/wire/crc"
import { acknowledgement, Operation, packetsOf as packetsOfMessage, Service } from "@rdmakit/wire/infiniband"
import { describe, expect, it, test } from "vitest"
import { flowRows, lineOf, Observer, Verifier } from "../src/index.ts"
import { packetsOf, readPackets } from "./capture.ts"
import { analysed, answer, captured, diagnosed, type Frame, kindsOf, roce, send } from "./synthetic.ts"

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"))
const IPV4 = "456a003812344000401114150a0000010a000002c00112b70024812a0400ffff000000110012345668656c6c6f2072646d612100"
const ICRC = "2c8bee03"
const frameOf = (ip: string, trailer = ""): Frame => ({
  timeNs: 0,
  octets: bytes(`525400000002525400000001${ip.startsWith("4") ? "0800" : "86dd"}${ip}${trailer}`),
})
const verified = (...frames: ReadonlyArray<Frame>) => {
  const verifier = new Verifier(crc32)
  for (const packet of captured(frames)) verifier.packet(packet)
  return verifier.end()
}
/** The datagram with octets replaced. */
const changed = (...changes: ReadonlyArray<readonly [offset: number, hex: string]>): string =>
  changes.reduce((text, [offset, hex]) => text.slice(0, 2 * offset) + hex + text.slice(2 * offset + hex.length), IPV4)

describe("B1 and B2: the ICRC over IPv4, and what is masked", () => {
  test.each<readonly [string, string, string]>([
    ["as it is", IPV4, ICRC],
    ["another TTL", changed([8, "01"]), ICRC],
    ["another TOS", changed([1, "6b"]), ICRC],
    ["another IP checksum", changed([10, "ffff"]), ICRC],
    ["another UDP checksum", changed([26, "0000"]), ICRC],
    ["FECN and BECN", changed([32, "c0"]), ICRC],
    ["the reserved bits", changed([32, "3f"]), ICRC],
    ["another IP identification", changed([4, "1235"]), "4980976a"],
    ["AckReq", changed([36, "80"]), "d866135f"],
    ["MigReq", changed([29, "40"]), "1c922406"],
  ])("%s", (_, ip, icrc) => {
    expect(verified(frameOf(ip, icrc))).toMatchObject({ roce: 1, icrcOk: 1, icrcBad: [] })
    const other = icrc === ICRC ? "2c8bee04" : ICRC
    expect(verified(frameOf(ip, other))).toMatchObject({ roce: 1, icrcOk: 0, icrcBad: [1] })
  })

  it("a VLAN tag is outside of it", () => {
    const { octets } = frameOf(IPV4, ICRC)
    const tagged = Buffer.concat([octets.subarray(0, 12), bytes("81000007"), octets.subarray(12)])
    expect(verified({ timeNs: 0, octets: tagged }).icrcOk).toBe(1)
  })
})

const IPV6_HEAD = (word: string, hop: string): string =>
  `${word}002411${hop}fd000000000000000000000000000001fd000000000000000000000000000002`

describe("B3: the ICRC over IPv6", () => {
  const rest = IPV4.slice(40)
  test.each([
    ["traffic class 0x6a, flow label 0x12345", "66a12345", "40"],
    ["traffic class 0x6b, flow label 0, hop limit 1", "66b00000", "01"],
  ])("%s", (_, word, hop) => {
    expect(verified(frameOf(IPV6_HEAD(word, hop) + rest, "25f049b9"))).toMatchObject({ icrcOk: 1, icrcBad: [] })
    expect(verified(frameOf(IPV6_HEAD(word, hop) + rest, ICRC))).toMatchObject({ icrcOk: 0, icrcBad: [1] })
  })
})

describe("B4: CNP", () => {
  const cnp =
    `${IPV4.slice(0, 4)}003c${IPV4.slice(8, 48)}0028${IPV4.slice(52, 56)}81 00 ffff 40000011 00000000`.replaceAll(
      " ",
      "",
    )
  it("is opcode 0x81, with an ICRC of its own", () => {
    const frame = frameOf(cnp + "00".repeat(16), "1d1dbfb0")
    expect(verified(frame)).toMatchObject({ icrcOk: 1, icrcBad: [] })
    expect(lineOf(new Observer().observe(captured([frame])[0]!)).text).toBe("CNP QP 0x11 BECN".replace(" BECN", ""))
    expect(analysed(captured([frame])).conversations.flows[0]!.cnps.count).toBe(1)
  })

  it("with opcode 0x80, that of native InfiniBand, is none", () => {
    const frame = frameOf(cnp.replace("8100ffff", "8000ffff") + "00".repeat(16), "1d1dbfb0")
    const { findings } = diagnosed(captured([frame]))
    expect(findings).toMatchObject([{ kind: "nativeCnp", frames: [1] }])
  })
})

describe("B5: what follows the IP packet is not part of it", () => {
  test.each(["", "00000000", "deadbeef", "00".repeat(20)])("%j", (trailer) => {
    expect(verified(frameOf(IPV4, ICRC + trailer))).toMatchObject({ icrcOk: 1, icrcBad: [] })
    const { payloadBytes } = new Observer().observe(captured([frameOf(IPV4, ICRC + trailer)])[0]!)
    expect(payloadBytes).toBe(0x24 - 8 - 12 - 4)
  })

  it("nor is a check sequence that the file declares", () => {
    const chunks: Array<Uint8Array> = []
    const writer = new PcapWriter({ linkType: 1, fcsOctets: 4 }, (octets) => chunks.push(octets))
    writer.packet(0n, frameOf(IPV4, `${ICRC}12345678`).octets)
    writer.flush()
    const verifier = new Verifier(crc32)
    for (const packet of packetsOf(new Uint8Array(Buffer.concat(chunks)))) verifier.packet(packet)
    expect(verifier.end()).toMatchObject({ roce: 1, icrcOk: 1 })
  })
})

it("B7: times in powers of two, to the nanosecond", () => {
  const chunks: Array<Uint8Array> = []
  const writer = new PcapngWriter({}, (octets) => chunks.push(octets))
  const resolution = numberOption(optionCodes.interface.resolution, 0x80 | 30, 1)
  const id = writer.interface({ linkType: 1, options: [resolution] })
  const ticks = (ns: bigint): bigint => (ns * (1n << 30n) + 999_999_999n) / 1_000_000_000n
  const times = [1573830016444223380n, 1573830016444223404n, 1573830017444223380n]
  for (const time of times) writer.packet(id, ticks(time), new Uint8Array(60))
  writer.flush()
  const observer = new Observer()
  const seen = packetsOf(new Uint8Array(Buffer.concat(chunks))).map((packet) => observer.observe(packet).timeNs)
  expect(observer.clock.startNs).toBe(times[0])
  expect(seen).toEqual([0, 24, 1_000_000_000])
})

describe("B9: packets that the capture cut", () => {
  const whole = frameOf(IPV4, ICRC)
  const lengths = Array.from({ length: whole.octets.length - 1 }, (_, index) => index)
  test.each(lengths)("after %i octets", (length) => {
    const frame = { timeNs: 0, octets: whole.octets.slice(0, length), wireBytes: whole.octets.length }
    const verdicts = verified(frame)
    // Up to the UDP header nobody knows what it is.
    const isRoce = length >= 42
    expect(verdicts).toMatchObject({ packets: 1, roce: isRoce ? 1 : 0, notCheckable: isRoce ? 1 : 0, icrcBad: [] })
    const sighting = new Observer().observe(captured([frame])[0]!)
    expect(sighting.psn).toBe(length >= 54 ? 0x123456 : -1)
    expect(() => lineOf(sighting)).not.toThrow()
    expect(() => diagnosed(captured([frame]))).not.toThrow()
  })
})

const WRITE = { virtualAddress: 0n, remoteKey: 7, dmaBytes: 4096 }

describe("B11: PSNs wrap", () => {
  const parts = [Operation.WriteFirst, Operation.WriteMiddle, Operation.WriteMiddle, Operation.WriteLast]
  const psns = [0xfffffe, 0xffffff, 0, 1]
  const frames = parts.map((operation, index) =>
    roce({
      timeNs: index,
      psn: psns[index]!,
      operation,
      payloadBytes: 1024,
      headers: index === 0 ? { reth: WRITE } : {},
    }),
  )
  const ack = answer({
    timeNs: 5,
    psn: 1,
    operation: Operation.Acknowledge,
    headers: { aeth: { syndrome: acknowledgement(), msn: 1 } },
  })

  it("in a message, without a gap", () => {
    const all = captured([...frames, ack, send(10, 2)])
    expect(kindsOf(diagnosed(all))).toEqual(["psnWrap"])
    const [row] = flowRows(analysed(all))
    expect(row).toMatchObject({ messages: 2, messageBytesMax: 4096, gaps: 0, repeated: 0, psnWraps: 1, ackMaxNs: 2 })
  })

  it("000001 is after ffffff: a packet missing there is one packet", () => {
    const [row] = flowRows(analysed(captured(frames.filter((_, index) => index !== 2))))
    expect(row).toMatchObject({ gaps: 1, missingPackets: 1, repeated: 0 })
  })

  it("as Linux does it", () => {
    const rows = flowRows(analysed(readPackets("v_psnwrap")))
    expect(rows).toMatchObject([
      { psnWraps: 1, gaps: 0, repeated: 0, messages: 11 },
      { psnWraps: 0, gaps: 0 },
    ])
  })
})

describe("B12: messages of no octets take one packet and one PSN", () => {
  const reth = { virtualAddress: 0n, remoteKey: 0, dmaBytes: 0 }
  it("SEND, WRITE, READ", () => {
    const frames = [
      send(0, 10, { payloadBytes: 0 }),
      roce({ timeNs: 1, psn: 11, operation: Operation.WriteOnly, headers: { reth } }),
      roce({ timeNs: 2, psn: 12, operation: Operation.ReadRequest, headers: { reth } }),
      answer({
        timeNs: 3,
        psn: 12,
        operation: Operation.ReadResponseOnly,
        headers: { aeth: { syndrome: acknowledgement(), msn: 3 } },
      }),
      send(4, 13),
    ]
    const [row] = flowRows(analysed(captured(frames)))
    expect(row).toMatchObject({ messages: 4, messageBytes: 64, gaps: 0, missingPackets: 0, repeated: 0 })
    expect(kindsOf(diagnosed(captured(frames)))).toEqual([])
  })

  it("as Linux does it", () => {
    const [row] = flowRows(analysed(readPackets("v_imm")))
    expect(row).toMatchObject({ messages: 11, gaps: 0, missingPackets: 0 })
  })
})

describe("B13: packets of a message at an MTU of 1024", () => {
  test.each([
    [0, 1],
    [1, 1],
    [1024, 1],
    [1025, 2],
    [2 ** 31, 2_097_152],
  ])("%i octets are %i", (size, packets) => {
    expect(packetsOfMessage(size, 1024)).toBe(packets)
    // The MTU is known from a message before; the next PSN after a READ is the one behind all its responses.
    const frames = [
      roce({ timeNs: 0, psn: 0, operation: Operation.SendFirst, payloadBytes: 1024 }),
      roce({ timeNs: 1, psn: 1, operation: Operation.SendLast, payloadBytes: 8 }),
      roce({ timeNs: 2, psn: 2, operation: Operation.ReadRequest, headers: { reth: { ...WRITE, dmaBytes: size } } }),
      send(3, 2 + packets),
      send(4, 4 + packets),
    ]
    expect(flowRows(analysed(captured(frames)))[0]).toMatchObject({ messages: 4, gaps: 1, missingPackets: 1 })
  })
})

it("B15: immediate data is an unsigned number", () => {
  const immDt = { immediate: 0x89abcdef }
  const frame = roce({ timeNs: 0, operation: Operation.SendOnlyImmediate, headers: { immDt } })
  const sighting = new Observer().observe(captured([frame])[0]!)
  expect(sighting.immediate).toBe(0x89abcdef)
  expect(lineOf(sighting).text).toContain("immediate 0x89abcdef")
})

describe("B17: the octet of the traffic class", () => {
  const rows = (trafficClass: number) =>
    flowRows(
      analysed(
        captured(Array.from({ length: 30 }, (_, psn) => send(psn * 1000, psn, { trafficClass, service: Service.Rc }))),
      ),
    )
  test.each([
    [106, 30, 0],
    [104, 0, 0],
    [3, 30, 30],
  ])("%i", (trafficClass, ecnCapable, marked) => {
    expect(rows(trafficClass)[0]).toMatchObject({ ecnCapable, marked })
  })

  it("3 on every packet is set by the sender", () => {
    const frames = Array.from({ length: 30 }, (_, psn) => send(psn * 1000, psn, { trafficClass: 3 }))
    const [finding] = diagnosed(captured(frames)).findings
    expect(finding!.kind).toBe("alwaysMarked")
    expect(finding!.causes[0]!.text).toContain("106 for DSCP 26")
  })
})
