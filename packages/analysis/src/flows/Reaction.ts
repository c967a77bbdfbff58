/** Rates are measured over so many buckets before a notification and after it. */
const BUCKETS = 8
const BUCKET_NS = 50_000
/** A rate that is lower by this share is a reaction. */
const SLOWER = 0.9

/** What a sender does after congestion notifications: its rate before and after, over 0.4 ms each. */
export class Reaction {
  readonly #bytes = new Array<number>(BUCKETS).fill(0)
  #bucket = -1
  /** Octets in a nanosecond. */
  #before = 0
  #after = 0
  #untilNs = Number.NaN
  /** Notifications that could be judged. */
  measured = 0
  /** Those after which the sender was slower. */
  slower = 0
  beforeBps = 0
  afterBps = 0

  /** The sender has sent a packet. */
  sent(bytes: number, timeNs: number): void {
    this.#settle(timeNs)
    if (!Number.isNaN(this.#untilNs)) this.#after += bytes
    this.#advance(timeNs)
    this.#bytes[((this.#bucket % BUCKETS) + BUCKETS) % BUCKETS]! += bytes
  }

  /** The sender was told of congestion. */
  notified(timeNs: number): void {
    this.#settle(timeNs)
    if (!Number.isNaN(this.#untilNs)) return
    this.#advance(timeNs)
    const coveredNs = (BUCKETS - 1) * BUCKET_NS + (timeNs - this.#bucket * BUCKET_NS)
    this.#before = this.#bytes.reduce((sum, each) => sum + each, 0) / coveredNs
    this.#after = 0
    this.#untilNs = timeNs + BUCKETS * BUCKET_NS
  }

  #advance(timeNs: number): void {
    const bucket = Math.floor(timeNs / BUCKET_NS)
    if (bucket - this.#bucket >= BUCKETS) this.#bytes.fill(0)
    else for (let each = this.#bucket + 1; each <= bucket; each++) this.#bytes[each % BUCKETS] = 0
    if (bucket > this.#bucket) this.#bucket = bucket
  }

  #settle(timeNs: number): void {
    if (!(timeNs >= this.#untilNs)) return
    this.#untilNs = Number.NaN
    if (this.#before === 0) return
    const after = this.#after / (BUCKETS * BUCKET_NS)
    this.measured++
    this.beforeBps += (this.#before * 8e9 - this.beforeBps) / this.measured
    this.afterBps += (after * 8e9 - this.afterBps) / this.measured
    if (after < SLOWER * this.#before) this.slower++
  }
}
