import { crc32 } from "@rdmakit/wire/crc"
import { emitEthernet } from "@rdmakit/wire/ethernet"
import { emitIpv4 } from "@rdmakit/wire/ipv4"
import { emitFpdu, FpduFramer, sealFpdu } from "@rdmakit/wire/mpa"
import { emitTcp } from "@rdmakit/wire/tcp"
import { describe, expect, it, test } from "vitest"
import { CaptureAnalysis, flowRows, Verifier } from "../src/index.ts"
import { Direction } from "../src/iwarp/Direction.ts"
import { HeldTotal, TcpReassembly } from "../src/iwarp/TcpReassembly.ts"
import { readPackets } from "./capture.ts"
import { analysed, captured, diagnosed, type Frame, framesOf, kindsOf } from "./synthetic.ts"

const NOTHING = new Uint8Array(0)

/** A segment of TCP. */
const segment = (timeNs: number, sequence: number, payload: Uint8Array, isBack = false): Frame => {
  const octets = new Uint8Array(54 + payload.length)
  const [client, server] = [0x0a00_0001, 0x0a00_0002]
  let at = emitEthernet({ destination: 2, source: 1, tags: [], etherType: 0x0800 }, octets)
  at = emitIpv4(
    {
      ...{ trafficClass: 0, identification: 0, dontFragment: true, moreFragments: false, fragmentOffset: 0, ttl: 64 },
      ...{ protocol: 6, options: NOTHING, payloadBytes: 20 + payload.length },
      ...(isBack ? { source: server, destination: client } : { source: client, destination: server }),
    },
    octets,
    at,
  )
  at = emitTcp(
    {
      ...{ sequence, acknowledgement: 0, flags: 0x18, window: 1000, checksum: 0, urgentPointer: 0, options: NOTHING },
      ...(isBack ? { sourcePort: 7174, destinationPort: 40000 } : { sourcePort: 40000, destinationPort: 7174 }),
    },
    octets,
    at,
  )
  octets.set(payload, at)
  return { timeNs, octets }
}

/** A DDP segment of a SEND with so many octets; the last of its message, unless it says otherwise. */
const ulpdu = (bytes: number, seed: number, isLast = true): Uint8Array => {
  const octets = new Uint8Array(18 + bytes)
  octets.set([isLast ? 0x41 : 0x01, 0x43])
  octets.set([0, 0, 0, 1], 10)
  for (let at = 18; at < octets.length; at++) octets[at] = seed + at
  return octets
}

const opening = (kind: "Req" | "Rep", flags: number): Uint8Array =>
  new Uint8Array([...Buffer.from(`MPA ID ${kind} Frame`), flags, 1, 0, 0])

const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => new Uint8Array(Buffer.concat(parts))

/** A stream with both openings, its units in segments of a length that suits none. */
const stream = (markers: boolean, first = 1000): Array<Frame> => {
  const flags = 0x40 | (markers ? 0x80 : 0)
  const framer = new FpduFramer({ markers, crc: true })
  const octets = joined(...[40, 700, 1, 300, 999, 64].map((bytes, index) => framer.frame(ulpdu(bytes, index))))
  const frames = [segment(0, first, opening("Req", flags)), segment(1000, 5000, opening("Rep", flags), true)]
  for (let at = 0, index = 0; at < octets.length; at += 333, index++) {
    frames.push(segment(2000 + 1000 * index, (first + 20 + at) >>> 0, octets.subarray(at, at + 333)))
  }
  return frames
}

const verdicts = (frames: ReadonlyArray<Frame>) => {
  const verifier = new Verifier(crc32)
  for (const packet of captured(frames)) verifier.packet(packet)
  return verifier.end()
}

describe.each([false, true])("a stream whose units lie across segments, markers %s", (markers) => {
  const frames = stream(markers)

  it("has right CRCs", () => expect(verdicts(frames)).toMatchObject({ mpaCrcOk: 6, mpaCrcBad: 0, notes: [] }))

  it("in any order, twice, and with sequence numbers that wrap", () => {
    const head = frames.slice(0, 2)
    const shuffled = [...head, ...frames.slice(2, 4).reverse(), ...frames.slice(4).reverse(), ...frames.slice(2)]
    expect(verdicts(shuffled)).toMatchObject({ mpaCrcOk: 6, mpaCrcBad: 0, notes: [] })
    expect(diagnosed(captured(shuffled)).findings).toMatchObject([{ kind: "tcpRepeats", severity: "warning" }])
    expect(verdicts(stream(markers, 0xffff_ff00))).toMatchObject({ mpaCrcOk: 6, mpaCrcBad: 0 })
  })

  it("names the frame in which a unit with a wrong CRC ends", () => {
    const spoiled = frames.map((frame) => ({ ...frame, octets: frame.octets.slice() }))
    spoiled[4]!.octets[100]! ^= 1
    const { mpaCrcOk, mpaCrcBad, mpaCrcBadFrames } = verdicts(spoiled)
    expect({ mpaCrcOk, mpaCrcBad }).toEqual({ mpaCrcOk: 5, mpaCrcBad: 1 })
    expect(mpaCrcBadFrames.length).toBe(1)
    expect(kindsOf(diagnosed(captured(spoiled)))).toEqual(["mpaCrc"])
  })

  it("with a segment that is not in the capture finds the units behind it", () => {
    const { mpaCrcOk, mpaCrcBad, notes } = verdicts(frames.filter((_, index) => index !== 4))
    expect(mpaCrcBad).toBe(0)
    expect(mpaCrcOk).toBeGreaterThanOrEqual(3)
    expect(notes.join("\n")).toContain("octets of iWARP streams are not in the capture")
  })

  it("cut to 128 octets a packet: nothing is wrong", () => {
    const cut = frames.map(({ timeNs, octets }) => ({ timeNs, octets: octets.slice(0, 128), wireBytes: octets.length }))
    expect(verdicts(cut).mpaCrcBad).toBe(0)
  })
})

test("a message of several units is one", () => {
  const framer = new FpduFramer({ markers: false, crc: true })
  const units = [false, false, true, true].map((isLast, index) => framer.frame(ulpdu(100, index, isLast)))
  const frames = [
    segment(0, 1000, opening("Req", 0x40)),
    segment(1000, 5000, opening("Rep", 0x40), true),
    ...units.map((unit, index) => segment(2000 + index, 1020 + index * unit.length, unit)),
  ]
  expect(flowRows(analysed(captured(frames)))[0]).toMatchObject({ transport: "iWARP", packets: 4, messages: 2 })
})

describe("a stream whose beginning is not in the capture", () => {
  const aligned = (hasCrc: boolean): ReadonlyArray<Frame> =>
    [40, 700, 1].map((bytes, index) => {
      const unit = ulpdu(bytes, index)
      const octets = new Uint8Array(((2 + unit.length + 3) & ~3) + 4)
      emitFpdu({ ulpduBytes: unit.length }, octets)
      octets.set(unit, 2)
      sealFpdu(octets, 0, hasCrc)
      return segment(index * 1000, 1000 + [0, 64, 64 + 724][index]!, octets)
    })

  it("is known by units that fill segments", () => {
    expect(verdicts(aligned(true))).toMatchObject({ mpaCrcOk: 3, mpaCrcBad: 0, mpaCrcAbsent: 0 })
    expect(verdicts(aligned(false))).toMatchObject({ mpaCrcOk: 0, mpaCrcBad: 0, mpaCrcAbsent: 3 })
  })

  it("and anything else is none", () => {
    const other = Array.from({ length: 50 }, (_, index) =>
      segment(index, 1000 + 100 * index, new Uint8Array(100).fill(index)),
    )
    expect(verdicts(other)).toMatchObject({ packets: 50, mpaCrcOk: 0, mpaCrcBad: 0, mpaCrcAbsent: 0, notes: [] })
  })

  test.each(["siw_crc_rping_v4", "siw_rping_v4"])("%s without its first half", (name) => {
    const whole = verdicts(framesOf(readPackets(name)))
    const half = verdicts(framesOf(readPackets(name)).slice(14))
    expect(half.mpaCrcBad).toBe(0)
    expect(half.mpaCrcOk + half.mpaCrcAbsent).toBeGreaterThan((whole.mpaCrcOk + whole.mpaCrcAbsent) / 2)
  })
})

it("says how a connection was refused and terminated", () => {
  const refusal = [segment(0, 1, opening("Req", 0x40)), segment(1, 1, opening("Rep", 0x60), true)]
  expect(kindsOf(diagnosed(captured(refusal)))).toEqual(["mpaRejected"])
})

it("counts the operations of a connection", () => {
  const analysis = new CaptureAnalysis(crc32)
  for (const packet of readPackets("siw_rping_v4")) analysis.packet(packet)
  analysis.end()
  expect(analysis.iwarp.flows.map(({ operations }) => Object.fromEntries(operations))).toEqual([
    { send: 6, readResponse: 3 },
    { send: 6, readRequest: 3, write: 3 },
  ])
})

it("many streams whose units never end hold no more together than is allowed", () => {
  const held = new HeldTotal()
  let lost = 0
  const gap = (_: Direction, bytes: number): void => {
    lost += bytes
  }
  const listener = { opened: () => {}, unit: () => {}, gap }
  const streams = Array.from({ length: 512 }, (_, port) => new Direction(1, 2, port, 7174, listener, held))
  const unit = new Uint8Array(64_000)
  unit.set([0xff, 0xff, 0x41, 0x43])
  for (const stream of streams) {
    stream.tcp.push(0, opening("Req", 0x40), 20, 1)
    stream.tcp.push(20, unit, unit.length, 2)
    expect(held.bytes).toBeLessThanOrEqual(1 << 24)
  }
  expect(lost).toBeGreaterThan(0)
  for (const stream of streams) stream.end()
  expect([held.bytes, lost]).toEqual([0, 512 * 64_000])
})

describe("segments of TCP", () => {
  const collect = () => {
    const events: Array<string> = []
    const tcp = new TcpReassembly({
      take: (octets, frame) => events.push(`${frame}:${Buffer.from(octets).toString()}`),
      lose: (bytes) => events.push(`-${bytes}`),
    })
    const push = (sequence: number, text: string, frame: number, bytes = text.length): void =>
      tcp.push(sequence, new Uint8Array(Buffer.from(text)), bytes, frame)
    return { events, tcp, push }
  }

  it("late, twice, overlapping", () => {
    const { events, tcp, push } = collect()
    tcp.open(9)
    push(10, "abc", 1)
    push(16, "ghi", 2)
    push(13, "def", 3)
    push(10, "abcdef", 4)
    push(17, "hijk", 5)
    expect(events).toEqual(["1:abc", "3:def", "2:ghi", "5:jk"])
    expect([tcp.repeated, tcp.outOfOrder, tcp.lostBytes]).toEqual([1, 1, 0])
  })

  it("missing and cut", () => {
    const { events, tcp, push } = collect()
    push(10, "ab", 1, 5)
    push(15, "cd", 2)
    push(30, "ef", 3)
    tcp.end()
    expect(events).toEqual(["1:ab", "-3", "2:cd", "-13", "3:ef"])
    expect(tcp.lostBytes).toBe(16)
  })

  it("gives up on what is missing before it holds too much", () => {
    const { events, push } = collect()
    push(0, "x", 1)
    for (let index = 0; index < 2000; index++) push(10 + 2 * index, "yz", 2 + index)
    expect(events.length).toBeGreaterThan(1000)
    expect(events[1]).toBe("-9")
  })

  it("as small as can be are bounded as large ones are", () => {
    const total = new HeldTotal()
    let held = 0
    const sink = { take: () => held--, lose: () => {} }
    const streams = Array.from({ length: 128 }, () => new TcpReassembly(sink, total))
    const octet = new Uint8Array(1)
    for (let index = 0; index < 1000; index++) {
      for (const tcp of streams) tcp.push(2 * index, octet, 1, index)
      held += streams.length
    }
    expect(held).toBeLessThan(70_000)
    for (const tcp of streams) tcp.end()
    expect([total.bytes, held]).toEqual([0, 0])
  })

  it("of many streams hold no more together than is allowed", () => {
    const total = new HeldTotal()
    let lost = 0
    const lose = (bytes: number): void => {
      lost += bytes
    }
    const sink = { take: () => {}, lose }
    const streams = Array.from({ length: 64 }, () => new TcpReassembly(sink, total))
    const segment = new Uint8Array(0x4000)
    for (let index = 0; index < 60; index++) {
      for (const tcp of streams) tcp.push(index * 0x8000, segment, segment.length, index)
      expect(total.bytes).toBeLessThanOrEqual(1 << 24)
    }
    expect(lost).toBeGreaterThan(0)
    for (const tcp of streams) tcp.end()
    expect([total.bytes, lost]).toEqual([0, 64 * 59 * 0x4000])
  })
})
