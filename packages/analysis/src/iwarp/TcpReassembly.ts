/** Takes what a direction of a TCP stream carries, in order. */
export interface StreamSink {
  /** The next octets, the sink's to keep, and the frame that brought them. */
  readonly take: (octets: Uint8Array, frame: number) => void
  /** So many octets are not in the capture. */
  readonly lose: (bytes: number, frame: number) => void
  /** All of a segment was there before. */
  readonly repeat?: (frame: number) => void
}

interface Held {
  readonly sequence: number
  readonly octets: Uint8Array
  /** Octets on the wire; more than `octets` when the capture cut the packet. */
  readonly bytes: number
  readonly frame: number
}

/** What is held while a segment is awaited. Beyond it the segment counts as lost. */
const HELD_BYTES_MAX = 1 << 20
const HELD_SEGMENTS_MAX = 1024
/** What all streams that share a {@link HeldTotal} hold. */
const HELD_TOTAL_MAX = 1 << 24
/** What a segment takes besides its octets, so that small ones are bounded as large ones are. */
const SEGMENT_BYTES = 256

/** Octets held by streams together, so that many streams are bounded as one is. */
export class HeldTotal {
  bytes = 0

  get isFull(): boolean {
    return this.bytes > HELD_TOTAL_MAX
  }
}

/**
 * Puts one direction of a TCP stream in order (RFC 9293 §3.4): segments may come late, twice, overlap, be cut by the
 * capture, or never come.
 */
export class TcpReassembly {
  readonly #sink: StreamSink
  /** The next sequence number; undefined before the first. */
  #next: number | undefined
  #held: Array<Held> = []
  #heldBytes = 0
  readonly #total: HeldTotal
  /** Segments that were there already, whole. */
  repeated = 0
  /** Segments that came after later ones. */
  outOfOrder = 0
  lostBytes = 0

  constructor(sink: StreamSink, total: HeldTotal = new HeldTotal()) {
    this.#sink = sink
    this.#total = total
  }

  /** The first sequence number, from a SYN. */
  open(sequence: number): void {
    this.#next ??= (sequence + 1) >>> 0
  }

  /** A segment with `bytes` octets, of which the capture has `octets`. */
  push(sequence: number, octets: Uint8Array, bytes: number, frame: number): void {
    if (bytes === 0) return
    const next = this.#next ?? sequence
    this.#next = next
    if (((sequence - next) | 0) <= 0) {
      if (this.#held.length > 0) this.outOfOrder++
      this.#deliver({ sequence, octets: octets.slice(), bytes, frame })
      this.#drain()
      return
    }
    this.#hold({ sequence, octets: octets.slice(), bytes, frame })
    while (this.#isFull()) this.#skip()
  }

  /** What was held for a segment that never came is handed on. */
  end(): void {
    while (this.#held.length > 0) this.#skip()
  }

  #isFull(): boolean {
    if (this.#held.length === 0) return false
    return this.#total.isFull || this.#heldBytes > HELD_BYTES_MAX || this.#held.length > HELD_SEGMENTS_MAX
  }

  #hold(segment: Held): void {
    let at = this.#held.length
    while (at > 0 && ((segment.sequence - this.#held[at - 1]!.sequence) | 0) < 0) at--
    this.#held.splice(at, 0, segment)
    this.#count(segment.octets.length + SEGMENT_BYTES)
  }

  #count(bytes: number): void {
    this.#heldBytes += bytes
    this.#total.bytes += bytes
  }

  #deliver({ sequence, octets, bytes, frame }: Held): void {
    const known = (this.#next! - sequence) | 0
    if (known >= bytes) {
      this.repeated++
      this.#sink.repeat?.(frame)
      return
    }
    if (known < octets.length) this.#sink.take(octets.subarray(known), frame)
    const missing = bytes - Math.max(known, octets.length)
    if (missing > 0) this.#lose(missing, frame)
    this.#next = (sequence + bytes) >>> 0
  }

  #lose(bytes: number, frame: number): void {
    this.lostBytes += bytes
    this.#sink.lose(bytes, frame)
  }

  #drain(): void {
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      if (((first.sequence - this.#next!) | 0) > 0) return
      this.#held.shift()
      this.#count(-first.octets.length - SEGMENT_BYTES)
      this.#deliver(first)
    }
  }

  /** Gives up on what is missing before the first segment that is held. */
  #skip(): void {
    const first = this.#held[0]!
    this.#lose((first.sequence - this.#next!) | 0, first.frame)
    this.#next = first.sequence
    this.#drain()
  }
}
