import { isMapped, Route } from "@rdmakit/codec"
import type { Cable, Receive } from "@rdmakit/codec/cable"
import { NEVER, type Time } from "@rdmakit/protocol"
import { gidOf } from "./Address.ts"
import { AddressTable, wordAt } from "./AddressTable.ts"
import type { Clock } from "./Clock.ts"
import type { UdpSocket } from "./UdpSocket.ts"

/** Where an address is found, when not under its own name at the port's own number. */
export interface UdpPeer {
  readonly address: string
  readonly host: string
  readonly port: number
}

/** Takes what follows UDP's header. The octets are lent for the call, and are to be after it what they were. */
export type ReceiveDatagram = (now: Time, octets: Uint8Array, route: Route, sourcePort: number) => void

interface Host {
  readonly host: string
  readonly port: number
}

const IPV4_BYTES = 20
const IPV6_BYTES = 40
const UDP_BYTES = 8
const HEADERS_BYTES_MAX = IPV6_BYTES + UDP_BYTES
const DATAGRAM_BYTES_MAX = 0xffff
/** A socket does not tell it; the ICRC takes it as all ones. */
const HOP_LIMIT = 64
/** Headers of hosts that send here are kept for so many of them. */
const SENDERS_MAX = 1024

/**
 * Packets of IP over a UDP socket. The socket takes and gives what follows UDP's header alone, so the headers in front of
 * it, which the ICRC covers, are supposed: IPv4 without options, identification 0, not to be fragmented; IPv6 without
 * extension headers, and the sender's own source port. That is what Linux sends for a socket like this one. Traffic class and
 * hop limit do not come through.
 */
export class UdpCable implements Cable {
  readonly layer = "ip"
  readonly nextTimer: Time = NEVER
  receive: Receive = () => {}
  /** Takes datagrams as they are, in place of `receive`: then no headers are put in front of them. */
  receiveDatagram: ReceiveDatagram | undefined = undefined
  wake: () => void = () => {}
  private readonly socket: UdpSocket
  private readonly clock: Clock
  private readonly own: Uint8Array
  private readonly peers: ReadonlyMap<string, Uint8Array>
  private readonly places: ReadonlyMap<string, Host>
  /** Hosts that packets may be sent to, by the number of their address. */
  private readonly known: AddressTable
  private readonly hosts: Array<Host | undefined> = []
  private readonly senders = new Map<string, Route>()
  /** Room for the headers that are supposed, and what arrived. */
  private readonly scratch = new Uint8Array(HEADERS_BYTES_MAX + DATAGRAM_BYTES_MAX)

  /** @param own the socket's address, 16 octets @param hostsMax most hosts that are sent to */
  constructor(socket: UdpSocket, clock: Clock, own: Uint8Array, peers: ReadonlyArray<UdpPeer>, hostsMax: number) {
    this.socket = socket
    this.clock = clock
    this.own = own
    this.known = new AddressTable(hostsMax)
    this.peers = new Map(peers.map(({ address, host, port }) => [`${host} ${port}`, gidOf(address)!]))
    this.places = new Map(peers.map(({ address, host, port }) => [String(gidOf(address)!), { host, port }]))
    socket.message = (octets, host, port) => {
      this.arrived(octets, host, port)
    }
  }

  /** Packets to this address may be sent from now on: its number. -1: there are too many. */
  reach(gid: Uint8Array, host: string): number {
    const number = this.known.add(gid)
    if (number >= 0) this.hosts[number] ??= this.places.get(String(gid)) ?? { host, port: this.socket.port }
    return number
  }

  /** Packets to the address of this number are sent no more. */
  unreach(number: number): void {
    this.known.remove(number)
    this.hosts[number] = undefined
  }

  send(_now: Time, octets: Uint8Array, start: number, end: number): boolean {
    const v6 = octets[start]! >> 4 === 6
    const at = v6 ? start + 24 : start + 16
    const number = v6
      ? this.known.find(wordAt(octets, at), wordAt(octets, at + 4), wordAt(octets, at + 8), wordAt(octets, at + 12))
      : this.known.find(0, 0, 0xffff, wordAt(octets, at))
    const host = this.hosts[number]
    // Headers that a fault has turned lead nowhere.
    if (host === undefined) return true
    return this.socket.send(
      octets,
      start + (v6 ? HEADERS_BYTES_MAX : IPV4_BYTES + UDP_BYTES),
      end,
      host.port,
      host.host,
    )
  }

  get pending(): number {
    return this.socket.pending
  }

  handleTimer(): void {}

  close(): void {
    this.socket.close()
  }

  private arrived(octets: Uint8Array, host: string, port: number): void {
    const route = this.senderOf(host, port)
    if (route === undefined) return
    if (this.receiveDatagram !== undefined) {
      this.receiveDatagram(this.clock.now(), octets, route, port)
      return
    }
    const { scratch } = this
    const headers = route.octets
    const bth = headers.length
    const end = bth + octets.length
    scratch.set(headers)
    scratch.set(octets, bth)
    const udp = bth - UDP_BYTES
    put16(scratch, udp, port)
    put16(scratch, udp + 4, end - udp)
    if (route.version === 4) {
      put16(scratch, 2, end)
      scratch[8] = HOP_LIMIT
      let sum = route.headerSum + end + (HOP_LIMIT << 8)
      sum = (sum & 0xffff) + (sum >>> 16)
      put16(scratch, 10, ~((sum & 0xffff) + (sum >>> 16)))
    } else {
      scratch[0] = 0x60
      put16(scratch, 4, end - udp)
      scratch[7] = HOP_LIMIT
    }
    this.receive(this.clock.now(), scratch, 0, end)
  }

  /** The headers of what a host sends here. */
  private senderOf(host: string, port: number): Route | undefined {
    const named = this.peers.size > 0 ? `${host} ${port}` : host
    let route = this.senders.get(named)
    if (route !== undefined) return route
    const source = this.peers.get(`${host} ${port}`) ?? gidOf(host)
    if (source === undefined || isMapped(source) !== isMapped(this.own)) return undefined
    // Whoever sends from ever new addresses makes them be formed again, and no more.
    if (this.senders.size >= SENDERS_MAX) this.senders.clear()
    route = new Route({ source, destination: this.own })
    this.senders.set(named, route)
    return route
  }
}

const put16 = (octets: Uint8Array, at: number, value: number): void => {
  octets[at] = value >>> 8
  octets[at + 1] = value
}
