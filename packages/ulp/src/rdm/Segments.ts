/** Memory in several parts, seen as one range. */
export class Segments {
  readonly bytes: number
  private readonly parts: ReadonlyArray<Uint8Array>

  constructor(parts: ReadonlyArray<Uint8Array>) {
    this.parts = parts
    let bytes = 0
    for (const part of parts) bytes += part.length
    this.bytes = bytes
  }

  /** The octets at `offset` that lie together, at most `bytes`. */
  run(offset: number, bytes: number): Uint8Array {
    let start = offset
    for (const part of this.parts) {
      if (start < part.length) return part.subarray(start, Math.min(part.length, start + bytes))
      start -= part.length
    }
    return new Uint8Array(0)
  }

  /** Writes octets at `offset`; what reaches past the end is left out. */
  put(offset: number, octets: Uint8Array): void {
    let start = offset
    let done = 0
    for (const part of this.parts) {
      if (done === octets.length) return
      if (start < part.length) {
        const size = Math.min(part.length - start, octets.length - done)
        part.set(octets.subarray(done, done + size), start)
        done += size
        start += size
      }
      start -= part.length
    }
  }

  /** Reads `bytes` octets at `offset` into `octets`, from `at` on. They have to be there. */
  take(offset: number, bytes: number, octets: Uint8Array, at: number): void {
    let start = offset
    let done = 0
    for (const part of this.parts) {
      if (done === bytes) return
      if (start < part.length) {
        const size = Math.min(part.length - start, bytes - done)
        octets.set(part.subarray(start, start + size), at + done)
        done += size
        start += size
      }
      start -= part.length
    }
  }
}
