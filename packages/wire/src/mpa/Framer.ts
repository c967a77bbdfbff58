import { crc32c } from "../Crc.ts"
import { EmitError, put16, put32le } from "../Octets.ts"
import { FPDU_BYTES, FPDU_CRC_BYTES, fpduBytes } from "./Fpdu.ts"

/** Every so many octets of the stream stands a marker (RFC 5044 §4.3). */
export const MARKER_INTERVAL = 512
export const MARKER_BYTES = 4

export interface MpaMode {
  /** Whether this direction has markers: the receiver asked for them. */
  readonly markers: boolean
  /** Whether CRCs are used: either side asked for them. */
  readonly crc: boolean
}

/** Octets from `start` to the end of `bytes` of content there, markers included. */
export const markedBytes = (start: number, bytes: number): number => {
  let end = start + bytes
  const first = Math.floor(start / MARKER_INTERVAL + 1) * MARKER_INTERVAL
  for (let marker = first; marker < end; marker += MARKER_INTERVAL) end += MARKER_BYTES
  return end - start
}

/** Frames DDP segments for one direction of a stream, with padding, CRCs and markers. */
export class FpduFramer {
  readonly #mode: MpaMode
  #position = 0

  constructor(mode: MpaMode) {
    this.#mode = mode
  }

  /** Octets framed so far. The first marker is the first octet of all. */
  get position(): number {
    return this.#position
  }

  /** The unit that carries a DDP segment of at most 65,535 octets, as it goes into the stream. */
  frame(ulpdu: Uint8Array): Uint8Array {
    if (ulpdu.length > 0xffff) throw new EmitError("fpdu", "ulpduBytes", ulpdu.length, "at most 65535")
    const content = new Uint8Array(fpduBytes(ulpdu.length))
    put16(content, 0, ulpdu.length)
    content.set(ulpdu, FPDU_BYTES)
    const octets = this.#mode.markers ? this.#marked(content) : content
    const crcAt = octets.length - FPDU_CRC_BYTES
    if (this.#mode.crc) put32le(octets, crcAt, crc32c(octets, 0, crcAt))
    this.#position += octets.length
    return octets
  }

  /** A marker in front of a unit points at it with 0; any other counts the octets back to the unit's header. */
  #marked(content: Uint8Array): Uint8Array {
    const isMarkedFirst = this.#position % MARKER_INTERVAL === 0
    const lead = isMarkedFirst ? MARKER_BYTES : 0
    const header = this.#position + lead
    const octets = new Uint8Array(lead + markedBytes(header, content.length))
    let at = lead
    for (let from = 0; from < content.length; ) {
      const position = this.#position + at
      if (position % MARKER_INTERVAL === 0) {
        put16(octets, at + 2, position - header)
        at += MARKER_BYTES
      }
      const run = Math.min(content.length - from, MARKER_INTERVAL - ((this.#position + at) % MARKER_INTERVAL))
      octets.set(content.subarray(from, from + run), at)
      from += run
      at += run
    }
    return octets
  }
}
