import { createSocket } from "node:dgram"
import { connect } from "node:net"
import { WrOpcode } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { mappedGid } from "@rdmakit/wire/address"
import { icrcOf, placeInEthernet, putIcrc } from "@rdmakit/wire/roce"
import { describe, expect, it, vi } from "vitest"
import { Clock, openSoftnic, type Softnic } from "../src/index.ts"
import { IDLE_MAX } from "../src/Peers.ts"
import { PEERS_MAX, type SoftWorld } from "../src/SoftWorld.ts"
import { UdpCable } from "../src/UdpCable.ts"
import type { UdpSocket } from "../src/UdpSocket.ts"
import { joints } from "./joints.ts"
import { Endpoint, fill, openPair } from "./pair.ts"
import { hex, openTapped, type Tap } from "./tap.ts"

const alive = (softnic: Softnic): number => (softnic.device.world as SoftWorld).packetsAlive

/** A connected queue pair behind a tap, and a frame that its peer could have sent. */
const victim = async (): Promise<{ softnic: Softnic; tap: Tap; endpoint: Endpoint; frame: Uint8Array }> => {
  const { softnic, tap } = await openTapped()
  const endpoint = new Endpoint(softnic, "rc", 1, 8192)
  const peerGid = endpoint.gid.slice()
  peerGid[15] = 1
  const peer = { gid: peerGid, qp: { qpn: 0x17 } } as unknown as Endpoint
  endpoint.connect(peer, { psn: 0, peerPsn: 100, timeout: 0 })
  tap.take()
  return { softnic, tap, endpoint, frame: writeFrame(endpoint) }
}

/** A WRITE of 16 octets to an endpoint, from 10.0.0.1. */
const writeFrame = (endpoint: Endpoint): Uint8Array => {
  const address = endpoint.region.iova.toString(16).padStart(16, "0")
  const key = endpoint.region.rkey.toString(16).padStart(8, "0")
  const qpn = endpoint.qp.qpn.toString(16).padStart(6, "0")
  const bth = `0a40ffff 00${qpn} 80000064`
  const frame = hex(
    `525400000002 525400000001 0800 4500004c 00004000 4011 26a1 0a000001 0a000002 c000 12b7 0038 0000 ${bth} ${address} ${key} 00000010 ${"a5".repeat(16)} 00000000`,
  )
  return sealed(checked(frame))
}
const checked = (frame: Uint8Array): Uint8Array => {
  frame.fill(0, 24, 26)
  let sum = 0
  for (let at = 14; at < 34; at += 2) sum += (frame[at]! << 8) | frame[at + 1]!
  sum = (sum & 0xffff) + (sum >>> 16)
  frame[24] = ~sum >> 8
  frame[25] = ~sum
  return frame
}
const sealed = (frame: Uint8Array): Uint8Array => {
  const place = placeInEthernet(frame)!
  putIcrc(frame, place.icrc, icrcOf(frame, place))
  return frame
}

describe("floods", () => {
  it("of frames that are nothing, or nearly something, change nothing and keep nothing", async () => {
    const { softnic, tap, endpoint, frame } = await victim()
    const random = new Random(11)
    const before = alive(softnic)
    tap.give(frame)
    expect([...endpoint.octets.subarray(0, 16)]).toEqual(new Array(16).fill(0xa5))
    endpoint.octets.fill(0)
    expect(softnic.counters.rxPackets).toBe(1)
    const given = 60_000
    for (let count = 0; count < given; count++) {
      const kind = count % 3
      const octets = kind === 0 ? new Uint8Array(random.int(300)).map(() => random.int(256)) : frame.slice()
      if (kind !== 0)
        for (let change = random.int(3) + 1; change > 0; change--) octets[random.int(octets.length)] = random.int(256)
      // Every other one passes the ICRC, so that what comes after it is tried as well.
      if (kind === 2 && placeInEthernet(octets) !== undefined && octets[14] === 0x45) sealed(checked(octets))
      tap.give(octets)
      if (count % 1000 === 0) tap.take()
    }
    expect(alive(softnic)).toBe(before)
    const { counters } = softnic
    const dropped = counters.icrcErrors + counters.malformed + counters.otherProtocols + counters.notOurs
    expect(dropped + counters.rxPackets + counters.answers).toBeGreaterThanOrEqual(given)
    expect(
      Math.min(counters.icrcErrors, counters.malformed, counters.otherProtocols, counters.notOurs),
    ).toBeGreaterThan(100)
    softnic.close()
  }, 30_000)

  it("of questions and of unknown senders are not remembered", async () => {
    const { softnic, tap, endpoint, frame } = await victim()
    const before = process.memoryUsage().heapUsed
    for (let count = 0; count < 100_000; count++) {
      const octets = frame.slice()
      octets[29] = count
      octets[28] = count >> 8
      octets[27] = count >> 16
      octets[34] = 0xc0 | (count & 0x3f)
      tap.give(sealed(checked(octets)))
      if (count % 100 === 0) tap.take()
    }
    globalThis.gc?.()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 << 20)
    expect(softnic.counters.rxPackets).toBe(100_000)
    expect(alive(softnic)).toBe(0)
    expect(endpoint.qp.state).toBe(3)
    softnic.close()
  }, 30_000)

  it("of strangers that are answered leave a program's peers alone, and room for more", async () => {
    const { softnic, tap } = await openTapped({ gateways: ["10.0.0.254"] })
    const endpoint = new Endpoint(softnic, "rc", 1, 8192)
    const peerGid = mappedGid(0x0a00_0001)
    const peer = { gid: peerGid, qp: { qpn: 0x17 } } as unknown as Endpoint
    endpoint.connect(peer, { psn: 0, peerPsn: 100, timeout: 0 })
    const forgetPeer = vi.spyOn(softnic.device, "forgetPeer")
    // One more than there are numbers.
    for (let count = 0; count <= PEERS_MAX; count++)
      endpoint.pd.createAh(endpoint.vector(mappedGid(0x0b00_0000 + count))).destroy()
    expect(forgetPeer).toHaveBeenCalledTimes(PEERS_MAX + 1 - IDLE_MAX)
    endpoint.pd.createAh(endpoint.vector(mappedGid(0x0c00_0001)))
    tap.give(writeFrame(endpoint))
    expect([...endpoint.octets.subarray(0, 16)]).toEqual(new Array(16).fill(0xa5))
    softnic.close()
  }, 30_000)

  it("of datagrams at a socket leave a conversation alone", async () => {
    const pair = await openPair(joints[0]!)
    const { left, right } = pair
    const attacker = createSocket("udp4")
    const random = new Random(5)
    try {
      for (let round = 0; round < 20; round++) {
        for (let count = 0; count < 200; count++) {
          const octets = new Uint8Array(random.int(100)).map(() => random.int(256))
          if (octets.length > 16) octets.set([0x04, 0x40, 0xff, 0xff, 0, 0, 0, 17])
          attacker.send(octets, right.softnic.port!, "127.0.0.2")
        }
        const bytes = 20_000
        fill(left.octets.subarray(0, bytes), round)
        left.qp.postSend({
          id: round,
          opcode: WrOpcode.RdmaWrite,
          sges: [left.sge(0, bytes)],
          signaled: true,
          remoteAddress: right.region.iova,
          remoteKey: right.region.rkey,
        })
        await left.completions(1)
        expect(Buffer.compare(left.octets.subarray(0, bytes), right.octets.subarray(0, bytes))).toBe(0)
      }
      const { malformed, icrcErrors } = right.softnic.counters
      expect(malformed).toBeGreaterThan(100)
      expect(icrcErrors).toBeGreaterThan(100)
    } finally {
      attacker.close()
      pair.close()
    }
  }, 20_000)

  it("of senders are forgotten, and their headers are formed anew", () => {
    const socket = { message: () => {}, port: 4791 } as unknown as UdpSocket
    const own = new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 2])
    const cable = new UdpCable(socket, new Clock(), own, [], 4)
    const sources: Array<number> = []
    cable.receive = (_, octets, start) => {
      sources.push(new DataView(octets.buffer).getUint32(start + 12))
    }
    for (let count = 0; count < 5000; count++) {
      socket.message(new Uint8Array(20), `10.1.${count >> 8}.${count & 255}`, 4791)
    }
    expect(sources).toEqual(Array.from({ length: 5000 }, (_, count) => 0x0a01_0000 + count))
    socket.message(new Uint8Array(20), "fe80::1%eth0", 4791)
    expect(sources.length).toBe(5000)
  })

  it("of a stream that loses its way ends it, and the next one is taken", async () => {
    const port = 19_000 + (process.pid % 900)
    const ethernet = { mac: "52:54:00:00:00:02", addresses: ["10.0.0.2/24"] }
    const softnic = await openSoftnic({ link: { stream: { place: { port }, role: "listen" }, ethernet } })
    const arp = hex("ffffffffffff 525400000001 0806 0001080006040001 525400000001 0a000001 000000000000 0a000002")
    const framed = new Uint8Array([0, 0, 0, arp.length, ...arp])
    const dial = () => {
      const socket = connect(port, "127.0.0.1")
      let octets = Buffer.alloc(0)
      socket.on("data", (more) => {
        octets = Buffer.concat([octets, more])
      })
      return { socket, received: () => octets }
    }
    const until = async (done: () => boolean): Promise<void> => {
      for (let tries = 0; !done() && tries < 500; tries++) await new Promise((resolve) => setTimeout(resolve, 2))
      expect(done()).toBe(true)
    }
    const first = dial()
    let closed = false
    first.socket.on("close", () => {
      closed = true
    })
    // In pieces of every size, two frames in one as well.
    for (const octet of framed) {
      first.socket.write(Uint8Array.of(octet))
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    first.socket.write(new Uint8Array([...framed, ...framed, ...framed.subarray(0, 7)]))
    await until(() => softnic.counters.answers === 3)
    await until(() => first.received().length === 3 * 64)
    expect(first.received().readUInt32BE(0)).toBe(60)
    first.socket.write(framed.subarray(7))
    await until(() => softnic.counters.answers === 4)
    first.socket.write(Uint8Array.of(0xff, 0xff, 0xff, 0xff))
    await until(() => closed)
    expect(softnic.counters.malformed).toBe(1)
    const second = dial()
    second.socket.write(framed)
    await until(() => second.received().length === 64)
    second.socket.destroy()
    softnic.close()
  })
})
