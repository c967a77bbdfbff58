import { WrOpcode } from "@rdmakit/protocol"
import { mappedGid, parseIpv6Address } from "@rdmakit/wire/address"
import { parseArp } from "@rdmakit/wire/arp"
import { parseEthernet } from "@rdmakit/wire/ethernet"
import { icrcOf, placeInEthernet, readIcrc } from "@rdmakit/wire/roce"
import { describe, expect, it } from "vitest"
import { Endpoint, QUEUE_KEY } from "./pair.ts"
import { hex, openTapped, textOf } from "./tap.ts"

const US = "52540000 0002"
const THEM = "52540000 0001"
const pad = (text: string, bytes: number): Uint8Array => {
  const octets = new Uint8Array(bytes)
  octets.set(hex(text))
  return octets
}

const ARP_REQUEST = pad(`ffffffffffff ${THEM} 0806 0001 0800 06 04 0001 ${THEM} 0a000001 000000000000 0a000002`, 60)
const ARP_REPLY = pad(`${US} ${THEM} 0806 0001 0800 06 04 0002 ${THEM} 0a000001 ${US} 0a000002`, 60)

describe("a host on Ethernet answers", () => {
  it("ARP for its own address (RFC 826)", async () => {
    const { softnic, tap } = await openTapped()
    tap.give(ARP_REQUEST)
    const reply = pad(`${THEM} ${US} 0806 0001 0800 06 04 0002 ${US} 0a000002 ${THEM} 0a000001`, 60)
    expect(tap.take().map(textOf)).toEqual([textOf(reply)])
    const other = ARP_REQUEST.slice()
    other[41] = 3
    tap.give(other)
    expect(tap.take()).toEqual([])
    expect(softnic.counters.answers).toBe(1)
    softnic.close()
  })

  it("echo over IPv4 (RFC 792)", async () => {
    const { softnic, tap } = await openTapped()
    // As ping of iputils sends it, eight octets of payload.
    const request = pad(
      `${US} ${THEM} 0800 4500 0024 1234 4000 40 01 1493 0a000001 0a000002 0800 3f1a 0007 0001 6162636465666768`,
      60,
    )
    const sums = fixSums(request)
    tap.give(sums)
    const reply = pad(
      `${THEM} ${US} 0800 4500 0024 0000 4000 40 01 26d3 0a000002 0a000001 0000 0000 0007 0001 6162636465666768`,
      60,
    )
    expect(tap.take().map(textOf)).toEqual([textOf(fixSums(reply))])
    const wrong = sums.slice()
    wrong[44]! ^= 1
    tap.give(wrong)
    expect(tap.take()).toEqual([])
    softnic.close()
  })

  const NEIGHBOR_OPTIONS = `0101 ${THEM}`
  it("neighbour solicitations (RFC 4861 §7.2.4)", async () => {
    const { softnic, tap } = await openTapped()
    const group = "ff0200000000000000000001ff000002"
    const from = "fd000000000000000000000000000001"
    const target = "fd000000000000000000000000000002"
    const solicitation = fixSums(
      hex(
        `3333ff000002 ${THEM} 86dd 60000000 0020 3a ff ${from} ${group} 8700 0000 00000000 ${target} ${NEIGHBOR_OPTIONS}`,
      ),
    )
    tap.give(solicitation)
    const answer = hex(
      `${THEM} ${US} 86dd 60000000 0020 3a ff ${target} ${from} 8800 0000 60000000 ${target} 0201 ${US}`,
    )
    expect(tap.take().map(textOf)).toEqual([textOf(fixSums(answer))])

    // Of somebody who has no address yet: all nodes are told (§7.2.4).
    const anonymous = fixSums(
      hex(`3333ff000002 ${THEM} 86dd 60000000 0018 3a ff ${"00".repeat(16)} ${group} 8700 0000 00000000 ${target}`),
    )
    tap.give(anonymous)
    const all = hex(
      `333300000001 ${US} 86dd 60000000 0020 3a ff ${target} ff020000000000000000000000000001 8800 0000 20000000 ${target} 0201 ${US}`,
    )
    expect(tap.take().map(textOf)).toEqual([textOf(fixSums(all))])

    const far = solicitation.slice()
    far[21] = 254
    tap.give(far)
    expect(tap.take()).toEqual([])
    softnic.close()
  })

  it("echo over IPv6 (RFC 4443 §4.2), at its link-local address too", async () => {
    const { softnic, tap } = await openTapped()
    for (const own of ["fd000000000000000000000000000002", "fe80000000000000505400fffe000002"]) {
      const peer = "fe80000000000000505400fffe000001"
      tap.give(fixSums(hex(`${US} ${THEM} 86dd 60000000 000c 3a 40 ${peer} ${own} 8000 0000 0007 0001 61626364`)))
      const reply = fixSums(hex(`${THEM} ${US} 86dd 60000000 000c 3a 40 ${own} ${peer} 8100 0000 0007 0001 61626364`))
      expect(tap.take().map(textOf)).toEqual([textOf(reply)])
    }
    softnic.close()
  })

  it("nothing while the cable takes nothing", async () => {
    const { softnic, tap } = await openTapped()
    tap.pending = 1
    for (let count = 0; count < 1000; count++) tap.give(ARP_REQUEST)
    expect(tap.take()).toEqual([])
    tap.pending = 0
    softnic.close()
    expect(tap.closed).toBe(true)
  })
})

/** Fills in the checksums of an IPv4 header, of ICMP and of ICMPv6. */
function fixSums(frame: Uint8Array): Uint8Array {
  const octets = frame.slice()
  const sum = (start: number, end: number, initial = 0): number => {
    let total = initial
    for (let at = start; at < end; at += 2) total += (octets[at]! << 8) | (octets[at + 1] ?? 0)
    while (total > 0xffff) total = (total & 0xffff) + (total >>> 16)
    return ~total & 0xffff
  }
  const put = (at: number, start: number, end: number, initial = 0): void => {
    octets.fill(0, at, at + 2)
    const value = sum(start, end, initial)
    octets[at] = value >> 8
    octets[at + 1] = value
  }
  if (octets[12] === 0x08) {
    put(24, 14, 34)
    put(36, 34, 14 + ((octets[16]! << 8) | octets[17]!))
  } else {
    const bytes = (octets[18]! << 8) | octets[19]!
    let pseudo = bytes + 58
    for (let at = 22; at < 54; at += 2) pseudo += (octets[at]! << 8) | octets[at + 1]!
    put(56, 54, 54 + bytes, pseudo)
  }
  return octets
}

/** A datagram of eight octets to a peer's queue pair 5. */
const post = (endpoint: Endpoint, gid: Uint8Array, count = 1): void => {
  const address = endpoint.pd.createAh(endpoint.vector(gid))
  for (let index = 0; index < count; index++) {
    endpoint.qp.postSend({
      id: index,
      opcode: WrOpcode.Send,
      sges: [endpoint.sge(0, 8)],
      signaled: false,
      datagram: { address, qpn: 5, queueKey: QUEUE_KEY },
    })
  }
}
const later = (ms = 5): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe("neighbours", () => {
  const opened = async (...args: Parameters<typeof openTapped>) => {
    const { softnic, tap } = await openTapped(...args)
    const endpoint = new Endpoint(softnic, "ud", 1, 4096)
    endpoint.activate(QUEUE_KEY)
    return { softnic, tap, endpoint }
  }

  it("are asked for by ARP before the first packet, which waits", async () => {
    const { softnic, tap, endpoint } = await opened()
    post(endpoint, mappedGid(0x0a00_0001), 3)
    await later()
    const asked = tap.take()
    expect(asked.map(textOf)).toEqual([
      textOf(pad(`ffffffffffff ${US} 0806 0001 0800 06 04 0001 ${US} 0a000002 000000000000 0a000001`, 60)),
    ])
    tap.give(ARP_REPLY)
    const sent = tap.take()
    expect(sent.length).toBe(3)
    for (const frame of sent) {
      expect(textOf(frame.subarray(0, 14))).toBe(`${THEM}${US}0800`.replaceAll(" ", ""))
      const place = placeInEthernet(frame)!
      expect(icrcOf(frame, place)).toBe(readIcrc(frame, place.icrc))
    }
    post(endpoint, mappedGid(0x0a00_0001))
    await later()
    expect(tap.take().length).toBe(1)
    softnic.close()
  })

  it("are known from what they ask themselves, and by a new MAC", async () => {
    const { softnic, tap, endpoint } = await opened()
    post(endpoint, mappedGid(0x0a00_0001))
    await later()
    tap.take()
    tap.give(ARP_REQUEST)
    expect(tap.take().map((frame) => frame[13])).toEqual([0x00, 0x06])
    const moved = ARP_REQUEST.slice()
    moved.set(hex("525400000077"), 22)
    tap.give(moved)
    tap.take()
    post(endpoint, mappedGid(0x0a00_0001))
    await later()
    expect(tap.take().map((frame) => textOf(frame.subarray(0, 6)))).toEqual(["525400000077"])
    softnic.close()
  })

  it("are given up after thirty questions, and so are more packets than may wait", async () => {
    const { softnic, tap, endpoint } = await opened()
    post(endpoint, mappedGid(0x0a00_0001), 100)
    await later(20)
    expect(softnic.counters.unresolved).toBe(36)
    await later(3200)
    const asked = tap.take()
    expect(asked.map((frame) => (parseEthernet(frame).ok ? parseArp(frame, 14).ok : false))).toEqual(
      Array(30).fill(true),
    )
    expect(softnic.counters.unresolved).toBe(100)
    softnic.close()
  }, 10_000)

  it("of IPv6 are asked for by solicitation", async () => {
    const { softnic, tap } = await openTapped()
    const endpoint = new Endpoint(softnic, "ud", 2, 4096)
    endpoint.activate(QUEUE_KEY)
    post(endpoint, parseIpv6Address("fd00::1:2345")!)
    await later()
    const own = "fd000000000000000000000000000002"
    const target = "fd000000000000000000000000012345"
    const asked = fixSums(
      hex(
        `3333ff012345 ${US} 86dd 60000000 0020 3a ff ${own} ff0200000000000000000001ff012345 8700 0000 00000000 ${target} 0101 ${US}`,
      ),
    )
    expect(tap.take().map(textOf)).toEqual([textOf(asked)])
    tap.give(
      fixSums(hex(`${US} ${THEM} 86dd 60000000 0020 3a ff ${target} ${own} 8800 0000 60000000 ${target} 0201 ${THEM}`)),
    )
    expect(tap.take().map((frame) => textOf(frame.subarray(0, 14)))).toEqual([`${THEM}${US}86dd`.replaceAll(" ", "")])
    softnic.close()
  })

  it("of another network are reached over the gateway, and nobody without one", async () => {
    const { softnic, tap, endpoint } = await opened({ gateways: ["10.0.0.254"] })
    post(endpoint, mappedGid(0xc0a8_0101))
    await later()
    expect(tap.take().map((frame) => textOf(frame.subarray(38, 42)))).toEqual(["0a0000fe"])
    softnic.close()
    const alone = await opened()
    const vector = alone.endpoint.vector(mappedGid(0xc0a8_0101))
    expect(() => alone.endpoint.pd.createAh(vector)).toThrow("EHOSTUNREACH")
    alone.softnic.close()
  })

  it("a packet to oneself does not leave the host", async () => {
    const { softnic, tap, endpoint } = await opened()
    const address = endpoint.pd.createAh(endpoint.vector(endpoint.gid))
    endpoint.qp.postRecv({ id: 9, sges: [endpoint.sge(1024, 100)] })
    endpoint.octets.set([1, 2, 3, 4])
    endpoint.qp.postSend({
      id: 1,
      opcode: WrOpcode.Send,
      sges: [endpoint.sge(0, 4)],
      signaled: false,
      datagram: { address, qpn: endpoint.qp.qpn, queueKey: QUEUE_KEY },
    })
    expect((await endpoint.completions(1))[0]).toMatchObject({ id: 9, byteLength: 44, sourceQp: endpoint.qp.qpn })
    expect([...endpoint.octets.subarray(1064, 1068)]).toEqual([1, 2, 3, 4])
    expect(tap.take()).toEqual([])
    softnic.close()
  })

  it("a group's MAC is known, and its packets are taken by who joined", async () => {
    const { softnic, tap, endpoint } = await opened()
    const gid = mappedGid(0xe000_0105)
    const address = endpoint.pd.createAh(endpoint.vector(gid))
    const datagram = { address, qpn: 0xff_ffff, queueKey: QUEUE_KEY }
    const send = { id: 1, opcode: WrOpcode.Send, sges: [endpoint.sge(0, 4)], signaled: false, datagram } as const
    endpoint.qp.postSend(send)
    await later()
    const [frame] = tap.take()
    expect(textOf(frame!.subarray(0, 6))).toBe("01005e000105")
    tap.give(frame!)
    expect(softnic.counters.noQueuePair).toBe(1)
    endpoint.qp.attachMulticast(gid)
    endpoint.qp.postRecv({ id: 9, sges: [endpoint.sge(1024, 100)] })
    tap.give(frame!)
    expect((await endpoint.completions(1))[0]).toMatchObject({ id: 9 })
    endpoint.qp.detachMulticast(gid)
    tap.give(frame!)
    expect(softnic.counters.noQueuePair).toBe(2)
    softnic.close()
  })

  it("with a VLAN everything has its tag, and other frames are not taken", async () => {
    const { softnic, tap, endpoint } = await opened({ vlan: 7 })
    post(endpoint, mappedGid(0x0a00_0001))
    await later()
    const [asked] = tap.take()
    expect(textOf(asked!.subarray(12, 18))).toBe("810000070806")
    tap.give(ARP_REPLY)
    expect(tap.take()).toEqual([])
    expect(softnic.counters.notOurs).toBe(1)
    const tagged = new Uint8Array([...ARP_REPLY.subarray(0, 12), 0x81, 0, 0, 7, ...ARP_REPLY.subarray(12)])
    tap.give(tagged)
    const sent = tap.take()
    expect(sent.map((frame) => textOf(frame.subarray(12, 18)))).toEqual(["810000070800"])
    softnic.close()
  })

  it("the link MTU gives the path MTU, and takes no longer frames", async () => {
    for (const [mtuBytes, pathMtu] of [
      [1500, 1024],
      [4200, 4096],
      [400, 256],
    ] as const) {
      const { softnic, tap } = await openTapped({ mtuBytes })
      expect(softnic.device.queryPort(1).activeMtuBytes).toBe(pathMtu)
      tap.give(new Uint8Array(mtuBytes + 15))
      expect(softnic.counters.otherProtocols).toBe(1)
      softnic.close()
    }
    await expect(openTapped({ mtuBytes: 300 })).rejects.toThrow("mtuBytes: found 300, expected 352 at least")
  })

  it("packets that the cable keeps are given back when it has sent them", async () => {
    const { softnic, tap, endpoint } = await opened()
    post(endpoint, mappedGid(0x0a00_0001))
    await later()
    tap.give(ARP_REPLY)
    tap.take()
    tap.keeps = true
    post(endpoint, mappedGid(0x0a00_0001), 10)
    await later(20)
    expect(tap.take().length).toBe(1)
    tap.keeps = false
    tap.pending = 0
    await later(20)
    expect(tap.take().length).toBe(9)
    softnic.close()
  })
})
