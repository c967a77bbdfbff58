import { DOUBLE_ZERO, type Time } from "@rdmakit/protocol"
import { hash32 } from "@rdmakit/units"
import { F64, RECORD_SHIFT, type Records } from "./Records.ts"
import type { SrdConfig } from "./SrdConfig.ts"

/** Words of a path: entropy, draw, packets sent and acknowledged, losses in a row, last packet; the double: smoothed RTT, ps. */
const ENTROPY = 0
const DRAW = 1
const SENT = 2
const ACKNOWLEDGED = 3
const LOSSES = 4
const LAST = 5

/**
 * UDP source ports that a path may have: all but the system's (RFC 6335 §6). Of the dynamic ones alone, 2^14, one of 16
 * links would have 3 % more than another by chance, for good.
 */
const FIRST_PORT = 1024
const PORTS = 65_536 - FIRST_PORT

/** Paths with a known RTT before any is held against the others. */
const LEAST_KNOWN = 4

/**
 * The paths that a context spreads its packets over, each a UDP source port: switches hash it, at every hop, and so it
 * stands for a way through the network and back. Packets take them in turn. A path is given up, and a port never seen
 * before takes its place, when it is slower than the others, when it is dead, and after some packets in any case.
 */
export class PathTable {
  /** Paths opened so far: one for each packet, up to all. */
  count = 0
  /** Paths given up because they were slow, and because they were dead. */
  overloaded = 0
  dead = 0
  private block = 0
  /** log2 of the records in the block; -1: there is none. */
  private size = -1
  /** Draws so far. */
  private draws = 0
  private at = -1
  /** Paths whose RTT is known, and the sum of these, ps. */
  private known = 0
  private sumPs: number = DOUBLE_ZERO
  private readonly config: SrdConfig
  private readonly records: Records
  private readonly seed: number
  private readonly stream: number

  /** @param seed and @param stream of the draws, 32 bits each */
  constructor(config: SrdConfig, records: Records, seed: number, stream: number) {
    this.config = config
    this.records = records
    this.seed = seed
    this.stream = stream
  }

  private base(path: number): number {
    return (this.block + path) << RECORD_SHIFT
  }

  /** The UDP source port that stands for a path. */
  entropy(path: number): number {
    return this.records.words[this.base(path) | ENTROPY]!
  }
  /** Which draw the path's port is: another one, another way. */
  draw(path: number): number {
    return this.records.words[this.base(path) | DRAW]!
  }
  /** Smoothed RTT, ps; 0: not known. */
  rttPs(path: number): Time {
    return this.records.f64[(this.base(path) >> 1) | F64]!
  }
  /** Mean of the RTTs that are known, ps; 0: none is. */
  get meanRttPs(): Time {
    return this.known === 0 ? 0 : this.sumPs / this.known
  }

  /** The path of the next packet. */
  next(): number {
    if (this.count < this.config.paths) return this.open()
    let at = this.at + 1
    if (at >= this.count) at = 0
    this.at = at
    if (this.records.words[this.base(at) | SENT]! >= this.config.renewAfterPackets) this.renew(at)
    return at
  }

  /** A path for a packet that was lost on path `not`: one that is known to be alive, where there is one. */
  other(not: number): number {
    const { count } = this
    const { words } = this.records
    let at = this.at
    for (let tries = 0; tries < count; tries++) {
      if (++at >= count) at = 0
      const base = this.base(at)
      if (at === not || words[base | LOSSES] !== 0 || words[base | ACKNOWLEDGED] === 0) continue
      this.at = at
      return at
    }
    if (count < this.config.paths) return this.open()
    const next = this.next()
    if (next === not) this.renew(next)
    return next
  }

  /** Packet `number` leaves by the path. @returns the one before it by this draw, -1: there was none */
  sent(path: number, number: number): number {
    const base = this.base(path)
    const { words } = this.records
    const before = words[base | LAST]!
    words[base | SENT]!++
    words[base | LAST] = number
    return before
  }

  /** A packet came through on the path, by the draw that it was. True: the path is too slow, and was given up. */
  acknowledged(path: number, draw: number, rttPs: Time): boolean {
    const base = this.base(path)
    const { words, f64 } = this.records
    if (words[base | DRAW] !== draw) return false
    words[base | LOSSES] = 0
    const samples = ++words[base | ACKNOWLEDGED]!
    const place = (base >> 1) | F64
    const was = f64[place]!
    const is = was === 0 ? rttPs : was + (rttPs - was) / 4
    f64[place] = is
    if (was === 0) this.known++
    this.sumPs += is - was
    // One sample is chance.
    if (samples < 2 || this.known < LEAST_KNOWN) return false
    if (is * this.known <= this.config.overloadFactor * this.sumPs) return false
    this.overloaded++
    this.renew(path)
    return true
  }

  /** A packet was lost on the path, by the draw that it was. True: the path is dead, and was given up. */
  lost(path: number, draw: number): boolean {
    const base = this.base(path)
    const { words } = this.records
    if (words[base | DRAW] !== draw) return false
    const losses = ++words[base | LOSSES]!
    // One that nothing ever came through by gets no second chance.
    if (losses < this.config.deadAfterLosses && words[base | ACKNOWLEDGED]! > 0) return false
    this.dead++
    this.renew(path)
    return true
  }

  /** Another port for a path. */
  private renew(path: number): void {
    const base = this.base(path)
    const was = this.records.f64[(base >> 1) | F64]!
    if (was !== 0) {
      this.known--
      this.sumPs = this.known === 0 ? 0 : this.sumPs - was
    }
    this.draws++
    this.drawn(base)
  }

  private drawn(base: number): void {
    const { words, f64 } = this.records
    words[base | DRAW] = this.draws
    words[base | ENTROPY] = FIRST_PORT + Math.floor((hash32(this.seed, this.stream, this.draws) * PORTS) / 2 ** 32)
    words[base | SENT] = 0
    words[base | ACKNOWLEDGED] = 0
    words[base | LOSSES] = 0
    words[base | LAST] = -1
    f64[(base >> 1) | F64] = 0
  }

  private open(): number {
    const path = this.count++
    if (this.size < 0 || path === 1 << this.size) this.grow()
    this.draws++
    this.drawn(this.base(path))
    this.at = path
    return path
  }

  private grow(): void {
    const { records, size, block } = this
    const next = size + 1
    const to = records.take(next)
    if (size >= 0) {
      records.words.copyWithin(to << RECORD_SHIFT, block << RECORD_SHIFT, (block + (1 << size)) << RECORD_SHIFT)
      records.give(block, size)
    }
    this.block = to
    this.size = next
  }

  /** Forgets all paths: the context has nothing under way. */
  release(): void {
    if (this.size >= 0) this.records.give(this.block, this.size)
    this.size = -1
    this.count = 0
    this.at = -1
    this.known = 0
    this.sumPs = 0
  }
}
