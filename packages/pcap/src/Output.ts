/** Takes the octets of a file, chunk by chunk; a chunk is the sink's to keep. */
export type CaptureSink = (octets: Uint8Array) => void

const CHUNK_OCTETS = 65536

/** Whether it is a whole number that a field of so many bits has room for. */
export const fits = (value: number, bits: number): boolean => Number.isInteger(value) && value >= 0 && value < 2 ** bits

/** Numbers and octets of one byte order, handed on in chunks of 64 KiB or as long as one run of octets. */
export class Output {
  readonly littleEndian: boolean
  readonly #sink: CaptureSink
  #octets = new Uint8Array(CHUNK_OCTETS)
  #view = new DataView(this.#octets.buffer)
  #at = 0

  constructor(littleEndian: boolean, sink: CaptureSink) {
    this.littleEndian = littleEndian
    this.#sink = sink
  }

  u16(number: number): void {
    const at = this.#room(2)
    this.#view.setUint16(at, number, this.littleEndian)
  }

  u32(number: number): void {
    const at = this.#room(4)
    this.#view.setUint32(at, number, this.littleEndian)
  }

  /** 64 bits, as pcapng writes a timestamp: the upper half first in either byte order. */
  halves(number: bigint): void {
    this.u32(Number((number >> 32n) & 0xffffffffn))
    this.u32(Number(number & 0xffffffffn))
  }

  u64(number: bigint): void {
    const at = this.#room(8)
    this.#view.setBigUint64(at, BigInt.asUintN(64, number), this.littleEndian)
  }

  octets(octets: Uint8Array): void {
    const at = this.#room(octets.length)
    this.#octets.set(octets, at)
  }

  /** Octets, then zeros up to a multiple of four. */
  padded(octets: Uint8Array): void {
    const padding = -octets.length & 3
    const at = this.#room(octets.length + padding)
    this.#octets.set(octets, at)
    this.#octets.fill(0, at + octets.length, at + octets.length + padding)
  }

  flush(): void {
    if (this.#at === 0) return
    const octets = this.#octets.subarray(0, this.#at)
    this.#renew(CHUNK_OCTETS)
    this.#sink(octets)
  }

  /** Where so many octets go. It may change the buffer, so call it before touching that. */
  #room(count: number): number {
    if (this.#at + count > this.#octets.length) {
      this.flush()
      if (count > this.#octets.length) this.#renew(count)
    }
    const at = this.#at
    this.#at = at + count
    return at
  }

  #renew(octets: number): void {
    this.#octets = new Uint8Array(octets)
    this.#view = new DataView(this.#octets.buffer)
    this.#at = 0
  }
}
