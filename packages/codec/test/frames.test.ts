import { exactTelemetry, Flag, Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { describe, expect, test } from "vitest"
import {
  ENDPOINTS_MAX,
  endpointOfQp,
  ipv4OfNode,
  macOfNode,
  nodeOfIpv4,
  nodeOfMac,
  payloadOctet,
  qpOfEndpoint,
  RoceCodec,
} from "../src/index.ts"

const hex = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")
const of = (pool: PacketPool, fill: (packet: Packet) => void): Packet => {
  const packet = new Packet(pool).at(pool.alloc())
  packet.setNodes(1, 258)
  packet.flow = 6
  packet.psn = 5
  packet.udpPorts = 0xc123 | (4791 << 16)
  fill(packet)
  return packet
}
const frame = (codec: RoceCodec, packet: Packet): Uint8Array => {
  const octets = new Uint8Array(2000).fill(0xee)
  return octets.slice(0, codec.encode(packet, { from: 1, to: 300 }, octets))
}

describe("frames, octet by octet", () => {
  const pool = new PacketPool()

  test("a congestion notification is the one of Annex A17", () => {
    const octets = frame(
      new RoceCodec(),
      of(pool, (packet) => {
        packet.opcode = Opcode.Cnp
        packet.psn = 0
        packet.flow = 7
        packet.udpPorts = 4791 | (0xc123 << 16)
      }),
    )
    expect(octets.length).toBe(74)
    expect(hex(octets.subarray(0, 42))).toBe(
      "02000000012c" +
        "020000000001" +
        "0800" +
        "4500003c000040 00ff11 62ae 0b000101 0b010201".replaceAll(" ", "") +
        "c12312b700280000",
    )
    // BECN, and the queue pair of endpoint 6.
    expect(hex(octets.subarray(42, 70))).toBe(`8100ffff400001060000 0000`.replaceAll(" ", "") + "00".repeat(16))
  })

  test("a NAK is an acknowledgement whose AETH says so", () => {
    const octets = frame(
      new RoceCodec(),
      of(pool, (packet) => {
        packet.opcode = Opcode.NakSequence
        packet.flow = 7
      }),
    )
    expect(octets.length).toBe(62)
    expect(hex(octets.subarray(42, 58))).toBe("1100ffff000001060000000560000000")
  })

  test("the acknowledgement of the last packet counts the message", () => {
    const codec = new RoceCodec({ messages: { bytesOf: () => 6000, mtuBytes: 1000 } })
    const msn = (psn: number, opcode: number = Opcode.Acknowledge) =>
      frame(
        codec,
        of(pool, (packet) => {
          packet.opcode = opcode
          packet.flow = 7
          packet.psn = psn
        }),
      )[57]
    expect([msn(4), msn(5), msn(6), msn(5, Opcode.NakSequence)]).toEqual([0, 1, 0, 0])
  })

  test("an echo of congestion is the BECN of the acknowledgement", () => {
    const octets = frame(
      new RoceCodec(),
      of(pool, (packet) => {
        packet.meta = Opcode.Acknowledge | Flag.CongestionEcho
      }),
    )
    expect(octets[46]).toBe(0x40)
  })

  test("the first packet of a WRITE has a RETH; padding fills the last word of its payload", () => {
    const codec = new RoceCodec({ messages: { bytesOf: (flow) => 1e6 + flow, mtuBytes: 1000 } })
    const octets = frame(
      codec,
      of(pool, (packet) => {
        packet.meta = Opcode.WriteFirst | Flag.AckRequest | (3 << 24) | (2 << 28)
        packet.payloadBytes = 5
        packet.hop = 2
      }),
    )
    expect(octets.length).toBe(14 + 20 + 8 + 12 + 16 + 8 + 4)
    expect([octets[15], octets[22]]).toEqual([0x62, 253])
    expect(hex(octets.subarray(42, 78))).toBe(
      "0630ffff" + "00000107" + "80000005" + "0000000400000000" + "00000401" + "000f4243" + "0506070809000000",
    )
    expect([0, 1, 4].map((index) => payloadOctet(5, index))).toEqual([5, 6, 9])
  })

  test("PFC pauses as long as can be, resumes with 0", () => {
    const pfc = (flags: number) =>
      frame(
        new RoceCodec(),
        of(pool, (packet) => {
          packet.meta = Opcode.Pfc | flags | (3 << 24)
        }),
      )
    const head = "0180c2000001" + "020000000001" + "8808" + "0101" + "0008"
    expect(hex(pfc(Flag.Pause))).toBe(`${head}${"0000".repeat(3)}ffff${"0000".repeat(4)}${"00".repeat(26)}`)
    expect(hex(pfc(0))).toBe(`${head}${"0000".repeat(8)}${"00".repeat(26)}`)
  })

  test("telemetry is in front of the BTH, and the ICRC is that of the packet without it", () => {
    const stamped = new PacketPool({
      telemetryHops: 2,
      telemetryFormat: exactTelemetry,
      telemetryRates: [100e9, 400e9],
    })
    const packet = of(stamped, (each) => {
      each.meta = Opcode.WriteMiddle | Flag.Telemetry
      each.payloadBytes = 8
      each.addTelemetry()
      each.stampHop(1_234_567, 12_800, 1600, 0, 0x140)
      each.stampHop(2_345_678, 25_600, 0, 1, 0x014)
    })
    const plain = frame(new RoceCodec(), packet)
    const octets = frame(new RoceCodec({ telemetry: "hpcc" }), packet)
    expect(octets.length).toBe(plain.length + 18)
    expect(hex(octets.subarray(60))).toBe(hex(plain.subarray(42)))
    expect(hex(octets.subarray(36, 42))).toBe("bb27" + "0032" + "0000")
    // Two hops and the exclusive or of the switches; speed code, 1234 ns, 100 units of 128, 20 units of 80.
    expect(hex(octets.subarray(42, 52))).toBe("2154" + "00004d200064" + "0014")
    const ns3 = frame(new RoceCodec({ telemetry: "ns3" }), packet)
    expect(ns3.length).toBe(plain.length + 42)
    expect(hex(ns3.subarray(82, 84))).toBe("0200")
  })
})

describe("what cannot be said is refused", () => {
  const pool = new PacketPool({ telemetryHops: 6, telemetryRates: [100e9, 300e9] })

  test("another transport's opcode", () => {
    const packet = of(pool, (each) => {
      each.opcode = 0xf5
    })
    expect(() => frame(new RoceCodec(), packet)).toThrow("opcode: found 245, expected one of RoCEv2")
  })

  test("telemetry of too many switches, or of a rate without a code", () => {
    const six = of(pool, (each) => {
      each.addTelemetry()
      for (let hop = 0; hop < 6; hop++) each.stampHop(0, 0, 0, 0, 0)
    })
    expect(() => frame(new RoceCodec({ telemetry: "ns3" }), six)).toThrow("telemetry hops: found 6, expected 5 at most")
    const odd = of(pool, (each) => {
      each.addTelemetry()
      each.stampHop(0, 0, 0, 1, 0)
    })
    expect(() => frame(new RoceCodec({ telemetry: "ns3" }), odd)).toThrow("telemetry rate: found 300000000000 bit/s")
  })
})

describe("addresses", () => {
  test("are the simulator's, and lead back", () => {
    expect(ipv4OfNode(0x0102)).toBe(0x0b010201)
    for (const node of [0, 1, 255, 256, 65_535]) {
      expect(nodeOfIpv4(ipv4OfNode(node))).toBe(node)
      expect(nodeOfMac(macOfNode(node))).toBe(node)
    }
    expect([nodeOfIpv4(0x0b000100), nodeOfIpv4(0x0c000001), nodeOfMac(0x0180c2000001)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test("of queue pairs begin again when there are no more", () => {
    expect(endpointOfQp(qpOfEndpoint(12))).toBe(12)
    expect(qpOfEndpoint(ENDPOINTS_MAX - 1)).toBe(0xffffff)
    expect(qpOfEndpoint(ENDPOINTS_MAX)).toBe(0x100)
    expect(endpointOfQp(1)).toBeUndefined()
  })
})
