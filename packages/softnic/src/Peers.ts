import type { GidEntry } from "@rdmakit/protocol"
import { AddressTable } from "./AddressTable.ts"
import type { Link, LinkPath } from "./Link.ts"

/** Peers that nothing holds and whose number is kept: whoever sends next may be one of them. */
export const IDLE_MAX = 1024

/** The way to a peer from one of our addresses. */
export interface Flow {
  /** Of the peer's address. */
  readonly peer: number
  /** Of the path, among `paths`. */
  readonly number: number
}

/**
 * Numbers of peers, and paths to them. What holds a path (an address handle, a queue pair) holds the peer; one that nothing
 * holds gives way once more than `IDLE_MAX` others are like it, or when numbers run out: of those that have not sent since,
 * the one that was let go first.
 */
export class Peers {
  /** By the numbers of flows. */
  readonly paths: Array<LinkPath | undefined> = []
  private readonly port: Link
  private readonly table: AddressTable
  private readonly gone: (peer: number) => void
  /** How many hold each. */
  private readonly holders: Array<number> = []
  /** Which of those that nothing holds have sent since they were let go, or since they were last passed over. */
  private readonly active: Uint8Array
  /** Those that nothing holds, in the order in which they may have to give way. */
  private readonly idle = new Set<number>()

  /** @param limit most peers @param gone told of each that gave way, before its number is given to another */
  constructor(port: Link, limit: number, gone: (peer: number) => void) {
    this.port = port
    this.table = new AddressTable(limit)
    this.gone = gone
    this.active = new Uint8Array(limit)
  }

  /** The peer with an address, as words, which has sent a packet; -1: it has no number. */
  heard(a: number, b: number, c: number, d: number): number {
    const peer = this.table.find(a, b, c, d)
    if (peer >= 0) this.active[peer] = 1
    return peer
  }

  /** A path to an address, held until `release`; undefined: nobody can be there, or all numbers are held. */
  hold(source: GidEntry, destination: Uint8Array): Flow | undefined {
    const peer = this.numberOf(destination)
    if (peer < 0) return undefined
    const number = peer * this.port.gids.length + source.index
    this.paths[number] ??= this.port.path(source, destination)
    this.idle.delete(peer)
    this.holders[peer] = (this.holders[peer] ?? 0) + 1
    if (this.paths[number] !== undefined) return { peer, number }
    this.release(peer)
    return undefined
  }

  /** One that held it does no more. */
  release(peer: number): void {
    const left = this.holders[peer]! - 1
    this.holders[peer] = left
    if (left > 0) return
    if (this.idle.size >= IDLE_MAX) this.evict()
    this.active[peer] = 0
    this.idle.add(peer)
  }

  private numberOf(destination: Uint8Array): number {
    const peer = this.table.add(destination)
    if (peer >= 0 || this.idle.size === 0) return peer
    this.evict()
    return this.table.add(destination)
  }

  private evict(): void {
    for (const peer of this.idle) {
      this.idle.delete(peer)
      if (this.active[peer] === 0) {
        this.remove(peer)
        return
      }
      this.active[peer] = 0
      this.idle.add(peer)
    }
  }

  private remove(peer: number): void {
    const sources = this.port.gids.length
    for (let number = peer * sources; number < (peer + 1) * sources; number++) {
      const path = this.paths[number]
      if (path === undefined) continue
      this.port.forget(path)
      this.paths[number] = undefined
    }
    this.table.remove(peer)
    this.gone(peer)
  }
}
