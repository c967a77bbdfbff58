import { Device, type DeviceOptions } from "@rdmakit/device"
import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import {
  type Adapter,
  type AddressVector,
  type GidEntry,
  NEVER,
  type PeerPath,
  type Time,
  type VerbsEngine,
  type VerbsTransport,
  type World,
} from "@rdmakit/protocol"
import { verbsTransport } from "@rdmakit/transport-ib"
import { parseGid } from "../src/Gid.ts"

const LINE_RATE_BPS = 100e9
const DELAY_PS = 1e6
const EVERYBODY = 0xffff

/** What may happen to a packet on its way. */
export type Fate = "deliver" | "lose"

export interface LoopbackOptions {
  readonly devices?: number
  readonly device?: DeviceOptions
  /** Default InfiniBand's. */
  readonly transport?: VerbsTransport
  /** Largest path MTU of the ports. */
  readonly mtuBytes?: number
  /** Routers between any two devices. */
  readonly routers?: number
  readonly fate?: (packet: Packet) => Fate
}

interface Happening {
  readonly time: Time
  readonly order: number
  readonly run: () => void
}

/** Devices on one medium without loss, a microsecond apart, in virtual time: no network, no port, no queue. */
export class Loopback {
  readonly pool = new PacketPool()
  readonly devices: ReadonlyArray<Device>
  readonly worlds: ReadonlyArray<LoopbackWorld>
  readonly options: LoopbackOptions
  /** Packets sent, and those that nobody took. */
  sent = 0
  strays = 0
  now: Time = 0
  private readonly happenings: Array<Happening> = []
  private order = 0

  constructor(options: LoopbackOptions = {}) {
    this.options = options
    const { devices = 2, transport = verbsTransport() } = options
    this.worlds = Array.from({ length: devices }, (_, node) => new LoopbackWorld(this, node))
    this.devices = this.worlds.map(
      (world, node) => new Device(world, transport, { name: `rdmakit${node}`, seed: node + 1, ...options.device }),
    )
  }

  at(time: Time, run: () => void): Happening {
    const happening = { time, order: this.order++, run }
    let at = this.happenings.length
    while (at > 0 && isAfter(this.happenings[at - 1]!, happening)) at--
    this.happenings.splice(at, 0, happening)
    return happening
  }

  cancel(happening: Happening): void {
    const at = this.happenings.indexOf(happening)
    if (at >= 0) this.happenings.splice(at, 1)
  }

  /** The next thing happens; false: there is none. */
  step(): boolean {
    const next = this.happenings.shift()
    if (next === undefined) return false
    this.now = next.time
    next.run()
    return true
  }

  carry(from: number, packet: Packet): void {
    const { handle } = packet
    this.sent += 1
    const { routers = 0, fate = () => "deliver" } = this.options
    const hopLimit = this.pool.extension[(packet.extension << Layout.EXTENSION_SHIFT) + Layout.EXT.hopLimit]!
    if (hopLimit <= routers || fate(packet) === "lose") {
      this.pool.release(handle)
      return
    }
    const { destination } = packet
    this.at(this.now + DELAY_PS, () => {
      for (const world of this.worlds) {
        if (world.node === destination || (destination === EVERYBODY && world.node !== from)) world.arrive(handle)
      }
      this.pool.release(handle)
    })
  }
}

const isAfter = (a: Happening, b: Happening): boolean => a.time > b.time || (a.time === b.time && a.order > b.order)

const isMulticast = (gid: Uint8Array): boolean => gid[0] === 0xff || (gid[11] === 0xff && gid[12]! >> 4 === 14)

/** One device's surroundings. Its addresses are laid out as rdma_rxe does: link-local, IPv4, IPv6. */
export class LoopbackWorld implements World {
  readonly node: number
  readonly gids: ReadonlyArray<GidEntry>
  link: World["link"]
  private readonly network: Loopback
  private readonly cursor: Packet
  private adapter: Adapter | undefined
  private readonly alarms = new Map<VerbsEngine, Happening>()
  private readonly kicked = new Set<VerbsEngine>()
  private freeAt: Time = 0

  constructor(network: Loopback, node: number) {
    this.network = network
    this.node = node
    this.cursor = new Packet(network.pool)
    this.link = { lineRateBps: LINE_RATE_BPS, mtuBytes: network.options.mtuBytes ?? 4096, up: true }
    const last = node + 1
    this.gids = [`fe80::5054:ff:fe12:${last}`, `10.0.0.${last}`, `fd00::${last}`].map((text, index) => ({
      index,
      gid: parseGid(text),
      type: "rocev2",
    }))
  }

  get now(): Time {
    return this.network.now
  }
  attach(adapter: Adapter): void {
    this.adapter = adapter
  }
  joinGroup(): void {}
  leaveGroup(): void {}

  resolve(vector: AddressVector, qpn: number): PeerPath | undefined {
    const source = this.gids[vector.sourceGidIndex]!
    const wanted = vector.destinationGid.join()
    const peer = this.network.worlds.find((world) => world.gids.some(({ gid }) => gid.join() === wanted))
    const somebody = isMulticast(vector.destinationGid) ? EVERYBODY : peer?.node
    if (somebody === undefined) return undefined
    return {
      node: this.node,
      peer: somebody,
      flow: qpn & 0xffff,
      udpSourcePort: 0xc000 | (qpn & 0x3fff),
      trafficClass: vector.trafficClass,
      hopLimit: vector.hopLimit,
      flowLabel: vector.flowLabel,
      priority: vector.serviceLevel,
      sourceGid: source.gid,
      destinationGid: vector.destinationGid,
      lineRateBps: LINE_RATE_BPS,
      baseRttPs: 2 * DELAY_PS,
    }
  }

  kick(engine: VerbsEngine): void {
    if (this.kicked.has(engine)) return
    this.kicked.add(engine)
    this.network.at(this.now, () => {
      if (this.kicked.delete(engine)) this.drain(engine)
    })
  }

  detach(engine: VerbsEngine): void {
    this.kicked.delete(engine)
    this.silence(engine)
  }

  arrive(handle: number): void {
    const packet = this.cursor.at(handle)
    const engine = this.adapter!.engineFor(packet)
    const engines = engine === undefined ? [...this.adapter!.groupFor(packet)] : [engine]
    if (engines.length === 0) this.network.strays += 1
    for (const each of engines) each.handlePacket(this.now, packet.at(handle))
    for (const each of engines) this.drain(each)
  }

  private drain(engine: VerbsEngine): void {
    const { pool } = this.network
    while (this.freeAt <= this.now) {
      const packet = this.cursor.at(pool.alloc())
      if (!engine.pollTransmit(this.now, packet)) {
        pool.release(packet.handle)
        break
      }
      this.freeAt = this.now + Math.round((packet.wireBytes * 8e12) / LINE_RATE_BPS)
      this.network.carry(this.node, packet)
    }
    for (let event = engine.pollEvent(); event !== undefined; event = engine.pollEvent()) {
      this.adapter!.handleEvent(this.now, engine, event)
    }
    this.watch(engine)
  }

  private watch(engine: VerbsEngine): void {
    this.silence(engine)
    const wantsLine = engine.controlPending || engine.nextSend !== NEVER
    const sendAt = wantsLine ? Math.max(this.freeAt, engine.controlPending ? 0 : engine.nextSend) : NEVER
    const next = Math.min(engine.nextTimeout, sendAt)
    if (next === NEVER) return
    const time = Math.max(next, this.now)
    const alarm = this.network.at(time, () => {
      this.alarms.delete(engine)
      if (engine.nextTimeout <= this.now) engine.handleTimeout(this.now)
      this.drain(engine)
    })
    this.alarms.set(engine, alarm)
  }

  private silence(engine: VerbsEngine): void {
    const alarm = this.alarms.get(engine)
    if (alarm !== undefined) this.network.cancel(alarm)
    this.alarms.delete(engine)
  }
}
