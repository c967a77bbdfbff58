import type { Route } from "@rdmakit/codec"
import { NEVER, type Time } from "@rdmakit/protocol"
import { AddressTable } from "./AddressTable.ts"
import type { KeptPacket } from "./Link.ts"

/** A neighbour that packets go to: a peer of this network, or its gateway. */
export interface Neighbor {
  /** Its address, and ours that asks for it; 16 octets each. */
  readonly address: Uint8Array
  readonly own: Uint8Array
  /** 0 until it is known. */
  mac: number
  /** Headers of the paths over it, which have its MAC. */
  readonly routes: Array<Route>
  /** Packets until it answers. */
  readonly waiting: Array<KeptPacket>
  /** How often it was asked since it last answered, or was wanted anew. */
  asked: number
  /** When it is asked again, or given up; NEVER while nobody waits. */
  askAt: Time
}

/**
 * For three seconds, as Linux has it, but ten times a second (there once: net.ipv4.neigh.*.retrans_time_ms): a queue pair with
 * the usual timeout of 67 ms and seven retries gives up after half a second, and a question may be lost.
 */
const ASKED_MAX = 30
const ASK_PS = 0.1e12
/** Packets that may wait for one neighbour, and for all of them. */
const WAITING_EACH = 64
const WAITING_MAX = 1024

/** What a table of neighbours does to the network and to packets. */
export interface NeighborPort {
  ask(now: Time, neighbor: Neighbor): void
  /** It is known where the packet goes: its octets, written before, lack the MAC. */
  send(now: Time, packet: KeptPacket, mac: number): void
  drop(packet: KeptPacket): void
}

/** Neighbours by address: those that paths lead over, and no others, whoever sends here. */
export class Neighbors {
  readonly all: Array<Neighbor> = []
  private readonly table: AddressTable
  private readonly port: NeighborPort
  private waiting = 0
  /** When `handleTimer` is wanted: no later than the first `askAt`. */
  nextTimer: Time = NEVER

  constructor(port: NeighborPort, limit: number) {
    this.port = port
    this.table = new AddressTable(limit)
  }

  /** The number of the neighbour with this address; -1: there are too many. */
  add(address: Uint8Array, own: Uint8Array): number {
    const number = this.table.add(address)
    if (number === this.all.length) {
      this.all.push({
        address: address.slice(),
        own,
        mac: 0,
        routes: [],
        waiting: [],
        asked: 0,
        askAt: NEVER,
      })
    }
    return number
  }

  /** Asks for a neighbour unless it is known, or has been asked for. */
  want(now: Time, number: number): void {
    const neighbor = this.all[number]!
    if (neighbor.mac === 0 && neighbor.askAt === NEVER) this.ask(now, neighbor)
  }

  /** A packet waits until the neighbour answers; those beyond the bound, and those that wait in vain, are dropped. */
  hold(now: Time, number: number, packet: KeptPacket): void {
    const neighbor = this.all[number]!
    if (neighbor.waiting.length >= WAITING_EACH || this.waiting >= WAITING_MAX) {
      this.port.drop(packet)
      return
    }
    neighbor.waiting.push(packet)
    this.waiting++
    this.want(now, number)
  }

  /** An address was seen with a MAC, as words: it counts only when it is a neighbour's. */
  heard(now: Time, a: number, b: number, c: number, d: number, mac: number): void {
    const neighbor = this.all[this.table.find(a, b, c, d)]
    if (neighbor === undefined) return
    if (neighbor.mac !== mac) {
      neighbor.mac = mac
      for (const route of neighbor.routes) route.setDestinationMac(mac)
    }
    neighbor.asked = 0
    neighbor.askAt = NEVER
    this.waiting -= neighbor.waiting.length
    for (const packet of neighbor.waiting.splice(0)) this.port.send(now, packet, mac)
  }

  handleTimer(now: Time): void {
    this.nextTimer = NEVER
    for (const neighbor of this.all) {
      if (neighbor.askAt <= now) {
        if (neighbor.asked < ASKED_MAX) this.ask(now, neighbor)
        else this.giveUp(neighbor)
      }
      this.nextTimer = Math.min(this.nextTimer, neighbor.askAt)
    }
  }

  private ask(now: Time, neighbor: Neighbor): void {
    neighbor.asked++
    neighbor.askAt = now + ASK_PS
    this.nextTimer = Math.min(this.nextTimer, neighbor.askAt)
    this.port.ask(now, neighbor)
  }

  /** The next packet asks anew. */
  private giveUp(neighbor: Neighbor): void {
    neighbor.asked = 0
    neighbor.askAt = NEVER
    this.waiting -= neighbor.waiting.length
    for (const packet of neighbor.waiting.splice(0)) this.port.drop(packet)
  }
}
