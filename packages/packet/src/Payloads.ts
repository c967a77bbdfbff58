import { PayloadTooLong } from "./PayloadTooLong.ts"
import { PoolExhausted } from "./PoolExhausted.ts"

/** Octets that fit a slice: the largest path MTU of InfiniBand. */
export const SLICE_BYTES = 4096
/** Room around a payload, for a codec to write headers in front of it and what comes behind. */
export const HEADROOM_BYTES = 192
const TAILROOM_BYTES = 64
const STRIDE = HEADROOM_BYTES + SLICE_BYTES + TAILROOM_BYTES
/** Slices in a slab. */
const SLAB_SLICES = 64
/** The slice that stands for octets which are somebody else's. */
export const BORROWED = -1

/** Octets of a payload: from `start` on in `octets`. */
export interface PayloadPlace {
  octets: Uint8Array
  start: number
}

/**
 * Payloads of real octets: slices of slabs, numbered from 1. A slice holds the payload of one packet, with
 * `HEADROOM_BYTES` free in front of it.
 */
export class Payloads {
  /** Slices in use. */
  alive = 0
  /** Whose octets a borrowed payload is. */
  borrowed: Uint8Array = new Uint8Array(0)
  private readonly limit: number
  private readonly slabs: Array<Uint8Array> = []
  private readonly free: Array<number> = []
  private readonly spot: PayloadPlace = { octets: this.borrowed, start: 0 }

  /** @param limit most slices in use at once */
  constructor(limit: number) {
    this.limit = limit
  }

  /**
   * A slice for so many octets, which are as whoever had it before left them.
   * @throws PoolExhausted
   * @throws PayloadTooLong for more than `SLICE_BYTES`: the slice behind would be written over
   */
  alloc(bytes: number): number {
    if (bytes > SLICE_BYTES) throw new PayloadTooLong(bytes, SLICE_BYTES)
    if (this.alive >= this.limit) throw new PoolExhausted("payloads", this.limit)
    if (this.free.length === 0) this.grow()
    this.alive++
    return this.free.pop()!
  }

  release(slice: number): void {
    if (slice === BORROWED) return
    this.alive--
    this.free.push(slice)
  }

  /** Where a slice's payload lies, `offset` octets from its start; good until the next call. */
  place(slice: number, offset: number): PayloadPlace {
    const { spot } = this
    if (slice === BORROWED) {
      spot.octets = this.borrowed
      spot.start = offset
    } else {
      const index = slice - 1
      spot.octets = this.slabs[Math.floor(index / SLAB_SLICES)]!
      spot.start = (index % SLAB_SLICES) * STRIDE + HEADROOM_BYTES + offset
    }
    return spot
  }

  /** A slice with the same octets. @throws PoolExhausted, PayloadTooLong */
  duplicate(slice: number, offset: number, bytes: number): number {
    const to = this.alloc(bytes)
    const { octets, start } = this.place(slice, offset)
    const copy = octets.subarray(start, start + bytes)
    const place = this.place(to, 0)
    place.octets.set(copy, place.start)
    return to
  }

  private grow(): void {
    const first = this.slabs.length * SLAB_SLICES + 1
    this.slabs.push(new Uint8Array(SLAB_SLICES * STRIDE))
    for (let slice = first + SLAB_SLICES - 1; slice >= first; slice--) this.free.push(slice)
  }
}
