import { PcapWriter } from "@rdmakit/pcap"
import { mappedGid } from "@rdmakit/wire/address"
import { crc32 } from "@rdmakit/wire/crc"
import { acknowledgement, Operation, Service } from "@rdmakit/wire/infiniband"
import { buildRoce, type RoceCarrier, rocePacketBytes } from "@rdmakit/wire/roce"
import { describe, expect, it, test } from "vitest"
import { flowRows, Observer, Overview, Verifier } from "../src/index.ts"
import { packetsOf } from "./capture.ts"
import { analysed, send } from "./synthetic.ts"

const lrh = { virtualLane: 0, serviceLevel: 0, destinationLid: 4, sourceLid: 3 }
const grh = {
  trafficClass: 2,
  flowLabel: 7,
  hopLimit: 64,
  sourceGid: mappedGid(0x0a000001),
  destinationGid: mappedGid(0x0a000002),
}

/** A SEND, or its acknowledgement, as octets. */
const packet = (carrier: RoceCarrier, isAnswer = false): Uint8Array => {
  const value = {
    carrier,
    bth: {
      opcode: Service.Rc | (isAnswer ? Operation.Acknowledge : Operation.SendOnly),
      solicited: false,
      migrated: true,
      partition: 0xffff,
      fecn: false,
      becn: false,
      destinationQp: isAnswer ? 0x12 : 0x11,
      ackRequest: !isAnswer,
      psn: 77,
    },
    headers: isAnswer ? { aeth: { syndrome: acknowledgement(), msn: 1 } } : {},
    payload: new Uint8Array(isAnswer ? 0 : 50),
  }
  const octets = new Uint8Array(rocePacketBytes(value))
  buildRoce(value, octets)
  return octets
}

const capture = (linkType: number, ...frames: ReadonlyArray<Uint8Array>) => {
  const chunks: Array<Uint8Array> = []
  const writer = new PcapWriter({ linkType }, (octets) => chunks.push(octets))
  frames.forEach((octets, index) => {
    writer.packet(BigInt(index) * 1000n, octets)
  })
  writer.flush()
  return packetsOf(new Uint8Array(Buffer.concat(chunks)))
}

const verdicts = (packets: ReturnType<typeof capture>) => {
  const verifier = new Verifier(crc32)
  for (const each of packets) verifier.packet(each)
  return verifier.end()
}

const erf = (octets: Uint8Array): Uint8Array => {
  const head = new Uint8Array(16)
  head[8] = 21
  const view = new DataView(head.buffer)
  view.setUint16(10, 16 + octets.length)
  view.setUint16(14, octets.length)
  return new Uint8Array(Buffer.concat([head, octets]))
}

const local: RoceCarrier = { kind: "local", lrh }
const back: RoceCarrier = { kind: "local", lrh: { ...lrh, destinationLid: 3, sourceLid: 4 } }
const global: RoceCarrier = { kind: "global", lrh, grh }
const rocev1: RoceCarrier = { kind: "rocev1", ethernet: { destination: 2, source: 1, tags: [] }, grh }

describe("every carrier", () => {
  test.each<readonly [string, number, Uint8Array, number]>([
    ["InfiniBand without a GRH", 247, packet(local), 1],
    ["InfiniBand with a GRH", 247, packet(global), 1],
    ["InfiniBand in ERF", 197, erf(packet(local)), 1],
    ["RoCEv1", 1, packet(rocev1), 0],
    ["RoCEv2 in IP alone", 101, send(0, 77).octets.subarray(14), 0],
  ])("%s", (_, linkType, octets, vcrcOk) => {
    expect(verdicts(capture(linkType, octets))).toMatchObject({ roce: 1, icrcOk: 1, icrcBad: [], vcrcOk, vcrcBad: 0 })
    const spoiled = octets.slice()
    spoiled[octets.length - 12]! ^= 1
    expect(verdicts(capture(linkType, spoiled))).toMatchObject({ icrcOk: 0, icrcBad: [1], vcrcOk: 0, vcrcBad: vcrcOk })
  })

  it("what a link changes breaks the VCRC alone", () => {
    const octets = packet(local)
    // The virtual lane.
    octets[0]! |= 0x30
    expect(verdicts(capture(247, octets))).toMatchObject({ icrcOk: 1, vcrcOk: 0, vcrcBad: 1 })
  })

  it("queue pairs between LIDs are followed both ways", () => {
    const rows = flowRows(analysed(capture(247, packet(local), packet(back, true))))
    expect(rows).toMatchObject([
      {
        source: "LID 3",
        destination: "LID 4",
        qp: 0x11,
        sourceQp: 0x12,
        messages: 1,
        messageBytes: 50,
        ackMaxNs: 1000,
      },
      { source: "LID 4", destination: "LID 3", qp: 0x12, acks: 1 },
    ])
  })
})

describe("inside a tunnel", () => {
  const inner = send(0, 77).octets
  const outer = (protocol: number, payload: Uint8Array): Uint8Array => {
    const head = new Uint8Array(34)
    head.set([0x08, 0x00, 0x45], 12)
    const view = new DataView(head.buffer)
    view.setUint16(16, 20 + payload.length)
    head[22] = 64
    head[23] = protocol
    head.set([192, 0, 2, 1, 192, 0, 2, 2], 26)
    let sum = 0
    for (let at = 14; at < 34; at += 2) sum += view.getUint16(at)
    view.setUint16(24, ~((sum & 0xffff) + (sum >> 16)) & 0xffff)
    return new Uint8Array(Buffer.concat([head, payload]))
  }
  const udp = (port: number, payload: Uint8Array): Uint8Array => {
    const head = new Uint8Array(8)
    const view = new DataView(head.buffer)
    view.setUint16(0, 50_000)
    view.setUint16(2, port)
    view.setUint16(4, 8 + payload.length)
    return new Uint8Array(Buffer.concat([head, payload]))
  }
  const vxlan = outer(17, udp(4789, new Uint8Array(Buffer.concat([Buffer.from("0800000000002a00", "hex"), inner]))))
  const gre = outer(47, new Uint8Array(Buffer.concat([Buffer.from("00006558", "hex"), inner])))
  const erspan = outer(
    47,
    new Uint8Array(Buffer.concat([Buffer.from("100088be00000001" + "1007000100000000", "hex"), inner])),
  )

  test.each([
    ["VXLAN", vxlan],
    ["GRE", gre],
    ["ERSPAN", erspan],
  ])("%s", (_, octets) => {
    const packets = capture(1, octets)
    expect(verdicts(packets)).toMatchObject({ roce: 1, icrcOk: 1, icrcBad: [] })
    const observer = new Observer()
    const sighting = observer.observe(packets[0]!)
    expect(sighting).toMatchObject({ isTunnelled: true, psn: 77, destinationQp: 0x11 })
    expect(observer.addresses.text(sighting.source)).toBe("10.0.0.1")
    const overview = new Overview()
    overview.packet(packets[0]!, sighting)
    expect(overview.counts()).toMatchObject({ tunnelled: 1, operations: { "RC SEND only": 1 } })
  })
})
