import { u16, u32le } from "../Octets.ts"
import { type CrcVerdict, crcVerdict, FPDU_BYTES, FPDU_CRC_BYTES, fpduBytes } from "./Fpdu.ts"
import { MARKER_BYTES, MARKER_INTERVAL, type MpaMode, markedBytes } from "./Framer.ts"

/** A unit found in a stream. Positions count octets from the first one behind the opening frame. */
export interface StreamFpdu {
  readonly kind: "fpdu"
  /** Of its first octet: a marker in front of it, or its header. */
  readonly position: number
  /** With markers, padding and CRC. */
  readonly bytes: number
  /** The DDP segment, without markers; a view of what was pushed where it can be. */
  readonly ulpdu: Uint8Array
  readonly crc: CrcVerdict
  /** Whether it starts where a TCP segment starts. */
  readonly aligned: boolean
  /** Markers inside or in front of it that do not point at its header. */
  readonly wrongMarkers: number
}

/** Octets of the stream that belong to no unit. */
export interface StreamGap {
  readonly kind: "gap"
  readonly position: number
  readonly bytes: number
  /** `lost`: they were not there; `unaligned`: no unit was found in them; `cut`: the stream ended inside a unit. */
  readonly reason: "lost" | "unaligned" | "cut"
}

/** The smallest DDP header, that of a tagged segment. */
const ULPDU_BYTES_MIN = 14
/** For each octet that arrives, so many may be summed in search of a unit. */
const SEARCH_FACTOR = 64
/** A unit and its markers are no longer. */
const HELD_BYTES_MAX = 0x1_1000
const EMPTY = new Uint8Array(0)

/**
 * Finds the units in one direction of a TCP stream behind its opening frame, whether or not they start with segments.
 *
 * After octets that are missing, or a unit that makes no sense, it looks for the next one: by a marker where there are
 * markers (RFC 5044 §4.3); else where a segment starts, or at any multiple of four, and takes a unit whose CRC is
 * right, or, without CRCs, one that another unit follows.
 */
export class FpduStream {
  readonly #mode: MpaMode
  /** What has arrived and was not given out starts at `#at`; memory is added to and never overwritten. */
  #octets: Uint8Array = EMPTY
  #at = 0
  #end = 0
  /** Where the memory at hand ends that is this stream's own. */
  #room = 0
  #position = 0
  /** Positions where segments start, from `#position` on, in order. */
  readonly #segments = new Set<number>()
  #searching = false
  /** Octets from `#at` on that were searched in vain. */
  #searched = 0
  /** Where the next unit may start at the earliest. */
  #earliest = 0
  #budget = 0
  #lost: StreamGap | undefined
  #ended = false

  constructor(mode: MpaMode) {
    this.#mode = mode
  }

  /** Takes the octets of the next segment. The units given out may be views of them. */
  push(octets: Uint8Array): void {
    if (octets.length === 0) return
    this.#segments.add(this.#position + this.#end - this.#at)
    this.#budget = Math.min(this.#budget + octets.length * SEARCH_FACTOR, 0x4000_0000)
    if (this.#at === this.#end) {
      this.#octets = octets
      this.#at = 0
      this.#end = octets.length
      // What was pushed is its owner's: nothing is added behind it.
      this.#room = octets.length
      return
    }
    const held = this.#end - this.#at
    if (this.#room - this.#end < octets.length) {
      const grown = new Uint8Array(2 * (held + octets.length))
      grown.set(this.#octets.subarray(this.#at, this.#end))
      this.#octets = grown
      this.#at = 0
      this.#end = held
      this.#room = grown.length
    }
    this.#octets.set(octets, this.#end)
    this.#end += octets.length
  }

  /** Says that so many octets are missing here; what `next` has not given out yet is lost with them. */
  lose(bytes: number): void {
    const held = this.#end - this.#at
    const position = this.#lost?.position ?? this.#position
    this.#skip(held)
    this.#position += bytes
    this.#segments.clear()
    this.#lost = { kind: "gap", position, bytes: this.#position - position, reason: "lost" }
    this.#search(0)
  }

  /** Says that the stream has ended: what is left is a gap. */
  end(): void {
    this.#ended = true
  }

  /** The next unit or gap; undefined when more octets are needed. */
  next(): StreamFpdu | StreamGap | undefined {
    const lost = this.#lost
    if (lost !== undefined) {
      this.#lost = undefined
      return lost
    }
    for (;;) {
      if (!this.#searching) {
        const unit = this.#unit(this.#at)
        if (unit === "more") return this.#rest("cut")
        // A unit with a wrong CRC counts as one when its length leads to what looks like another.
        if (unit !== "none" && (unit.crc !== "wrong" || this.#looksLikeUnit(this.#at + unit.bytes) !== false)) {
          this.#skip(unit.bytes)
          return unit
        }
        this.#search(4)
      }
      const start = this.#candidate()
      if (start === undefined) {
        // What was looked at in vain is given up in pieces, so that little is held.
        return this.#searched > HELD_BYTES_MAX ? this.#gap(this.#searched, "unaligned") : this.#rest("unaligned")
      }
      this.#searching = false
      if (start > this.#at) return this.#gap(start - this.#at, "unaligned")
    }
  }

  #rest(reason: StreamGap["reason"]): StreamGap | undefined {
    return this.#ended && this.#end > this.#at ? this.#gap(this.#end - this.#at, reason) : undefined
  }

  #gap(bytes: number, reason: StreamGap["reason"]): StreamGap {
    const position = this.#position
    this.#skip(bytes)
    return { kind: "gap", position, bytes, reason }
  }

  #skip(bytes: number): void {
    this.#at += bytes
    this.#position += bytes
    this.#searched = Math.max(0, this.#searched - bytes)
    for (const position of this.#segments) {
      if (position >= this.#position) break
      this.#segments.delete(position)
    }
  }

  /** Looks for a unit, `skipped` octets on or later. */
  #search(skipped: number): void {
    this.#searching = true
    this.#searched = 0
    this.#earliest = this.#position + skipped
  }

  /** Where a unit starts in what has arrived. */
  #candidate(): number | undefined {
    const base = this.#position - this.#at
    const from = Math.max(this.#at + this.#searched, this.#earliest - base)
    // Units start at multiples of four of the stream.
    let at = from + (-(base + from) & 3)
    for (; at < this.#end; at += 4) {
      const verdict = this.#mode.markers ? this.#byMarker(at) : this.#byContent(at)
      if (typeof verdict === "number") return verdict
      if (verdict === "more") break
    }
    this.#searched = Math.max(0, Math.min(at, this.#end) - this.#at)
    return undefined
  }

  #byMarker(at: number): number | "none" | "more" {
    const position = this.#position + at - this.#at
    if (position % MARKER_INTERVAL !== 0) return "none"
    if (at + MARKER_BYTES > this.#end) return this.#ended ? "none" : "more"
    const back = u16(this.#octets, at + 2)
    if (u16(this.#octets, at) !== 0 || back % 4 !== 0) return "none"
    const header = at - back
    const isMarkedFirst = (position - back) % MARKER_INTERVAL === MARKER_BYTES
    const start = back === 0 ? at : isMarkedFirst ? header - MARKER_BYTES : header
    const isEarly = start < this.#at || start + this.#position - this.#at < this.#earliest
    return isEarly || this.#looksLikeUnit(start) === false ? "none" : start
  }

  #byContent(at: number): number | "none" | "more" {
    const plausible = this.#looksLikeUnit(at)
    if (plausible === false) return "none"
    if (plausible === undefined) return this.#ended ? "none" : "more"
    const bytes = fpduBytes(u16(this.#octets, at))
    if (bytes > this.#budget) return "none"
    if (at + bytes > this.#end) return this.#ended ? "none" : "more"
    if (!this.#mode.crc) {
      const next = this.#looksLikeUnit(at + bytes)
      const isSegment = this.#segments.has(this.#position + at - this.#at)
      return next === true || (isSegment && next !== false) ? at : next === false || this.#ended ? "none" : "more"
    }
    this.#budget -= bytes
    return crcVerdict(this.#octets, at, at + bytes - FPDU_CRC_BYTES) === "right" ? at : "none"
  }

  /** Whether a header here could be one: a length, and the versions of DDP and RDMAP. Undefined: not all there. */
  #looksLikeUnit(start: number): boolean | undefined {
    let at = start
    if (this.#mode.markers && (this.#position + start - this.#at) % MARKER_INTERVAL === 0) at += MARKER_BYTES
    // A marker between length and control octets cannot be: both are in one group of four.
    if (at + 4 > this.#end) return undefined
    const octets = this.#octets
    return u16(octets, at) >= ULPDU_BYTES_MIN && (octets[at + 2]! & 0x3f) === 1 && octets[at + 3]! >> 6 === 1
  }

  /** The unit that starts here, if one does. */
  #unit(start: number): StreamFpdu | "none" | "more" {
    const octets = this.#octets
    const position = this.#position + start - this.#at
    const { markers } = this.#mode
    const lead = markers && position % MARKER_INTERVAL === 0 ? MARKER_BYTES : 0
    const header = start + lead
    const plausible = this.#looksLikeUnit(start)
    if (plausible === undefined) return "more"
    if (!plausible) return "none"
    const ulpduBytes = u16(octets, header)
    const content = fpduBytes(ulpduBytes)
    const bytes = lead + (markers ? markedBytes(position + lead, content) : content)
    if (start + bytes > this.#end) return "more"
    const at = start + bytes - FPDU_CRC_BYTES
    const isAbsent = !this.#mode.crc && u32le(octets, at) === 0
    const verdict = isAbsent ? "absent" : crcVerdict(octets, start, at)
    let wrongMarkers = 0
    if (lead > 0 && (u16(octets, start) !== 0 || u16(octets, start + 2) !== 0)) wrongMarkers++
    let ulpdu = octets.subarray(header + FPDU_BYTES, header + FPDU_BYTES + ulpduBytes)
    if (markers && lead + content < bytes) {
      const plain = new Uint8Array(content)
      wrongMarkers += unmark(octets, header, start + bytes, position + lead, plain)
      ulpdu = plain.subarray(FPDU_BYTES, FPDU_BYTES + ulpduBytes)
    }
    const aligned = this.#segments.has(position)
    return { kind: "fpdu", position, bytes, ulpdu, crc: verdict, aligned, wrongMarkers }
  }
}

/** Copies a unit without its markers, from the header on; answers how many of them do not point at it. */
const unmark = (octets: Uint8Array, header: number, end: number, position: number, into: Uint8Array): number => {
  let wrong = 0
  let to = 0
  for (let at = header; at < end; ) {
    const place = position + at - header
    if (place % MARKER_INTERVAL === 0) {
      if (u16(octets, at) !== 0 || u16(octets, at + 2) !== at - header) wrong++
      at += MARKER_BYTES
    }
    const run = Math.min(end - at, MARKER_INTERVAL - ((position + at - header) % MARKER_INTERVAL))
    into.set(octets.subarray(at, at + run), to)
    to += run
    at += run
  }
  return wrong
}
