import { Refusal, VerbsCodec } from "@rdmakit/codec"
import { Layout, Packet, PacketPool } from "@rdmakit/packet"
import type { Adapter, AddressVector, GidEntry, PeerPath, Time, VerbsEngine, World } from "@rdmakit/protocol"
import { isGroup } from "./Address.ts"
import { AddressTable } from "./AddressTable.ts"
import type { Clock } from "./Clock.ts"
import type { Counters } from "./Counters.ts"
import { makeCrc } from "./Crc.ts"
import type { Link } from "./Link.ts"
import { Peers } from "./Peers.ts"
import { Sender } from "./Sender.ts"

const { EXT, EXTENSION_SHIFT } = Layout

export interface SoftWorldOptions {
  /** What programs and congestion controllers are told of the port. Default 10 Gb/s. */
  readonly lineRateBps?: number
  /** What congestion controllers start from, ps. Default 50 µs. */
  readonly baseRttPs?: Time
  /**
   * After a packet arrived the event loop does not sleep for so long, ps: the next is taken without being woken for. It
   * costs a processor while packets come at least that often. 0 to 1e12. Default 0: it always sleeps.
   */
  readonly awakePs?: Time
}

const LINE_RATE_BPS = 10e9
const BASE_RTT_PS = 50e6
/** Linux sends RoCEv2 with this, whatever a program said, where it knows the neighbour. */
const HOP_LIMIT = 64
/** Packets alive at once: what links may keep, and some. */
const PACKETS_MAX = 8192
/** A packet's node has 16 bits: those from here on are peers, below are our own addresses. */
const PEER_FIRST = 256
/** Whoever no path leads to. */
const UNKNOWN = PEER_FIRST - 1
/** Addresses that paths may lead to. */
export const PEERS_MAX = 0x1_0000 - PEER_FIRST

/** What surrounds one device in real time: its link's octets, and the order in which its engines send. */
export class SoftWorld implements World {
  readonly counters: Counters
  readonly gids: ReadonlyArray<GidEntry>
  readonly link: World["link"]
  private readonly port: Link
  private readonly clock: Clock
  private readonly baseRttPs: Time
  private readonly awakePs: Time
  private readonly pool = new PacketPool({ capacity: 256, limit: PACKETS_MAX })
  private readonly codec = new VerbsCodec(makeCrc())
  private readonly arriving: Packet
  private readonly sender: Sender
  private readonly own = new AddressTable(UNKNOWN)
  private readonly groups = new Map<string, number>()
  private readonly peers: Peers
  private adapter: Adapter | undefined = undefined
  private closed = false

  constructor(port: Link, clock: Clock, counters: Counters, options: SoftWorldOptions = {}) {
    this.port = port
    this.clock = clock
    this.counters = counters
    this.gids = port.gids
    this.link = { lineRateBps: options.lineRateBps ?? LINE_RATE_BPS, mtuBytes: port.pathMtuBytes, up: true }
    this.baseRttPs = options.baseRttPs ?? BASE_RTT_PS
    this.awakePs = options.awakePs ?? 0
    this.arriving = new Packet(this.pool).at(this.pool.alloc())
    this.peers = new Peers(port, PEERS_MAX, (peer) => {
      this.adapter?.forgetPeer(this.now, PEER_FIRST + peer)
    })
    this.sender = new Sender(port, clock, counters, this.pool, this.peers.paths)
    for (const { gid } of port.gids) this.own.add(gid)
    port.deliver = (now, octets, start, end) => {
      this.deliver(now, octets, start, end)
    }
    port.deliverDatagram = (now, octets, route, sourcePort) => {
      if (this.adapter === undefined || this.closed) return
      this.pool.recycle(this.arriving.handle)
      this.handle(now, this.codec.decodeDatagram(octets, route, sourcePort, HOP_LIMIT, this.arriving), this.adapter)
    }
    port.wake = () => {
      this.sender.schedule()
    }
    port.release = (handle) => {
      this.pool.release(handle)
    }
  }

  get now(): Time {
    return this.clock.now()
  }

  /** Packets that are somewhere between an engine and the network. */
  get packetsAlive(): number {
    return this.pool.alive - 1
  }

  attach(adapter: Adapter): void {
    this.adapter = adapter
    this.sender.adapter = adapter
  }

  resolve(vector: AddressVector, qpn: number): PeerPath | undefined {
    const source = vector.port === 1 ? this.gids[vector.sourceGidIndex] : undefined
    if (source === undefined) return undefined
    if (vector.destinationGid.length !== 16) return undefined
    const flow = this.peers.hold(source, vector.destinationGid)
    if (flow === undefined) return undefined
    this.port.want(this.now, this.peers.paths[flow.number]!)
    this.sender.schedule()
    return {
      node: source.index,
      peer: PEER_FIRST + flow.peer,
      flow: flow.number,
      udpSourcePort: this.port.sourcePort(qpn),
      trafficClass: vector.trafficClass & 0xff,
      hopLimit: vector.hopLimit > 1 ? vector.hopLimit & 0xff : HOP_LIMIT,
      flowLabel: vector.flowLabel & 0xf_ffff,
      priority: vector.serviceLevel & 7,
      sourceGid: source.gid,
      destinationGid: vector.destinationGid.slice(),
      lineRateBps: this.link.lineRateBps,
      baseRttPs: this.baseRttPs,
    }
  }

  release({ peer, flow }: PeerPath): void {
    this.port.unwant(this.peers.paths[flow]!)
    this.peers.release(peer - PEER_FIRST)
  }

  kick(engine: VerbsEngine): void {
    this.sender.kick(engine)
  }

  detach(engine: VerbsEngine): void {
    this.sender.detach(engine)
  }

  joinGroup(gid: Uint8Array): void {
    const name = String(gid)
    const times = this.groups.get(name) ?? 0
    this.groups.set(name, times + 1)
    if (times === 0) this.port.joinGroup(gid)
  }

  leaveGroup(gid: Uint8Array): void {
    const name = String(gid)
    const times = this.groups.get(name) ?? 0
    if (times > 1) this.groups.set(name, times - 1)
    else if (this.groups.delete(name)) this.port.leaveGroup(gid)
  }

  /** Frees the socket. Packets on their way are lost. */
  close(): void {
    if (this.closed) return
    this.closed = true
    this.sender.close()
    this.port.close()
  }

  // --- arriving

  private deliver(now: Time, octets: Uint8Array, start: number, end: number): void {
    const { arriving, adapter } = this
    if (adapter === undefined || this.closed) return
    this.pool.recycle(arriving.handle)
    const refusal =
      this.port.cable.layer === "ethernet"
        ? this.codec.decodeFrame(octets, start, end, arriving)
        : this.codec.decode(octets, start, end, arriving)
    this.handle(now, refusal, adapter)
  }

  /** What arrived has been decoded. */
  private handle(now: Time, refusal: Refusal, adapter: Adapter): void {
    const { arriving, counters, pool } = this
    if (refusal !== Refusal.None) {
      this.refuse(refusal)
      return
    }
    counters.rxPackets++
    counters.rxBytes += arriving.wireBytes
    const { extension } = pool
    const x = arriving.extension << EXTENSION_SHIFT
    const from = x + EXT.ipv6Source
    const to = x + EXT.ipv6Destination
    const peer = this.peers.heard(extension[from]!, extension[from + 1]!, extension[from + 2]!, extension[from + 3]!)
    const node = this.own.find(extension[to]!, extension[to + 1]!, extension[to + 2]!, extension[to + 3]!)
    arriving.setNodes(peer < 0 ? UNKNOWN : PEER_FIRST + peer, node < 0 ? UNKNOWN : node)
    if (node < 0) {
      this.deliverToGroup(now, adapter)
      return
    }
    const engine = adapter.engineFor(arriving)
    if (engine === undefined) {
      counters.noQueuePair++
      return
    }
    engine.handlePacket(now, arriving)
    if (this.awakePs > 0) this.sender.wakeUp.stayAwake(now + this.awakePs)
    this.sender.touched(engine, now)
  }

  private deliverToGroup(now: Time, adapter: Adapter): void {
    const { arriving } = this
    const { extension } = arriving.pool
    const to = (arriving.extension << EXTENSION_SHIFT) + EXT.ipv6Destination
    const gid = new Uint8Array(16)
    const view = new DataView(gid.buffer)
    for (let word = 0; word < 4; word++) view.setInt32(4 * word, extension[to + word]!)
    if (!isGroup(gid)) {
      this.counters.notOurs++
      return
    }
    const engines = this.groups.has(String(gid)) ? adapter.groupFor(arriving).slice() : []
    if (engines.length === 0) this.counters.noQueuePair++
    for (const engine of engines) {
      engine.handlePacket(now, arriving)
      this.sender.kick(engine)
    }
  }

  private refuse(refusal: Refusal): void {
    const { counters } = this
    if (refusal === Refusal.Icrc) counters.icrcErrors++
    else if (refusal === Refusal.Protocol || refusal === Refusal.Port || refusal === Refusal.Fragment)
      counters.otherProtocols++
    else counters.malformed++
  }
}
