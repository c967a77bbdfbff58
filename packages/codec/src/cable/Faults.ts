import { MICROSECOND, type Time, uniform } from "@rdmakit/units"
import { type Cable, Middleware } from "./Contract.ts"

/** What becomes of packets; probabilities from 0 to 1, each by default 0. They are drawn in this order. */
export interface FaultOptions {
  /** 32 bits. The same seed and the same packets: the same faults. */
  readonly seed: number
  /** The packet is gone. */
  readonly loss?: number
  /** One bit of the packet is turned. */
  readonly corruption?: number
  /** The packet comes twice. */
  readonly duplication?: number
  /** The packet waits for `reorderPs`, so that later ones pass it. */
  readonly reordering?: number
  /** Default 200 µs. */
  readonly reorderPs?: Time
  /** Every packet waits, evenly distributed between these two. Those of one direction may pass each other. */
  readonly delayPs?: readonly [least: Time, most: Time]
  /** Which way. Default "both". */
  readonly direction?: "in" | "out" | "both"
  /** Leaves alone those it returns false for. */
  readonly only?: (octets: Uint8Array, start: number, end: number) => boolean
  /** Most packets that wait at once; those beyond are lost. Default 4,096. */
  readonly waitingMax?: number
}

/** How often each has happened. */
export interface FaultCounts {
  passed: number
  lost: number
  corrupted: number
  duplicated: number
  reordered: number
  /** There were too many that waited. */
  overflowed: number
}

interface Waiting {
  readonly due: Time
  readonly order: number
  readonly outward: boolean
  readonly octets: Uint8Array
}

const IN = 0
const OUT = 1
/** What is drawn for one packet. */
const DRAWS = 8

/**
 * Loses, turns over, repeats and holds up packets by seeded chance. Packets draw in their order, one stream a direction, so
 * a run whose packets are the same has the same faults.
 */
export class FaultInjector extends Middleware {
  readonly counts: FaultCounts = { passed: 0, lost: 0, corrupted: 0, duplicated: 0, reordered: 0, overflowed: 0 }
  private readonly options: FaultOptions
  private readonly drawn = [0, 0]
  /** By due time, then by order. */
  private readonly waiting: Array<Waiting> = []
  private order = 0

  constructor(inner: Cable, options: FaultOptions) {
    super(inner)
    for (const name of ["loss", "corruption", "duplication", "reordering"] as const) {
      const chance = options[name] ?? 0
      if (!(chance >= 0 && chance <= 1)) throw new RangeError(`${name} ${chance}: a probability from 0 to 1`)
    }
    this.options = options
  }

  override get nextTimer(): Time {
    const first = this.waiting[0]
    return first === undefined ? this.inner.nextTimer : Math.min(first.due, this.inner.nextTimer)
  }

  override handleTimer(now: Time): void {
    for (let first = this.waiting[0]; first !== undefined && first.due <= now; first = this.waiting[0]) {
      this.waiting.shift()
      this.hand(now, first.octets, 0, first.octets.length, first.outward)
    }
    if (this.inner.nextTimer <= now) this.inner.handleTimer(now)
  }

  protected override arrived(now: Time, octets: Uint8Array, start: number, end: number): void {
    this.pass(now, octets, start, end, IN)
  }

  override send(now: Time, octets: Uint8Array, start: number, end: number): boolean {
    return this.pass(now, octets, start, end, OUT)
  }

  override close(): void {
    this.waiting.length = 0
    super.close()
  }

  private pass(now: Time, octets: Uint8Array, start: number, end: number, side: 0 | 1): boolean {
    const { options, counts } = this
    const outward = side === OUT
    const { direction = "both", only } = options
    if ((direction !== "both" && (direction === "out") !== outward) || only?.(octets, start, end) === false)
      return this.hand(now, octets, start, end, outward)
    const place = this.drawn[side]! * DRAWS
    this.drawn[side]!++
    const draw = (index: number): number => uniform(options.seed, side, place + index)
    if (draw(0) < (options.loss ?? 0)) {
      counts.lost++
      return true
    }
    counts.passed++
    let [packet, at, to] = [octets, start, end]
    if (draw(1) < (options.corruption ?? 0)) {
      counts.corrupted++
      packet = copyOf(octets, start, end)
      ;[at, to] = [0, packet.length]
      const bit = Math.floor(draw(2) * packet.length * 8)
      packet[bit >> 3]! ^= 1 << (bit & 7)
    }
    const twice = draw(3) < (options.duplication ?? 0)
    if (twice) {
      counts.duplicated++
      this.hold(now + this.delay(draw(4)), packet, at, to, outward)
    }
    const late = draw(5) < (options.reordering ?? 0)
    if (late) counts.reordered++
    const wait = this.delay(draw(6)) + (late ? (options.reorderPs ?? 200 * MICROSECOND) : 0)
    if (wait === 0) return this.hand(now, packet, at, to, outward)
    this.hold(now + wait, packet, at, to, outward)
    return true
  }

  private delay(draw: number): Time {
    const [least, most] = this.options.delayPs ?? [0, 0]
    return Math.floor(least + draw * (most - least))
  }

  private hold(due: Time, octets: Uint8Array, start: number, end: number, outward: boolean): void {
    const { waiting } = this
    if (waiting.length >= (this.options.waitingMax ?? 4096)) {
      this.counts.overflowed++
      return
    }
    const held = { due, order: this.order++, outward, octets: copyOf(octets, start, end) }
    let at = waiting.length
    while (at > 0 && waiting[at - 1]!.due > due) at--
    waiting.splice(at, 0, held)
    if (!outward && at === 0) this.wake()
  }

  private hand(now: Time, octets: Uint8Array, start: number, end: number, outward: boolean): boolean {
    if (outward) return super.send(now, octets, start, end)
    super.arrived(now, octets, start, end)
    return true
  }
}

/** A copy, of a `Buffer` too, whose `slice` is none. */
const copyOf = (octets: Uint8Array, start: number, end: number): Uint8Array =>
  Uint8Array.prototype.slice.call(octets, start, end)
