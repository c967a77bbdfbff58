import fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import { parseIpv6Address } from "../src/Address.ts"
import { addWords, pseudoHeader } from "../src/Checksum.ts"
import { acknowledgement, CNP, Operation, opcodeOf, parseTransport, Service } from "../src/Infiniband.ts"
import * as Node from "../src/node.ts"
import * as Roce from "../src/Roce.ts"
import { index, readCapture } from "./capture.ts"
import { hex, text } from "./octetText.ts"

const trailer = (packet: Uint8Array): string => text(packet.subarray(-4))

// B1: 10.0.0.1 to 10.0.0.2, SEND Only of 12 octets.
const B1 = hex(
  "456a003812344000401114150a0000010a000002c00112b70024812a0400ffff000000110012345668656c6c6f2072646d612100",
)
const withIcrc = (packet: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(packet.length + 4)
  whole.set(packet)
  const place = Roce.placeInIp(whole)!
  Roce.putIcrc(whole, place.icrc, Roce.icrcOf(whole, place))
  return whole
}
const changed = (change: (octets: Uint8Array) => void): string => {
  const packet = B1.slice()
  change(packet)
  return trailer(withIcrc(packet))
}

describe("the ICRC", () => {
  it("B1: of RoCEv2 over IPv4", () => {
    expect(trailer(withIcrc(B1))).toBe("2c8bee03")
  })

  test.each<readonly [string, (octets: Uint8Array) => void]>([
    ["time to live", (octets) => octets.set([1], 8)],
    ["type of service", (octets) => octets.set([0x6b], 1)],
    ["checksum of IP", (octets) => octets.set([0xab, 0xcd], 10)],
    ["checksum of UDP", (octets) => octets.set([0xab, 0xcd], 26)],
    ["FECN and BECN", (octets) => octets.set([0xc0], 32)],
    ["reserved bits", (octets) => octets.set([0x3f], 32)],
  ])("B2: %s may change", (_, change) => {
    expect(changed(change)).toBe("2c8bee03")
  })

  test.each<readonly [string, string, (octets: Uint8Array) => void]>([
    ["identification", "4980976a", (octets) => octets.set([0x12, 0x35], 4)],
    ["AckReq", "d866135f", (octets) => octets.set([0x80], 36)],
    ["MigReq", "1c922406", (octets) => octets.set([0x40], 29)],
  ])("B2: %s may not", (_, icrc, change) => {
    expect(changed(change)).toBe(icrc)
  })

  it("the other vector: UD SEND Only without payload, from its fields", () => {
    const packet = hex("4500002c0000400040110000c0000201c6336402c35012b7001800000400ffff0000000700000009")
    expect(
      Roce.icrcOf(new Uint8Array([...packet, 0, 0, 0, 0]), { carrier: "ipv4", header: 0, bth: 28, icrc: 40 }),
    ).toBe(0x94bf_304a)
    expect(trailer(withIcrc(packet))).toBe("4a30bf94")
  })

  it("B3: of RoCEv2 over IPv6", () => {
    const build = (trafficClass: number, flowLabel: number, hopLimit: number): string => {
      const octets = new Uint8Array(200)
      const end = Roce.buildRoce(
        {
          carrier: {
            kind: "ipv6",
            ethernet: undefined,
            ip: {
              trafficClass,
              flowLabel,
              hopLimit,
              source: parseIpv6Address("fd00::1")!,
              destination: parseIpv6Address("fd00::2")!,
            },
            sourcePort: 0xc001,
          },
          ...b1Transport,
        },
        octets,
      )
      return trailer(octets.subarray(0, end))
    }
    expect(build(0x6a, 0x12345, 64)).toBe("25f049b9")
    expect(build(0x6b, 0, 1)).toBe("25f049b9")
  })

  it("explains what it covers", () => {
    const packet = withIcrc(B1)
    const parts = Roce.icrcParts(packet, Roce.placeInIp(packet)!)
    expect(parts.map(({ start, octets }) => [start, octets.length])).toEqual([
      [-1, 8],
      [0, 40],
      [40, 12],
    ])
    const masked = [...parts[1]!.masks.entries()].filter(([, mask]) => mask !== 0)
    expect(masked).toEqual([1, 8, 10, 11, 26, 27, 32].map((at) => [at, 0xff]))
    const covered = Buffer.concat(parts.map(({ octets }) => octets))
    expect(Node.crc32(covered)).toBe(Roce.readIcrc(packet, 52))
  })
})

const b1Transport = {
  bth: {
    opcode: Service.Rc | Operation.SendOnly,
    solicited: false,
    migrated: false,
    partition: 0xffff,
    fecn: false,
    becn: false,
    destinationQp: 0x11,
    ackRequest: false,
    psn: 0x123456,
  },
  headers: {},
  payload: hex("68656c6c6f2072646d612100"),
} as const
const b1Ip = {
  trafficClass: 0x6a,
  identification: 0x1234,
  dontFragment: true,
  ttl: 64,
  source: 0x0a00_0001,
  destination: 0x0a00_0002,
  options: new Uint8Array(0),
}
const b1Carrier = { kind: "ipv4", ethernet: undefined, ip: b1Ip, sourcePort: 0xc001 } as const

describe("the builder", () => {
  it("B1: makes the packet from its fields, with a right UDP checksum on demand", () => {
    const octets = new Uint8Array(56)
    expect(Roce.buildRoce({ carrier: b1Carrier, ...b1Transport }, octets)).toBe(56)
    expect(text(octets.subarray(0, 26))).toBe(text(B1.subarray(0, 26)))
    expect(text(octets.subarray(26))).toBe(`0000${text(B1.subarray(28))}2c8bee03`)
    Roce.buildRoce({ carrier: { ...b1Carrier, udpChecksum: true }, ...b1Transport }, octets)
    expect(addWords(pseudoHeader(octets, 12, 4, 17, 36), octets, 20, 56) % 0xffff).toBe(0)
    expect(Roce.checkIcrc(octets, Roce.placeInIp(octets)!)).toBe("right")
  })

  it("B4: a congestion notification", () => {
    const octets = new Uint8Array(60)
    const bth = { ...b1Transport.bth, opcode: CNP, becn: true, psn: 0 }
    const end = Roce.buildRoce({ carrier: b1Carrier, bth, headers: { cnp: {} }, payload: new Uint8Array(0) }, octets)
    expect(end).toBe(60)
    expect(trailer(octets)).toBe("1d1dbfb0")
    expect(opcodeOf(0x80)?.code).not.toBe(CNP)
  })

  const gid = fc.uint8Array({ minLength: 16, maxLength: 16 })
  const grh = fc.record({
    trafficClass: fc.nat(255),
    flowLabel: fc.nat(0xfffff),
    hopLimit: fc.nat(255),
    sourceGid: gid,
    destinationGid: gid,
  })
  const lrh = fc.record({
    virtualLane: fc.nat(15),
    serviceLevel: fc.nat(15),
    destinationLid: fc.nat(0xffff),
    sourceLid: fc.nat(0xffff),
  })
  const ethernet = fc.constant({ destination: 1, source: 2, tags: [] })
  const carrier: fc.Arbitrary<Roce.RoceCarrier> = fc.oneof(
    fc.record({ kind: fc.constant("rocev1" as const), ethernet, grh }),
    fc.record({ kind: fc.constant("local" as const), lrh }),
    fc.record({ kind: fc.constant("global" as const), lrh, grh }),
    fc.record({
      kind: fc.constant("ipv4" as const),
      ethernet: fc.constant(undefined),
      ip: fc.constant(b1Ip),
      sourcePort: fc.nat(0xffff),
      udpChecksum: fc.boolean(),
    }),
  )

  it("B12: whatever carries it, what is built has right CRCs, and a change of what is covered makes them wrong", () => {
    fc.assert(
      fc.property(carrier, fc.uint8Array({ maxLength: 300 }), fc.nat(), (each, payload, flip) => {
        const packet = { carrier: each, ...b1Transport, payload }
        const octets = new Uint8Array(Roce.rocePacketBytes(packet))
        expect(Roce.buildRoce(packet, octets)).toBe(octets.length)
        const native = each.kind === "local" || each.kind === "global"
        const find = native ? Roce.placeInInfiniband : each.kind === "rocev1" ? Roce.placeInEthernet : Roce.placeInIp
        const place = find(octets)!
        expect(place.carrier).toBe(each.kind)
        expect(Roce.checkIcrc(octets, place)).toBe("right")
        expect(Node.checkIcrc(octets, place)).toBe("right")
        if (native) expect(Roce.checkVcrc(octets, 0, octets.length - 2)).toBe("right")
        const transport = parseTransport(octets, place.bth, place.icrc + 4)
        expect(transport).toMatchObject({ ok: true, faults: [], value: { bth: { padBytes: -payload.length & 3 } } })
        if (payload.length === 0) return
        octets[place.bth + 12 + (flip % payload.length)]! ^= 1
        expect(Roce.checkIcrc(octets, place)).toBe("wrong")
        if (native) expect(Roce.checkVcrc(octets, 0, octets.length - 2)).toBe("wrong")
        expect(Roce.checkIcrc(octets.subarray(0, place.icrc + 3), place)).toBe("cut")
      }),
    )
  })

  it("refuses headers that are not the opcode's", () => {
    const build = (opcode: number, headers: Roce.RocePacket["headers"], payload = new Uint8Array(0)) =>
      Roce.buildRoce({ carrier: b1Carrier, bth: { ...b1Transport.bth, opcode }, headers, payload }, new Uint8Array(200))
    const aeth = { syndrome: acknowledgement(), msn: 1 }
    expect(build(0x11, { aeth })).toBe(48)
    expect(() => build(0x11, {})).toThrow("expected a aeth")
    expect(() => build(0x04, { aeth })).toThrow("no aeth")
    expect(() => build(0x11, { aeth }, new Uint8Array(4))).toThrow("bth.payload")
    expect(() => build(0x15, {})).toThrow("bth.opcode")
  })
})

describe("the captures", () => {
  test.each(index)("$name: $icrcRight ICRCs are right of $roce", ({ name, frames, roce, icrcRight }) => {
    const packets = readCapture(name)
    expect(packets).toHaveLength(frames)
    const places = packets.flatMap(({ octets, wireBytes }) => {
      const place = Roce.placeInEthernet(octets, 0, wireBytes)
      return place === undefined ? [] : [{ octets, place }]
    })
    expect(places).toHaveLength(roce)
    expect(places.filter(({ octets, place }) => Roce.checkIcrc(octets, place) === "right")).toHaveLength(icrcRight)
    expect(places.filter(({ octets, place }) => Node.checkIcrc(octets, place) === "right")).toHaveLength(icrcRight)
  })

  it("B5: an FCS or padding after the packet does not move the ICRC", () => {
    const { octets } = readCapture("rc_send_256_v4").find((frame) => Roce.placeInEthernet(frame.octets) !== undefined)!
    const longer = new Uint8Array(octets.length + 4).fill(0xee)
    longer.set(octets)
    expect(Roce.placeInEthernet(longer)).toEqual(Roce.placeInEthernet(octets))
    expect(Roce.checkIcrc(longer, Roce.placeInEthernet(longer)!)).toBe("right")
  })

  it("B9: a packet that is cut is told as such", () => {
    const { octets } = readCapture("rc_send_256_v4").find((frame) => Roce.placeInEthernet(frame.octets) !== undefined)!
    const cut = octets.subarray(0, 100)
    expect(Roce.checkIcrc(cut, Roce.placeInEthernet(cut, 0, octets.length)!)).toBe("cut")
    expect(Roce.placeInEthernet(cut)).toBeUndefined()
  })
})

describe("conversions", () => {
  // Local and remote number are equal in these captures, and there is no flow label.
  test.each([
    [0x11, 49_441],
    [0x14, 49_552],
    [0x16, 49_636],
    [0x19, 49_777],
    [0x1b, 49_881],
  ])("the source port of queue pairs %i is what Linux sent", (qp, port) => {
    expect(Roce.connectionSourcePort(0, qp, qp)).toBe(port)
  })

  test.each([
    [1, 55_410],
    [0x17, 62_017],
  ])("and of datagrams of queue pair %i", (qp, port) => {
    expect(Roce.datagramSourcePort(qp)).toBe(port)
  })

  it("both sides compute the same label, of 20 bits", () => {
    fc.assert(
      fc.property(fc.nat(0xff_ffff), fc.nat(0xff_ffff), (a, b) => {
        let v = BigInt(a) * BigInt(b)
        v ^= v >> 20n
        v ^= v >> 40n
        expect(Roce.flowLabelOf(a, b)).toBe(Number(v & 0xf_ffffn))
        expect(Roce.flowLabelOf(b, a)).toBe(Roce.flowLabelOf(a, b))
        expect(Roce.sourcePortOf(Roce.flowLabelOf(a, b))).toBeGreaterThanOrEqual(0xc000)
      }),
    )
    expect(Roce.connectionSourcePort(0x12345, 1, 2)).toBe(0xc000 | (0x2345 ^ 4))
  })

  it("B17: traffic class, DSCP and ECN", () => {
    expect([106, 104, 3].map((octet) => [Roce.dscpOf(octet), Roce.ecnOf(octet)])).toEqual([
      [26, Roce.Ecn.Capable0],
      [26, Roce.Ecn.NotCapable],
      [0, Roce.Ecn.CongestionExperienced],
    ])
    expect(Roce.trafficClassOf(26, Roce.Ecn.Capable0)).toBe(106)
    expect(() => Roce.trafficClassOf(64, 0)).toThrow("ip.dscp")
  })

  it("MTUs", () => {
    expect([1, 2, 3, 4, 5].map(Roce.mtuOfCode)).toEqual([256, 512, 1024, 2048, 4096])
    expect([0, 6].map(Roce.mtuOfCode)).toEqual([undefined, undefined])
    expect(Roce.PATH_MTUS.map(Roce.codeOfMtu)).toEqual([1, 2, 3, 4, 5])
    expect(() => Roce.codeOfMtu(1000)).toThrow("roce.mtu")
    expect([351, 352, 1500, 4191, 4192, 9000].map(Roce.pathMtuOf)).toEqual([undefined, 256, 1024, 2048, 4096, 4096])
  })
})
