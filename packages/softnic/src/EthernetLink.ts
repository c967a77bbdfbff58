import { isMapped, Route } from "@rdmakit/codec"
import type { Cable } from "@rdmakit/codec/cable"
import type { GidEntry, Time } from "@rdmakit/protocol"
import { parseMac } from "@rdmakit/wire/address"
import { EtherType } from "@rdmakit/wire/ethernet"
import { datagramSourcePort, pathMtuOf } from "@rdmakit/wire/roce"
import { ROCE_PORT } from "@rdmakit/wire/udp"
import { gidOf, groupMac, isGroup, linkLocalGid, type PortAddress, parsePortAddress, sameNetwork } from "./Address.ts"
import type { Counters } from "./Counters.ts"
import { EthernetHost, macAt } from "./EthernetHost.ts"
import type { KeptPacket, Link, LinkPath } from "./Link.ts"
import { Neighbors } from "./Neighbors.ts"
import { BROADCAST } from "./Replies.ts"
import { SoftnicError } from "./SoftnicError.ts"

export interface EthernetOptions {
  /** `52:54:00:00:00:02`. */
  readonly mac: string
  /** `10.0.0.2/24`, `fd00::2/64`: GIDs from 1 on. GID 0 is the link-local address of the MAC. */
  readonly addresses: ReadonlyArray<string>
  /** Where packets to other networks go, at most one of IPv4 and one of IPv6. Without one nobody is there. */
  readonly gateways?: ReadonlyArray<string>
  /** Of IP packets. Default 1,500. */
  readonly mtuBytes?: number
  /** VLAN, 1 to 4,094: frames are sent with its tag, and others are not taken. Default: frames without tags. */
  readonly vlan?: number
}

const MTU_BYTES = 1500
const LINK_LOCAL_BITS = 64
const FRAME_BYTES_MIN = 60
const SELF = -1
const GROUP = -2
/** Packets to oneself that may be under way. */
const LOOPED_MAX = 1024

/** A device's link that is a network of Ethernet frames, on which it is a host with a MAC and addresses. */
export class EthernetLink implements Link {
  readonly gids: ReadonlyArray<GidEntry>
  readonly pathMtuBytes: number
  readonly cable: Cable
  deliver: Link["deliver"] = () => {}
  deliverDatagram: Link["deliverDatagram"] = () => {}
  release: Link["release"] = () => {}
  wake: Link["wake"] = () => {}
  private readonly mac: number
  private readonly addresses: ReadonlyArray<PortAddress>
  private readonly gateways: ReadonlyArray<Uint8Array>
  private readonly vlan: number | undefined
  private readonly frameBytesMax: number
  private readonly counters: Counters
  private readonly neighbors: Neighbors
  private readonly host: EthernetHost
  /** Packets whose octets the cable still reads. */
  private readonly kept: Array<number> = []
  private looped: Array<KeptPacket> = []

  /** @param neighborsMax most neighbours that are sent to @throws SoftnicError */
  constructor(options: EthernetOptions, cable: Cable, counters: Counters, neighborsMax: number) {
    const { addresses, gateways = [], mtuBytes = MTU_BYTES, vlan } = options
    const mac = parseMac(options.mac)
    if (mac === undefined || (Math.floor(mac / 2 ** 40) & 1) === 1)
      throw new SoftnicError("mac", options.mac, "a host's own, as 52:54:00:00:00:02")
    if (vlan !== undefined && !(Number.isInteger(vlan) && vlan >= 1 && vlan <= 4094))
      throw new SoftnicError("vlan", `${vlan}`, "1 to 4,094")
    const pathMtuBytes = pathMtuOf(mtuBytes)
    if (pathMtuBytes === undefined) throw new SoftnicError("mtuBytes", `${mtuBytes}`, "352 at least")
    this.mac = mac
    this.vlan = vlan
    this.pathMtuBytes = pathMtuBytes
    this.frameBytesMax = mtuBytes + (vlan === undefined ? 14 : 18)
    this.addresses = [{ gid: linkLocalGid(mac), prefixBits: LINK_LOCAL_BITS }, ...addresses.map(parsePortAddress)]
    this.gids = this.addresses.map(({ gid }, index) => ({ index, gid, type: "rocev2" }))
    this.gateways = gateways.map((text) => {
      const gid = gidOf(text)
      if (gid === undefined) throw new SoftnicError("gateways", text, "an address, as 10.0.0.254")
      return gid
    })
    this.cable = cable
    this.counters = counters
    const tags = vlan === undefined ? [] : [{ protocol: 0x8100, priority: 0, dropEligible: false, vlan } as const]
    const emit = (now: Time, frame: Uint8Array): boolean => {
      // Answers never queue: who asks too much is not answered.
      if (cable.pending > 0) return false
      cable.send(now, frame, 0, frame.length)
      return true
    }
    const own = this.addresses.map(({ gid }) => gid)
    this.host = new EthernetHost(mac, own, tags, counters, emit, () => this.neighbors)
    this.neighbors = new Neighbors(
      {
        ask: (now, neighbor) => this.host.ask(now, neighbor),
        send: (now, packet, mac) => this.resolved(now, packet, mac),
        drop: ({ handle }) => {
          counters.unresolved++
          this.release(handle)
        },
      },
      neighborsMax,
    )
    cable.wake = () => {
      this.wake()
    }
    cable.receive = (now, octets, start, end) => {
      this.arrived(now, octets, start, end)
    }
  }

  path(source: GidEntry, destination: Uint8Array): LinkPath | undefined {
    if (isMapped(source.gid) !== isMapped(destination)) return undefined
    const ethernet = (mac: number) => ({
      source: this.mac,
      destination: mac,
      vlan: this.vlan === undefined ? undefined : { id: this.vlan },
    })
    const routeTo = (mac: number): Route => new Route({ source: source.gid, destination, ethernet: ethernet(mac) })
    if (isGroup(destination)) return { route: routeTo(groupMac(destination)), neighbor: GROUP }
    if (this.addresses.some(({ gid }) => sameNetwork(gid, destination, 128)))
      return { route: routeTo(this.mac), neighbor: SELF }
    const near = this.addresses.some(({ gid, prefixBits }) => sameNetwork(gid, destination, prefixBits))
    const next = near ? destination : this.gateways.find((gateway) => isMapped(gateway) === isMapped(destination))
    if (next === undefined) return undefined
    const neighbor = this.neighbors.add(next, source.gid)
    if (neighbor < 0) return undefined
    const route = routeTo(this.neighbors.all[neighbor]!.mac)
    this.neighbors.all[neighbor]!.routes.add(route)
    return { route, neighbor }
  }

  /** Its MAC is asked for before the first packet. */
  want(now: Time, { neighbor }: LinkPath): void {
    if (neighbor >= 0) this.neighbors.want(now, neighbor)
  }

  unwant({ neighbor }: LinkPath): void {
    if (neighbor >= 0) this.neighbors.unwant(neighbor)
  }

  forget({ neighbor, route }: LinkPath): void {
    if (neighbor >= 0) this.neighbors.leave(neighbor, route)
  }

  readonly onlySourcePort = -1

  /** As Soft-RoCE has it: a hash of the number. */
  sourcePort(qpn: number): number {
    return datagramSourcePort(qpn)
  }

  send(now: Time, path: LinkPath, handle: number, octets: Uint8Array, start: number, end: number): boolean {
    let to = end
    // The least frame of Ethernet; the pool leaves room behind a payload.
    while (to - start < FRAME_BYTES_MIN) octets[to++] = 0
    const { neighbor } = path
    if (neighbor === SELF) return this.loop({ handle, octets, start, end: to })
    if (neighbor >= 0 && this.neighbors.all[neighbor]!.mac === 0) {
      this.neighbors.hold(now, neighbor, { handle, octets, start, end: to })
      return false
    }
    if (this.cable.send(now, octets, start, to)) return true
    this.kept.push(handle)
    return false
  }

  /** Packets to oneself do not go over the cable. True: there are too many, and it is lost. */
  private loop(packet: KeptPacket): boolean {
    if (this.looped.length >= LOOPED_MAX) return true
    this.looped.push(packet)
    return false
  }

  /** A packet that waited for its neighbour's MAC: it was written without. */
  private resolved(now: Time, { handle, octets, start, end }: KeptPacket, mac: number): void {
    for (let at = start + 5, rest = mac; at >= start; at--, rest = Math.floor(rest / 256)) octets[at] = rest % 256
    if (this.cable.send(now, octets, start, end)) this.release(handle)
    else this.kept.push(handle)
  }

  get blocked(): boolean {
    return this.kept.length > 0 || this.cable.pending > 0
  }

  get nextTimer(): Time {
    if (this.looped.length > 0) return 0
    return Math.min(this.cable.nextTimer, this.neighbors.nextTimer)
  }

  unblock(): void {
    if (this.kept.length === 0 || this.cable.pending > 0) return
    for (const handle of this.kept) this.release(handle)
    this.kept.length = 0
  }

  handleTimer(now: Time): void {
    const { looped } = this
    if (looped.length > 0) {
      this.looped = []
      for (const { handle, octets, start, end } of looped) {
        this.deliver(now, octets, start, end)
        this.release(handle)
      }
    }
    if (this.neighbors.nextTimer <= now) this.neighbors.handleTimer(now)
    if (this.cable.nextTimer <= now) this.cable.handleTimer(now)
  }

  joinGroup(): void {}

  leaveGroup(): void {}

  close(): void {
    this.cable.close()
  }

  private arrived(now: Time, octets: Uint8Array, start: number, end: number): void {
    const length = end - start
    if (length < 14 || length > Math.max(this.frameBytesMax, FRAME_BYTES_MIN)) {
      this.counters.otherProtocols++
      return
    }
    const to = macAt(octets, start)
    if (to !== this.mac && to !== BROADCAST && (octets[start]! & 1) === 0) {
      this.counters.notOurs++
      return
    }
    let at = start + 12
    let type = (octets[at]! << 8) | octets[at + 1]!
    if (this.vlan !== undefined) {
      if (type !== 0x8100 || length < 18 || ((octets[at + 2]! << 8) & 0xf00) + octets[at + 3]! !== this.vlan) {
        this.counters.notOurs++
        return
      }
      at += 4
      type = (octets[at]! << 8) | octets[at + 1]!
    }
    at += 2
    if (isRoce(octets, type, at, end)) this.deliver(now, octets, start, end)
    else this.host.handle(now, octets, type, at, end, macAt(octets, start + 6))
  }
}

const UDP = 17

/** Whether it is UDP to RoCEv2's port, as far as can be seen at a glance. */
const isRoce = (octets: Uint8Array, type: number, at: number, end: number): boolean => {
  const v6 = type === EtherType.Ipv6
  if ((!v6 && type !== EtherType.Ipv4) || at + 28 > end) return false
  if (octets[at + (v6 ? 6 : 9)] !== UDP) return false
  const udp = v6 ? at + 40 : at + (octets[at]! & 15) * 4
  return udp + 4 <= end && ((octets[udp + 2]! << 8) | octets[udp + 3]!) === ROCE_PORT
}
