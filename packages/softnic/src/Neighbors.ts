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
  readonly routes: Set<Route>
  /** How many hold a path over it. */
  wanted: number
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
/**
 * Neighbours that nothing holds a path to are asked for as often, while they are few: whoever sends from ever new addresses,
 * and is answered, does not make a flood of questions of it.
 */
const UNWANTED_MAX = 16
const UNWANTED_ASKED_MAX = 2
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

/** Neighbours by address: those that paths lead over, and no others. */
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
    if (number >= 0 && !this.isUsed(number)) {
      this.all[number] = {
        address: address.slice(),
        own,
        mac: 0,
        routes: new Set(),
        wanted: 0,
        waiting: [],
        asked: 0,
        askAt: NEVER,
      }
    }
    return number
  }

  private isUsed(number: number): boolean {
    return (this.all[number]?.routes.size ?? 0) > 0
  }

  /** A path over it is held, once more: it is asked for unless it is known, or has been asked for. */
  want(now: Time, number: number): void {
    const neighbor = this.all[number]!
    neighbor.wanted++
    this.find(now, neighbor)
  }

  /** One that held a path over it does no more. */
  unwant(number: number): void {
    this.all[number]!.wanted--
  }

  /** A path over it is gone: with the last one the neighbour is, and its number may be another's. */
  leave(number: number, route: Route): void {
    const neighbor = this.all[number]!
    neighbor.routes.delete(route)
    if (neighbor.routes.size > 0) return
    this.giveUp(neighbor)
    this.table.remove(number)
  }

  /** A packet waits until the neighbour answers; those beyond the bound, and those that wait in vain, are dropped. */
  hold(now: Time, number: number, packet: KeptPacket): void {
    const neighbor = this.all[number]!
    const hasRoom = neighbor.waiting.length < WAITING_EACH && (this.waiting < WAITING_MAX || this.makeRoom())
    if (!hasRoom || !this.isUsed(number)) {
      this.port.drop(packet)
      return
    }
    neighbor.waiting.push(packet)
    this.waiting++
    this.find(now, neighbor)
  }

  /** Packets to whom nothing holds a path give way. False: there are none. */
  private makeRoom(): boolean {
    const unwanted = this.all.find(({ wanted, waiting }) => wanted === 0 && waiting.length > 0)
    if (unwanted !== undefined) this.giveUp(unwanted)
    return unwanted !== undefined
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
    let unwanted = 0
    for (const neighbor of this.all) {
      if (neighbor.askAt === NEVER) continue
      if (neighbor.wanted === 0) unwanted++
      if (neighbor.askAt <= now) {
        const most = neighbor.wanted > 0 || unwanted <= UNWANTED_MAX ? ASKED_MAX : UNWANTED_ASKED_MAX
        if (neighbor.asked < most) this.ask(now, neighbor)
        else this.giveUp(neighbor)
      }
      this.nextTimer = Math.min(this.nextTimer, neighbor.askAt)
    }
  }

  private find(now: Time, neighbor: Neighbor): void {
    if (neighbor.mac === 0 && neighbor.askAt === NEVER) this.ask(now, neighbor)
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
