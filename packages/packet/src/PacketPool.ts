import {
  EXT,
  EXTENSION,
  EXTENSION_SHIFT,
  EXTENSION_WORDS,
  NEXT,
  PAYLOAD_BYTES,
  RECORD_SHIFT,
  RECORD_WORDS,
  TELEMETRY,
} from "./Layout.ts"
import { lineBuffer } from "./lineBuffer.ts"
import { Payloads } from "./Payloads.ts"
import { PoolExhausted } from "./PoolExhausted.ts"
import { exactTelemetry, type TelemetryFormat } from "./Telemetry.ts"

/** What a packet can name: hops in seven bits of its telemetry word, blocks in twenty-four. */
const HOPS_MAX = 127
const BLOCKS_MAX = 1 << 24

/** Room for records, each in one cache line. */
const records = (count: number) => {
  const words = count * RECORD_WORDS
  const buffer = lineBuffer(4 * words)
  return { words: new Int32Array(buffer, 0, words), f64: new Float64Array(buffer, 0, words >> 1) }
}

export interface PoolOptions {
  /** Packets to make room for at first. Default 1,024, and no more than the limit. */
  readonly capacity?: number
  /** Most packets alive at once. Default 2^25. */
  readonly limit?: number
  /** Telemetry hops a block holds: the most switches on a path that stamp, up to 127. 0 (default): no telemetry. */
  readonly telemetryHops?: number
  /** Default `exactTelemetry`. */
  readonly telemetryFormat?: TelemetryFormat
  /** Rates that a hop's rate code stands for, bit/s. */
  readonly telemetryRates?: ArrayLike<number>
}

/**
 * Every packet of a world, in struct-of-arrays form. A packet is an integer handle; `Packet` is the cursor to read one.
 *
 * Gotcha: `words`, `f64`, `extension` and `telemetry` are replaced when the pool grows, so read them from
 * the pool after every `alloc`, never keep them across one. `pool.extension[packet.extend()] = value` is that mistake:
 * the array is read first.
 */
export class PacketPool {
  /** The records, as words and as doubles; see `Layout`. */
  words: Int32Array
  f64: Float64Array
  extension: Int32Array = new Int32Array(0)
  telemetry: Int32Array
  /** Words in a telemetry block; 0 when the run carries none. */
  readonly telemetryStride: number
  readonly telemetryHops: number
  readonly telemetryFormat: TelemetryFormat
  readonly telemetryRates: ArrayLike<number>
  /** Payloads of real octets; a packet with one owns its slice. */
  readonly payloads: Payloads
  /** Packets alive now. */
  alive = 0
  /** Most packets alive at once so far. */
  alivePeak = 0

  private readonly limit: number
  private capacity: number
  /** Records given back, a list; and the first that was never given out: no memory is touched before it is needed. */
  private free = -1
  private fresh = 0
  private freeExtension = -1
  private freeTelemetry = -1
  private freshTelemetry = 0

  /** @throws RangeError for more telemetry hops than a packet can count */
  constructor(options: PoolOptions = {}) {
    this.limit = options.limit ?? 1 << 25
    this.capacity = Math.min(Math.max(16, options.capacity ?? 1024), this.limit)
    this.telemetryHops = options.telemetryHops ?? 0
    if (!(this.telemetryHops >= 0 && this.telemetryHops <= HOPS_MAX)) {
      throw new RangeError(`telemetryHops ${this.telemetryHops}: 0 to ${HOPS_MAX}`)
    }
    this.telemetryFormat = options.telemetryFormat ?? exactTelemetry
    this.telemetryRates = options.telemetryRates ?? []
    this.telemetryStride = this.telemetryFormat.hopWords * this.telemetryHops
    this.payloads = new Payloads(this.limit)
    const { words, f64 } = records(this.capacity)
    this.words = words
    this.f64 = f64
    this.telemetry = new Int32Array(this.capacity * this.telemetryStride)
  }

  /** A fresh packet: every word zero, no telemetry, no extension. Throws `PoolExhausted` at the limit. */
  alloc(): number {
    let handle = this.free
    if (handle >= 0) {
      this.free = this.words[(handle << RECORD_SHIFT) | NEXT]!
    } else {
      if (this.fresh === this.capacity) this.grow()
      handle = this.fresh++
    }
    if (++this.alive > this.alivePeak) this.alivePeak = this.alive
    this.clear(handle)
    return handle
  }

  /** Makes a packet that is alive as good as fresh, for an answer in its place. */
  recycle(handle: number): void {
    this.releaseAttached(handle)
    this.clear(handle)
  }

  private clear(handle: number): void {
    // Plain stores: TypedArray.fill costs a call, and this runs once per packet.
    const base = handle << RECORD_SHIFT
    const half = base >> 1
    const { f64, words } = this
    f64[half] = 0
    f64[half + 1] = 0
    f64[half + 2] = 0
    f64[half + 3] = 0
    f64[half + 4] = 0
    f64[half + 5] = 0
    f64[half + 6] = 0
    f64[half + 7] = 0
    words[base + TELEMETRY] = -1
    words[base + NEXT] = -1
    words[base + EXTENSION] = -1
  }

  /** A copy of a packet, its telemetry and extension included. */
  duplicate(handle: number): number {
    const to = this.alloc() << RECORD_SHIFT
    const from = handle << RECORD_SHIFT
    this.words.copyWithin(to, from, from + RECORD_WORDS)
    this.words[to + NEXT] = -1
    const telemetry = this.words[to + TELEMETRY]!
    if (telemetry >= 0) {
      const block = this.allocTelemetry()
      const start = (telemetry & 0xffffff) * this.telemetryStride
      this.telemetry.copyWithin(block * this.telemetryStride, start, start + this.telemetryStride)
      this.words[to + TELEMETRY] = block | (telemetry & ~0xffffff)
    }
    const extension = this.words[to + EXTENSION]!
    if (extension >= 0) {
      const index = this.allocExtension()
      const start = extension << EXTENSION_SHIFT
      this.extension.copyWithin(index << EXTENSION_SHIFT, start, start + EXTENSION_WORDS)
      this.words[to + EXTENSION] = index
      this.duplicatePayload(index << EXTENSION_SHIFT, this.words[to + PAYLOAD_BYTES]!)
    }
    return to >> RECORD_SHIFT
  }

  /** The extension record at `at` is a copy: its payload becomes one too. */
  private duplicatePayload(at: number, bytes: number): void {
    const slice = this.extension[at + EXT.payloadSlice]!
    if (slice === 0) return
    this.extension[at + EXT.payloadSlice] = this.payloads.duplicate(
      slice,
      this.extension[at + EXT.payloadOffset]!,
      bytes,
    )
    this.extension[at + EXT.payloadOffset] = 0
  }

  /** Gives a packet back, with its telemetry, extension and payload. */
  release(handle: number): void {
    this.releaseAttached(handle)
    this.words[(handle << RECORD_SHIFT) + NEXT] = this.free
    this.free = handle
    this.alive--
  }

  private releaseAttached(handle: number): void {
    const base = handle << RECORD_SHIFT
    const telemetry = this.words[base + TELEMETRY]!
    if (telemetry >= 0) this.releaseTelemetry(telemetry)
    const extension = this.words[base + EXTENSION]!
    if (extension >= 0) this.releaseExtension(extension)
  }

  /** A telemetry block without hops. */
  allocTelemetry(): number {
    let block = this.freeTelemetry
    if (block >= 0) {
      this.freeTelemetry = this.telemetry[block * this.telemetryStride]!
    } else {
      const stride = this.telemetryStride
      if (stride === 0 || (this.freshTelemetry + 1) * stride > this.telemetry.length) this.growTelemetry()
      block = this.freshTelemetry++
    }
    return block
  }

  /** Gives back a block, as the TELEMETRY word names it. */
  releaseTelemetry(telemetry: number): void {
    const block = telemetry & 0xffffff
    this.telemetry[block * this.telemetryStride] = this.freeTelemetry
    this.freeTelemetry = block
  }

  /** An extension record, every word zero. */
  allocExtension(): number {
    if (this.freeExtension < 0) this.growExtension()
    const index = this.freeExtension
    const base = index << EXTENSION_SHIFT
    const { extension } = this
    this.freeExtension = extension[base]!
    // Plain stores, as in `clear`.
    for (let word = base; word < base + EXTENSION_WORDS; word++) extension[word] = 0
    return index
  }

  releaseExtension(index: number): void {
    const slice = this.extension[(index << EXTENSION_SHIFT) + EXT.payloadSlice]!
    if (slice !== 0) this.payloads.release(slice)
    this.extension[index << EXTENSION_SHIFT] = this.freeExtension
    this.freeExtension = index
  }

  private grow(): void {
    if (this.capacity >= this.limit) throw new PoolExhausted("packets", this.limit)
    const from = this.capacity
    this.capacity = Math.min(this.limit, from * 2)
    const { words, f64 } = records(this.capacity)
    words.set(this.words)
    this.words = words
    this.f64 = f64
  }

  private growTelemetry(): void {
    const stride = this.telemetryStride
    if (stride === 0) throw new RangeError("this pool carries no telemetry: make it with telemetryHops")
    const from = this.telemetry.length / stride
    if (from >= BLOCKS_MAX) throw new PoolExhausted("telemetry blocks", BLOCKS_MAX)
    const to = Math.max(256, from * 2)
    const grown = new Int32Array(to * stride)
    grown.set(this.telemetry)
    this.telemetry = grown
  }

  private growExtension(): void {
    const from = this.extension.length >> EXTENSION_SHIFT
    const to = Math.max(64, from * 2)
    const grown = new Int32Array(to << EXTENSION_SHIFT)
    grown.set(this.extension)
    this.extension = grown
    for (let i = to - 1; i >= from; i--) {
      grown[i << EXTENSION_SHIFT] = this.freeExtension
      this.freeExtension = i
    }
  }
}
