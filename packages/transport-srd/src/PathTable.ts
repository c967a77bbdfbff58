import type { Time } from "@rdmakit/protocol"
import { hash32 } from "@rdmakit/units"
import type { SrdConfig } from "./SrdConfig.ts"

/** Words of a path: its entropy, its draw, packets sent and acknowledged, losses in a row, its list of packets. */
const SHIFT = 3
const ENTROPY = 0
const DRAW = 1
const SENT = 2
const ACKNOWLEDGED = 3
const LOSSES = 4
/** First and last packet under way, places in `SentPackets`; its own. */
export const HEAD = 5
export const TAIL = 6

/** UDP source ports of encapsulations (RFC 6335: dynamic ports): 2^14 of them. */
const FIRST_PORT = 0xc000
const PORT_BITS = 0x3fff

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
  words = new Int32Array(4 << SHIFT)
  private rtts = new Float64Array(4)
  /** Draws so far. */
  private draws = 0
  private at = -1
  /** Paths whose RTT is known, and the sum of these, ps. */
  private known = 0
  private sumPs = 0
  private readonly config: SrdConfig
  private readonly seed: number
  private readonly stream: number

  /** @param seed and @param stream of the draws, 32 bits each */
  constructor(config: SrdConfig, seed: number, stream: number) {
    this.config = config
    this.seed = seed
    this.stream = stream
  }

  /** The UDP source port that stands for a path. */
  entropy(path: number): number {
    return this.words[(path << SHIFT) | ENTROPY]!
  }
  /** Which draw the path's port is: another one, another way. */
  draw(path: number): number {
    return this.words[(path << SHIFT) | DRAW]!
  }
  /** Smoothed RTT, ps; 0: not known. */
  rttPs(path: number): Time {
    return this.rtts[path]!
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
    if (this.words[(at << SHIFT) | SENT]! >= this.config.renewAfterPackets) this.renew(at)
    return at
  }

  /** A path for a packet that was lost on path `not`: one that is known to be alive, where there is one. */
  other(not: number): number {
    const { count, words } = this
    let at = this.at
    for (let tries = 0; tries < count; tries++) {
      if (++at >= count) at = 0
      if (at === not || words[(at << SHIFT) | LOSSES] !== 0 || words[(at << SHIFT) | ACKNOWLEDGED] === 0) continue
      this.at = at
      return at
    }
    if (count < this.config.paths) return this.open()
    const next = this.next()
    if (next === not) this.renew(next)
    return next
  }

  sent(path: number): void {
    this.words[(path << SHIFT) | SENT]!++
  }

  /** A packet came through on the path, by the draw that it was. True: the path is too slow, and was given up. */
  acknowledged(path: number, draw: number, rttPs: Time): boolean {
    const base = path << SHIFT
    const { words, rtts } = this
    if (words[base | DRAW] !== draw) return false
    words[base | LOSSES] = 0
    const samples = ++words[base | ACKNOWLEDGED]!
    const was = rtts[path]!
    const is = was === 0 ? rttPs : was + (rttPs - was) / 4
    rtts[path] = is
    if (was === 0) this.known++
    this.sumPs += is - was
    // One sample is chance.
    if (samples < 2 || this.known < LEAST_KNOWN || is * this.known <= this.config.overloadFactor * this.sumPs)
      return false
    this.overloaded++
    this.renew(path)
    return true
  }

  /** A packet was lost on the path, by the draw that it was. True: the path is dead, and was given up. */
  lost(path: number, draw: number): boolean {
    const base = path << SHIFT
    const { words } = this
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
    const base = path << SHIFT
    const { words, rtts } = this
    if (rtts[path] !== 0) {
      this.known--
      this.sumPs = this.known === 0 ? 0 : this.sumPs - rtts[path]!
      rtts[path] = 0
    }
    const draw = this.draws++
    words[base | DRAW] = draw
    words[base | ENTROPY] = FIRST_PORT | (hash32(this.seed, this.stream, draw) & PORT_BITS)
    words[base | SENT] = 0
    words[base | ACKNOWLEDGED] = 0
    words[base | LOSSES] = 0
  }

  private open(): number {
    const path = this.count++
    if (path === this.rtts.length) this.grow()
    this.words[(path << SHIFT) | HEAD] = -1
    this.words[(path << SHIFT) | TAIL] = -1
    this.renew(path)
    this.at = path
    return path
  }

  private grow(): void {
    const to = Math.min(this.rtts.length * 4, Math.max(this.config.paths, this.rtts.length + 1))
    const words = new Int32Array(to << SHIFT)
    words.set(this.words)
    this.words = words
    const rtts = new Float64Array(to)
    rtts.set(this.rtts)
    this.rtts = rtts
  }
}

/** Where a path's word lies. */
export const pathWord = (path: number, word: number): number => (path << SHIFT) | word
