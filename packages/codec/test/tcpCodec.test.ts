import { Ecn, Flag, Layout, Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { crc32c } from "@rdmakit/wire/crc"
import { describe, expect, test } from "vitest"
import { CodecError, TcpCodec, type TcpCodecOptions } from "../src/index.ts"

const MTU = 1448
const BYTES = 20_000
const pool = new PacketPool()

/** A packet of flow 3 from host 1 to host 258, as it is on the link from switch 300, its first, to the latter. */
const frameOf = (fill: (packet: Packet) => void, options: Partial<TcpCodecOptions> = {}, bytes = BYTES): Uint8Array => {
  const packet = new Packet(pool).at(pool.alloc())
  packet.meta = Opcode.SendMiddle | (3 << 24)
  packet.setNodes(1, 258)
  packet.flow = 6
  packet.payloadBytes = MTU
  packet.udpPorts = (0xc123 | (4789 << 16)) >>> 0
  packet.hop = 1
  packet.stamp = 77e6
  fill(packet)
  const flows = { bytesOf: () => bytes, sourcePortOf: () => 0xc005, destinationPortOf: () => 5001 }
  const codec = new TcpCodec({ flows, mtuBytes: MTU, ...options })
  const octets = new Uint8Array(codec.frameBytesMax).fill(0xee)
  const end = codec.encode(packet, { from: 300, to: 258 }, octets)
  pool.release(packet.handle)
  return octets.subarray(0, end)
}
const acknowledges =
  (psn: number, ...blocks: ReadonlyArray<number>) =>
  (packet: Packet) => {
    packet.meta = Opcode.Acknowledge | (3 << 24)
    packet.setNodes(258, 1)
    packet.flow = 7
    packet.payloadBytes = 0
    packet.psn = psn
    if (blocks.length === 0) return
    const x = packet.extend()
    packet.pool.extension[x + Layout.EXT.sackBlocks] = blocks.length / 2
    for (const [index, edge] of blocks.entries()) packet.pool.extension[x + Layout.EXT.sackRanges + index] = edge
  }

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")
const spaced = (text: string): string => text.replaceAll(" ", "")
const u32 = (octets: Uint8Array, at: number): number => new DataView(octets.buffer, octets.byteOffset).getUint32(at)

/** The one's complement sum of RFC 1071, word by word; 0xffff where the checksum in it is right. */
const sumOf = (octets: Uint8Array): number => {
  let sum = 0
  for (let at = 0; at < octets.length; at += 2) {
    sum += (octets[at]! << 8) | (octets[at + 1] ?? 0)
    if (sum > 0xffff) sum -= 0xffff
  }
  return sum
}
/** The same of a segment behind the IP header at `ip`, with its pseudo-header. */
const segmentSum = (frame: Uint8Array, ip: number): number => {
  const bytes = frame.length - ip - 20
  const pseudo = [...frame.subarray(ip + 12, ip + 20), 0, 6, bytes >> 8, bytes & 255]
  return sumOf(Uint8Array.from([...pseudo, ...frame.subarray(ip + 20)]))
}

const TCP_AT = 34
const PAYLOAD_AT = TCP_AT + 32

describe("segments, octet by octet", () => {
  test("data are numbered by octets, and tell when they were sent in microseconds", () => {
    const frame = frameOf((packet) => {
      packet.psn = 5
      packet.ecn = Ecn.Capable0
    })
    expect(frame.length).toBe(66 + MTU)
    expect(hex(frame.subarray(0, 24))).toBe(spaced("020000000102 02000000012c 0800 4562 05dc 0000 4000 fe06"))
    expect(hex(frame.subarray(26, TCP_AT))).toBe("0b0001010b010201")
    // 5 segments of 1,448 are 0x1c48; the SYN took number 0.
    const header = "c005 1389 00001c49 00000001 8010 ffff"
    expect(hex(frame.subarray(TCP_AT, TCP_AT + 16))).toBe(spaced(header))
    expect(hex(frame.subarray(TCP_AT + 18, PAYLOAD_AT))).toBe(spaced("0000 0101080a 0000004d 00000000"))
    expect([...frame.subarray(PAYLOAD_AT, PAYLOAD_AT + 3)]).toEqual([5, 6, 7])
    expect([sumOf(frame.subarray(14, 34)), segmentSum(frame, 14)]).toEqual([0xffff, 0xffff])
  })

  test("the last is short, and pushed", () => {
    const frame = frameOf((packet) => {
      packet.psn = 13
      packet.payloadBytes = BYTES - 13 * MTU
      packet.set(Flag.AckRequest)
    })
    expect(frame.length).toBe(66 + BYTES - 13 * MTU)
    expect(u32(frame, TCP_AT + 4)).toBe(1 + 13 * MTU)
    expect(frame[TCP_AT + 13]).toBe(0x18)
    expect(segmentSum(frame, 14)).toBe(0xffff)
  })

  test("an acknowledgement returns the time, echoes a mark, and ends where the message does", () => {
    const frame = frameOf((packet) => {
      acknowledges(14)(packet)
      packet.set(Flag.CongestionEcho)
    })
    expect(frame.length).toBe(66)
    expect(hex(frame.subarray(26, TCP_AT + 16))).toBe(
      // 20,001 is 0x4e21.
      spaced("0b0102010b000101 1389 c005 00000001 00004e21 8050 ffff"),
    )
    expect(hex(frame.subarray(TCP_AT + 20))).toBe(spaced("0101080a 00000000 0000004d"))
    expect(segmentSum(frame, 14)).toBe(0xffff)
  })

  test("three blocks are edges of octets, and fill the options", () => {
    const frame = frameOf(acknowledges(2, 0, 1, 4, 6, 12, 14))
    expect(frame.length).toBe(14 + 20 + 60)
    expect(frame[TCP_AT + 12]).toBe(0xf0)
    expect(hex(frame.subarray(TCP_AT + 32, TCP_AT + 36))).toBe("0101051a")
    const edges = [0, 1, 2, 3, 4, 5].map((index) => u32(frame, TCP_AT + 36 + 4 * index))
    expect(edges).toEqual([1, 1 + MTU, 1 + 4 * MTU, 1 + 6 * MTU, 1 + 12 * MTU, 1 + BYTES])
    expect(segmentSum(frame, 14)).toBe(0xffff)
  })

  test("a message of nothing is a segment of nothing", () => {
    const frame = frameOf(
      (packet) => {
        packet.payloadBytes = 0
      },
      {},
      0,
    )
    expect([frame.length, u32(frame, TCP_AT + 4)]).toEqual([66, 1])
  })

  test("PFC is what it is for RoCEv2, and what is not TCP's is refused", () => {
    const pause = frameOf((packet) => {
      packet.meta = Opcode.Pfc | Flag.Pause | (3 << 24)
    })
    expect([pause.length, hex(pause.subarray(12, 18))]).toEqual([60, "880801010008"])
    const encode = () =>
      frameOf((packet) => {
        packet.opcode = Opcode.WriteOnly
      })
    expect(encode).toThrow(CodecError)
    expect(encode).toThrow("opcode: found 10, expected data or an acknowledgement of TCP")
  })
})

test("numbers go on where those of packets wrap, forwards and back, and wrap at 2^32 themselves", () => {
  const bytes = 2 ** 25 * MTU
  const flows = { bytesOf: () => bytes, sourcePortOf: () => 1, destinationPortOf: () => 2 }
  const codec = new TcpCodec({ flows, mtuBytes: MTU })
  const octets = new Uint8Array(codec.frameBytesMax)
  const packet = new Packet(pool).at(pool.alloc())
  packet.meta = Opcode.SendMiddle
  packet.payloadBytes = MTU
  const sequenceOf = (number: number): number => {
    packet.psn = number % 2 ** 24
    codec.encode(packet, { from: 0, to: 1 }, octets)
    return u32(octets, TCP_AT + 4)
  }
  // Up to 2^24 in steps that a window allows, over it, and back over it.
  for (const number of [0, 2 ** 22, 2 ** 23, 3 * 2 ** 22, 2 ** 24 - 1, 2 ** 24 + 3, 2 ** 24 - 2, 2 ** 24 + 2 ** 22])
    expect(sequenceOf(number), `${number}`).toBe(Number((BigInt(number) * BigInt(MTU) + 1n) % 2n ** 32n))
  pool.release(packet.handle)
})

describe("iWARP", () => {
  const fpdu = (crc: "crc" | "noCrc", payloadBytes = MTU, psn = 5) =>
    frameOf(
      (packet) => {
        packet.psn = psn
        packet.payloadBytes = payloadBytes
        if (payloadBytes < MTU) packet.set(Flag.AckRequest)
      },
      { fpdu: crc },
    )

  test("a segment is one unit: a WRITE to the flow's memory, with its CRC", () => {
    const frame = fpdu("crc")
    expect(frame.length).toBe(66 + 20 + MTU)
    // Each unit is 20 octets longer than its payload.
    expect(u32(frame, TCP_AT + 4)).toBe(1 + 5 * (MTU + 20))
    // 14 and 1,448 octets; tagged, version 1; RDMAP version 1, opcode 0; key 0x401; 4 · 2^32 + 5 · 1,448.
    expect(hex(frame.subarray(PAYLOAD_AT, PAYLOAD_AT + 18))).toBe(spaced("05b6 81 40 00000401 0000000400001c48 0506"))
    const end = frame.length - 4
    expect(new DataView(frame.buffer).getUint32(end, true)).toBe(crc32c(frame, PAYLOAD_AT, end))
    expect(segmentSum(frame, 14)).toBe(0xffff)
  })

  test("the last is told so and padded; without a CRC its field is 0", () => {
    const frame = fpdu("noCrc", 1177, 13)
    // 2 + 14 + 1,177 are padded by 3.
    expect(frame.length).toBe(66 + 1196 + 4)
    expect(hex(frame.subarray(PAYLOAD_AT, PAYLOAD_AT + 4))).toBe("04a7c140")
    expect(hex(frame.subarray(frame.length - 7))).toBe("00".repeat(7))
    expect(segmentSum(frame, 14)).toBe(0xffff)
  })

  test("acknowledgements count the octets of units", () => {
    const frame = frameOf(acknowledges(14), { fpdu: "crc" })
    expect([frame.length, u32(frame, TCP_AT + 8)]).toEqual([66, 1 + 13 * (MTU + 20) + 1196])
  })
})

test("in a tunnel frames are 50 octets longer, and a mark is on the outside", () => {
  const frame = frameOf(
    (packet) => {
      packet.ecn = Ecn.Experienced
    },
    { tunnel: "vxlan" },
  )
  expect(frame.length).toBe(66 + MTU + 50)
  // The tunnel's ports, 1,530 octets in it and no checksum; network 1.
  expect(hex(frame.subarray(0, 24))).toBe(spaced("020000000102 02000000012c 0800 4563 060e 0000 4000 fe11"))
  expect(hex(frame.subarray(26, 50))).toBe(spaced("0b0001010b010201 c123 12b5 05fa 0000 08000000 00000100"))
  // Host 1 to host 258 as the tenant calls them.
  expect(hex(frame.subarray(50, 74))).toBe(spaced("020000010102 020000010001 0800 4562 05dc 0000 4000 ff06"))
  expect(hex(frame.subarray(76, 88))).toBe(spaced("0a0001010a010201 c005 1389"))
  expect([sumOf(frame.subarray(14, 34)), sumOf(frame.subarray(64, 84)), segmentSum(frame, 64)]).toEqual([
    0xffff, 0xffff, 0xffff,
  ])
})

test("the longest IP packet is that of a full segment", () => {
  const flows = { bytesOf: () => 1, sourcePortOf: () => 1, destinationPortOf: () => 2 }
  expect(new TcpCodec({ flows, mtuBytes: 65_483 }).ipBytesMax).toBe(65_535)
  expect(new TcpCodec({ flows, mtuBytes: 65_412, fpdu: "noCrc", tunnel: "vxlan" }).ipBytesMax).toBe(65_534)
})
