import { isMapped, Route } from "@rdmakit/codec"
import type { Cable } from "@rdmakit/codec/cable"
import type { GidEntry, Time } from "@rdmakit/protocol"
import { formatIpv4, formatIpv6, ipv4OfGid } from "@rdmakit/wire/address"
import { pathMtuOf } from "@rdmakit/wire/roce"
import { ROCE_PORT } from "@rdmakit/wire/udp"
import { gidOf, isGroup } from "./Address.ts"
import type { Clock } from "./Clock.ts"
import type { Counters } from "./Counters.ts"
import type { Link, LinkPath } from "./Link.ts"
import { UdpCable, type UdpPeer } from "./UdpCable.ts"
import { UdpSocket } from "./UdpSocket.ts"

export interface UdpOptions {
  /** An address of this host: `10.0.0.1`, `fd00::1`, or of loopback. It is the device's GID. */
  readonly address: string
  /** 0 to 65,535. Default 4791. All hosts have the same, or are named in `peers`. 0: any that is free. */
  readonly port?: number
  /** The address that the device goes by, when it is not the socket's: with `peers`, several may share a host. */
  readonly gid?: string
  /** Addresses that are found elsewhere than under their own name at `port`. */
  readonly peers?: ReadonlyArray<UdpPeer>
  /** MTU of the network below, of IP packets, 352 to 65,536. Default 65,536 on loopback and 1,500 elsewhere. */
  readonly mtuBytes?: number
  /** SO_RCVBUF and SO_SNDBUF; the system may cut it. Default 4 MiB. */
  readonly bufferBytes?: number
}

const LOOPBACK_MTU_BYTES = 65_536
const ETHERNET_MTU_BYTES = 1500

const isLoopback = (gid: Uint8Array): boolean => {
  const ipv4 = ipv4OfGid(gid)
  return ipv4 === undefined ? gid.every((octet, at) => octet === (at === 15 ? 1 : 0)) : ipv4 >>> 24 === 127
}

/** The address in the form in which sockets take it. */
const hostOf = (gid: Uint8Array): string => {
  const ipv4 = ipv4OfGid(gid)
  return ipv4 === undefined ? formatIpv6(gid) : formatIpv4(ipv4)
}

/** A device's link that is a UDP socket: the host's own network carries the packets. */
export class UdpLink implements Link {
  readonly gids: ReadonlyArray<GidEntry>
  readonly pathMtuBytes: number
  readonly cable: Cable
  deliver: Link["deliver"] = () => {}
  deliverDatagram: Link["deliverDatagram"] = () => {}
  release: Link["release"] = () => {}
  wake: Link["wake"] = () => {}
  /** The socket's. */
  readonly port: number
  private readonly socket: UdpSocket
  private readonly places: UdpCable
  private readonly counters: Counters
  private readonly address: string
  /** Packets whose octets the socket still reads. */
  private readonly kept: Array<number> = []

  private constructor(
    socket: UdpSocket,
    places: UdpCable,
    cable: Cable,
    counters: Counters,
    gid: Uint8Array,
    address: string,
    pathMtuBytes: number,
  ) {
    this.gids = [{ index: 0, gid, type: "rocev2" }]
    this.socket = socket
    this.port = socket.port
    this.places = places
    this.cable = cable
    this.counters = counters
    this.address = address
    this.pathMtuBytes = pathMtuBytes
    cable.wake = () => {
      this.wake()
    }
    cable.receive = (now, octets, start, end) => {
      this.deliver(now, octets, start, end)
    }
    // Without a middleware nobody looks at headers that are supposed.
    if (cable === places) {
      places.receiveDatagram = (now, octets, route, sourcePort) => {
        this.deliverDatagram(now, octets, route, sourcePort)
      }
    }
  }

  /** @param options that `checkSoftnicOptions` took @param hostsMax most addresses that are sent to @throws SoftnicError */
  static async open(
    options: UdpOptions,
    clock: Clock,
    counters: Counters,
    hostsMax: number,
    through: (cable: Cable) => Cable,
  ): Promise<UdpLink> {
    const { address, port = ROCE_PORT, peers = [], bufferBytes } = options
    const gid = gidOf(options.gid ?? address)!
    const mtuBytes = options.mtuBytes ?? (isLoopback(gidOf(address)!) ? LOOPBACK_MTU_BYTES : ETHERNET_MTU_BYTES)
    const pathMtuBytes = pathMtuOf(mtuBytes)!
    const socket = await UdpSocket.open({ address, port, bufferBytes }, counters)
    const places = new UdpCable(socket, clock, gid, peers, hostsMax)
    return new UdpLink(socket, places, through(places), counters, gid, address, pathMtuBytes)
  }

  path(source: GidEntry, destination: Uint8Array): LinkPath | undefined {
    if (isMapped(source.gid) !== isMapped(destination)) return undefined
    const neighbor = this.places.reach(destination, hostOf(destination))
    if (neighbor < 0) return undefined
    return { route: new Route({ source: source.gid, destination }), neighbor }
  }

  want(): void {}

  unwant(): void {}

  forget({ neighbor }: LinkPath): void {
    this.places.unreach(neighbor)
  }

  /** The socket's own, for all of them: it cannot send from another. */
  sourcePort(): number {
    return this.port
  }
  get onlySourcePort(): number {
    return this.port
  }

  send(now: Time, _path: LinkPath, handle: number, octets: Uint8Array, start: number, end: number): boolean {
    if (this.cable.send(now, octets, start, end)) return true
    this.kept.push(handle)
    return false
  }

  get blocked(): boolean {
    return this.kept.length > 0 || this.cable.pending > 0
  }

  get nextTimer(): Time {
    return this.cable.nextTimer
  }

  unblock(): void {
    if (this.kept.length === 0 || this.cable.pending > 0) return
    for (const handle of this.kept) this.release(handle)
    this.kept.length = 0
  }

  handleTimer(now: Time): void {
    if (this.cable.nextTimer <= now) this.cable.handleTimer(now)
  }

  joinGroup(gid: Uint8Array): void {
    if (isGroup(gid)) this.group("join", gid)
  }

  leaveGroup(gid: Uint8Array): void {
    if (isGroup(gid)) this.group("leave", gid)
  }

  private group(what: "join" | "leave", gid: Uint8Array): void {
    try {
      this.socket[what](hostOf(gid), this.address)
    } catch {
      this.counters.socketErrors++
    }
  }

  close(): void {
    this.cable.close()
  }
}
