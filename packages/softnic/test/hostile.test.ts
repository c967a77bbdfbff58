import { createSocket, type Socket } from "node:dgram"
import { Route, VerbsCodec } from "@rdmakit/codec"
import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import { QpState } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { afterEach, describe, expect, it } from "vitest"
import { openSoftnic, type Softnic } from "../src/index.ts"
import type { SoftWorld } from "../src/SoftWorld.ts"
import { Endpoint, QUEUE_KEY } from "./pair.ts"

const { EXT } = Layout
const PORT = 22_000 + (process.pid % 900)
const [VICTIM, PEER] = ["127.0.0.1", "127.0.0.2"]
const REGISTERED = 8192
const PEER_QP = 0x17
const FIRST_PSN = 100
const IP_AND_UDP_BYTES = 28

const gidOf = (address: string): Uint8Array =>
  new Uint8Array([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, ...address.split(".").map(Number)])

interface Forged {
  readonly opcode: number
  readonly psn: number
  readonly bytes?: number
  readonly address?: number
  readonly key?: number
  readonly length?: number
  readonly aeth?: number
  readonly queueKey?: number
  readonly acknowledge?: boolean
}

/** The peer of a softnic over UDP, with a socket of its own: it says what no queue pair would. */
class Attacker {
  private readonly socket: Socket
  private readonly qpn: number
  private readonly pool = new PacketPool()
  private readonly packet = new Packet(this.pool)
  private readonly codec = new VerbsCodec()
  private readonly route = new Route({ source: gidOf(PEER), destination: gidOf(VICTIM) })

  private constructor(socket: Socket, qpn: number) {
    this.socket = socket
    this.qpn = qpn
  }

  static async open(qpn: number): Promise<Attacker> {
    const socket = createSocket("udp4")
    await new Promise<void>((bound) => socket.bind(PORT, PEER, bound))
    return new Attacker(socket, qpn)
  }

  /** The datagram, its ICRC right. */
  forge({ opcode, psn, bytes = 0, acknowledge = false, ...said }: Forged): Uint8Array {
    const { packet, pool } = this
    packet.at(pool.alloc())
    packet.meta = opcode | (acknowledge ? 1 << 8 : 0)
    packet.psn = psn
    packet.udpPorts = PORT
    if (bytes > 0) {
      const { octets, start } = packet.addPayload(bytes)
      octets.fill(0x5a, start, start + bytes)
    }
    const x = packet.extend()
    const { extension } = pool
    extension[x + EXT.partition] = 0xffff
    extension[x + EXT.destinationQp] = this.qpn
    extension[x + EXT.queueKey] = said.queueKey ?? 0
    extension[x + EXT.sourceQp] = PEER_QP
    extension[x + EXT.remoteAddress] = Math.floor((said.address ?? 0) / 2 ** 32)
    extension[x + EXT.remoteAddress + 1] = said.address ?? 0
    extension[x + EXT.remoteKey] = said.key ?? 0
    extension[x + EXT.dmaLength] = said.length ?? 0
    extension[x + EXT.aeth] = said.aeth ?? 0
    this.codec.encode(packet, this.route)
    const datagram = this.codec.octets.slice(this.codec.start + IP_AND_UDP_BYTES, this.codec.end)
    pool.release(packet.handle)
    return datagram
  }

  send(datagram: Uint8Array): void {
    this.socket.send(datagram, PORT, VICTIM)
  }

  close(): void {
    this.socket.close()
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

describe("a peer over UDP that says what no queue pair would", () => {
  const opened: Array<{ close(): void }> = []
  afterEach(() => {
    for (const each of opened.splice(0)) each.close()
  })

  const victim = async (type: "rc" | "uc" | "ud") => {
    const softnic = await openSoftnic({ link: { udp: { address: VICTIM, port: PORT } } })
    const endpoint = new Endpoint(softnic, type, 0, REGISTERED)
    const attacker = await Attacker.open(endpoint.qp.qpn)
    opened.push(softnic, attacker)
    const peer = { gid: gidOf(PEER), qp: { qpn: PEER_QP } } as unknown as Endpoint
    const connect = (): void => {
      endpoint.qp.modify({ state: QpState.Reset })
      endpoint.connect(peer, { psn: 0, peerPsn: FIRST_PSN, timeout: 0 })
      for (let posted = 0; posted < 8; posted++) endpoint.qp.postRecv({ id: posted, sges: [endpoint.sge(0, 4096)] })
    }
    return { softnic, endpoint, attacker, connect }
  }
  const alive = (softnic: Softnic): number => (softnic.device.world as SoftWorld).packetsAlive

  it.each(["rc", "uc"] as const)(
    "does no harm, whatever it is: %s",
    async (type) => {
      const { softnic, endpoint, attacker, connect } = await victim(type)
      const beside = softnic.device.allocate(REGISTERED)
      beside.octets.fill(0xee)
      connect()
      const { iova, rkey, lkey } = endpoint.region
      const random = new Random(type === "rc" ? 31 : 37)
      const pick = <A>(all: ReadonlyArray<A>): A => all[random.int(all.length)]!
      const base = type === "rc" ? 0 : 0x20
      const lengths = [0, 1, 8, 4096, 8192, 8193, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1]
      let errors = 0
      for (let round = 0; round < 400; round++) {
        for (let count = 0; count < 25; count++) {
          const opcode = base | pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23])
          const isLegal = type === "rc" || (opcode & 0x1f) < 12
          const hasPayload = (opcode & 0x1f) < 12 || [13, 14, 15, 16, 22, 23].includes(opcode & 0x1f)
          if (!isLegal) continue
          const datagram = attacker.forge({
            opcode,
            psn: pick([
              FIRST_PSN + count,
              FIRST_PSN + random.int(30),
              random.int(1 << 24),
              (FIRST_PSN - 1) & 0xff_ffff,
            ]),
            bytes: hasPayload ? pick([0, 1, 3, 8, 4095, 4096]) : 0,
            address: pick([
              iova,
              iova + 4,
              iova + REGISTERED - 8,
              iova - 1,
              beside.address,
              0,
              2 ** 52,
              random.int(2 ** 31),
            ]),
            key: pick([rkey, rkey, rkey, lkey, rkey ^ 1, random.int(2 ** 31)]),
            length: pick(lengths),
            aeth: pick([0, 0x1f00_0001, 0x2000_0001, 0x6000_0001, 0x6100_0000, 0x6300_0000, 0xffff_ffff]),
            acknowledge: random.int(2) === 0,
          })
          // Some are cut, some are spoiled.
          if (random.int(8) === 0) attacker.send(datagram.subarray(0, random.int(datagram.length)))
          else {
            if (random.int(8) === 0) datagram[random.int(datagram.length)]! ^= 1 << random.int(8)
            attacker.send(datagram)
          }
        }
        await turn()
        while (endpoint.cq.pollOne() !== undefined) {}
        if (endpoint.qp.state === QpState.Err) {
          errors++
          connect()
        }
      }
      await turn()
      const { counters } = softnic
      expect(counters.rxPackets).toBeGreaterThan(2000)
      expect(counters.icrcErrors).toBeGreaterThan(100)
      expect(counters.malformed).toBeGreaterThan(100)
      if (type === "rc") expect(errors).toBeGreaterThan(50)
      expect(beside.octets.every((octet) => octet === 0xee)).toBe(true)
      endpoint.qp.modify({ state: QpState.Reset })
      await turn()
      expect(alive(softnic)).toBe(0)
      expect(softnic.device.resources.queuePairs).toBe(1)
      // It works as on its first day.
      connect()
      attacker.send(
        attacker.forge({ opcode: base | 0x0a, psn: FIRST_PSN, bytes: 16, address: iova, key: rkey, length: 16 }),
      )
      endpoint.octets.fill(0)
      for (let tries = 0; endpoint.octets[0] !== 0x5a && tries < 500; tries++) await turn()
      expect([...endpoint.octets.subarray(0, 17)]).toEqual([...new Array(16).fill(0x5a), 0])
    },
    60_000,
  )

  it("READ responses that nobody asked for, a READ of 4 GiB, and atomics astride change nothing", async () => {
    const { softnic, endpoint, attacker, connect } = await victim("rc")
    const { iova, rkey } = endpoint.region
    const cases = [
      { forged: { opcode: 0x10, psn: FIRST_PSN, bytes: 64 }, survives: true },
      { forged: { opcode: 0x0e, psn: 0, bytes: 4096 }, survives: true },
      { forged: { opcode: 0x12, psn: 0 }, survives: true },
      { forged: { opcode: 0x0c, psn: FIRST_PSN, address: iova, key: rkey, length: 2 ** 32 - 1 }, survives: false },
      {
        forged: { opcode: 0x06, psn: FIRST_PSN, bytes: 4096, address: iova, key: rkey, length: 2 ** 32 - 1 },
        survives: false,
      },
      { forged: { opcode: 0x14, psn: FIRST_PSN, address: iova + 4, key: rkey }, survives: false },
      { forged: { opcode: 0x13, psn: FIRST_PSN, address: iova + REGISTERED - 4, key: rkey }, survives: false },
      { forged: { opcode: 0x07, psn: FIRST_PSN, bytes: 4096 }, survives: false },
      { forged: { opcode: 0x02, psn: FIRST_PSN, bytes: 8 }, survives: false },
    ]
    for (const { forged, survives } of cases) {
      connect()
      endpoint.octets.fill(0)
      const before = softnic.counters.rxPackets
      attacker.send(attacker.forge(forged))
      for (let tries = 0; softnic.counters.rxPackets === before && tries < 500; tries++) await turn()
      const said = `opcode 0x${forged.opcode.toString(16)}`
      expect([said, endpoint.qp.state]).toEqual([said, survives ? QpState.Rts : QpState.Err])
      expect(endpoint.octets.every((octet) => octet === 0)).toBe(true)
    }
    await turn()
    expect(alive(softnic)).toBe(0)
  })

  it("datagrams beyond the receives that are posted are dropped, and nothing is kept of them", async () => {
    const { softnic, endpoint, attacker } = await victim("ud")
    endpoint.activate(QUEUE_KEY)
    for (let posted = 0; posted < 8; posted++) endpoint.qp.postRecv({ id: posted, sges: [endpoint.sge(0, 4096)] })
    const before = process.memoryUsage().heapUsed
    for (let round = 0; round < 200; round++) {
      for (let count = 0; count < 50; count++) {
        attacker.send(
          attacker.forge({ opcode: 0x64, psn: count, bytes: 64, queueKey: count % 5 === 0 ? 1 : QUEUE_KEY }),
        )
      }
      await turn()
    }
    await turn()
    expect(softnic.counters.rxPackets).toBeGreaterThan(2000)
    const received = Array.from({ length: 100 }, () => endpoint.cq.pollOne()).filter((each) => each !== undefined)
    expect(received.map(({ id, status, byteLength }) => [id, status, byteLength])).toEqual(
      Array.from({ length: 8 }, (_, id) => [id, 0, 104]),
    )
    expect(endpoint.qp.state).toBe(QpState.Rts)
    expect(alive(softnic)).toBe(0)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 << 20)
  }, 30_000)
})
