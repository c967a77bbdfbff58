import { crcVerdict, FPDU_BYTES, FPDU_CRC_BYTES, fpduBytes } from "@rdmakit/wire/mpa"
import { Cause } from "./rdmap/Cause.ts"

/** The smallest DDP header, that of a tagged segment. */
const ULPDU_BYTES_MIN = 14
const NONE = new Uint8Array(0)

/**
 * Takes a stream apart into FPDUs without markers (RFC 5044 §4), however its octets come. It holds less than one unit, of
 * 65,544 octets at most; of what is wrong nothing is looked at any more.
 */
export class FpduReader {
  private readonly crc: boolean
  private input: Uint8Array = NONE
  private at = 0
  /** The beginning of a unit that has not come whole. */
  private partial: Uint8Array = NONE
  private partialBytes = 0

  constructor(crc: boolean) {
    this.crc = crc
  }

  /** Octets came; `next` is asked before more do. */
  push(octets: Uint8Array): void {
    this.input = octets
    this.at = 0
  }

  /** The next DDP segment, good until the next call of either; undefined: more octets are needed; a cause: it is none. */
  next(): Uint8Array | Cause | undefined {
    if (this.partialBytes > 0) return this.finishPartial()
    const left = this.input.length - this.at
    if (left < FPDU_BYTES) return this.keep(this.at, left)
    const bytes = this.unitBytes(this.input, this.at)
    if (bytes < 0) return Cause.Length
    if (left < bytes) return this.keep(this.at, left)
    const start = this.at
    this.at += bytes
    return this.ulpdu(this.input, start, bytes)
  }

  private unitBytes(octets: Uint8Array, start: number): number {
    const ulpduBytes = (octets[start]! << 8) | octets[start + 1]!
    return ulpduBytes < ULPDU_BYTES_MIN ? -1 : fpduBytes(ulpduBytes)
  }

  private ulpdu(octets: Uint8Array, start: number, bytes: number): Uint8Array | Cause {
    if (this.crc && crcVerdict(octets, start, start + bytes - FPDU_CRC_BYTES) !== "right") return Cause.Crc
    const ulpduBytes = (octets[start]! << 8) | octets[start + 1]!
    return octets.subarray(start + FPDU_BYTES, start + FPDU_BYTES + ulpduBytes)
  }

  private keep(start: number, bytes: number): undefined {
    if (bytes === 0) return undefined
    const needed = bytes < FPDU_BYTES ? FPDU_BYTES : this.unitBytes(this.input, start)
    this.reserve(needed)
    this.partial.set(this.input.subarray(start, start + bytes), 0)
    this.partialBytes = bytes
    this.at += bytes
    return undefined
  }

  private finishPartial(): Uint8Array | Cause | undefined {
    if (this.partialBytes < FPDU_BYTES && !this.fillTo(FPDU_BYTES)) return undefined
    const bytes = this.unitBytes(this.partial, 0)
    if (bytes < 0) return Cause.Length
    this.reserve(bytes)
    if (!this.fillTo(bytes)) return undefined
    this.partialBytes = 0
    return this.ulpdu(this.partial, 0, bytes)
  }

  /** Whether so many octets are there now. */
  private fillTo(bytes: number): boolean {
    const taken = Math.min(bytes - this.partialBytes, this.input.length - this.at)
    this.partial.set(this.input.subarray(this.at, this.at + taken), this.partialBytes)
    this.partialBytes += taken
    this.at += taken
    return this.partialBytes === bytes
  }

  private reserve(bytes: number): void {
    if (this.partial.length >= bytes) return
    const grown = new Uint8Array(bytes)
    grown.set(this.partial.subarray(0, this.partialBytes))
    this.partial = grown
  }
}
