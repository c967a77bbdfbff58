import {
  crcVerdict,
  FPDU_CRC_BYTES,
  FpduStream,
  fpduBytes,
  type Mpa,
  parseMpa,
  type StreamFpdu,
} from "@rdmakit/wire/mpa"
import { u16 } from "../Octets.ts"
import { Tally } from "../Tally.ts"
import { HeldTotal, type StreamSink, TcpReassembly } from "./TcpReassembly.ts"

/** What one direction of an iWARP connection says, in order. */
export interface DirectionListener {
  readonly opened: (direction: Direction, mpa: Mpa, frame: number) => void
  readonly unit: (direction: Direction, unit: StreamFpdu, frame: number) => void
  /** Octets that could not be read as units: missing in the capture, or not aligned. */
  readonly gap: (direction: Direction, bytes: number, reason: "lost" | "unaligned" | "cut", frame: number) => void
}

const OPENING_BYTES_MAX = 532
/** Segments looked at before a stream counts as something else. */
const LOOKS_MAX = 32
const EMPTY = new Uint8Array(0)

/**
 * One direction of a TCP connection that may be iWARP. It is when it opens with a frame of MPA, or, where the capture
 * began later, when a segment is made of units.
 */
export class Direction implements StreamSink {
  readonly source: number
  readonly destination: number
  readonly sourcePort: number
  readonly destinationPort: number
  readonly tcp: TcpReassembly
  readonly #listener: DirectionListener
  /** The other way round, once it was seen. */
  reverse: Direction | undefined
  opening: Mpa | undefined
  /** No payload has come yet. */
  isFresh = true
  wireBytes = 0
  /** Segments that were there before. */
  readonly repeats = new Tally()
  firstFrame = 0
  lastFrame = 0
  firstNs = Number.NaN
  lastNs = Number.NaN
  #state: "start" | "looking" | "units" | "none" = "start"
  #pending: Uint8Array = EMPTY
  #units: FpduStream | undefined
  /** Octets of a unit that is not whole yet, and what all streams hold. */
  #heldBytes = 0
  readonly #held: HeldTotal
  #looks = 0
  #frame = 0

  constructor(
    source: number,
    destination: number,
    sourcePort: number,
    destinationPort: number,
    listener: DirectionListener,
    held: HeldTotal = new HeldTotal(),
  ) {
    this.source = source
    this.destination = destination
    this.sourcePort = sourcePort
    this.destinationPort = destinationPort
    this.#listener = listener
    this.#held = held
    this.tcp = new TcpReassembly(this, held)
  }

  /** Whether it is known to be something else. */
  get isOther(): boolean {
    return this.#state === "none"
  }

  /** Counts a segment. */
  count(frame: number, timeNs: number, wireBytes: number): void {
    if (this.firstFrame === 0) {
      this.firstFrame = frame
      this.firstNs = timeNs
    }
    this.lastFrame = frame
    this.lastNs = timeNs
    this.wireBytes += wireBytes
  }

  take(octets: Uint8Array, frame: number): void {
    this.#frame = frame
    if (this.#state === "units") this.#push(octets)
    else if (this.#state === "start") this.#open(octets)
    else if (this.#state === "looking") this.#look(octets)
  }

  repeat(frame: number): void {
    this.repeats.add(frame)
  }

  lose(bytes: number, frame: number): void {
    this.#frame = frame
    if (this.#state === "start") this.#state = "looking"
    this.#pending = EMPTY
    if (this.#state !== "units") return
    if (this.#units === undefined) this.#begin(EMPTY)
    this.#giveUp(bytes)
  }

  end(): void {
    this.tcp.end()
    if (this.#units === undefined) return
    this.#units.end()
    this.#drain()
  }

  #open(octets: Uint8Array): void {
    const held = this.#pending.length === 0 ? octets : joined(this.#pending, octets)
    const mpa = parseMpa(held)
    if (mpa.ok) {
      this.opening = mpa.value
      this.#state = "units"
      this.#pending = EMPTY
      this.#listener.opened(this, mpa.value, this.#frame)
      if (mpa.payloadStart < held.length) this.#push(held.subarray(mpa.payloadStart))
      return
    }
    // It may still become one: "MPA ID Re…".
    const isPart = "MPA ID Re".startsWith(String.fromCharCode(...held.subarray(0, 9)))
    if (isPart && held.length < OPENING_BYTES_MAX) this.#pending = held
    else {
      this.#pending = EMPTY
      this.#state = "looking"
      this.#look(held)
    }
  }

  /** A stream whose beginning is not in the capture: units that fill a segment say what it is. */
  #look(octets: Uint8Array): void {
    if (unitsFill(octets)) {
      this.#state = "units"
      this.#push(octets)
    } else if (++this.#looks === LOOKS_MAX) this.#state = "none"
  }

  #begin(octets: Uint8Array): void {
    const other = this.reverse?.opening
    // The receiver says whether it wants markers; where it was not heard, the first unit shows it.
    const isMarked = octets.length >= 4 && u16(octets, 0) === 0 && u16(octets, 2) === 0
    const markers = other?.markers ?? isMarked
    // A connection that nobody saw open may have CRCs: units are then found by them.
    const crc = this.opening === undefined || this.opening.crc || other?.crc === true
    this.#units = new FpduStream({ markers, crc })
  }

  #push(octets: Uint8Array): void {
    if (this.#units === undefined) this.#begin(octets)
    this.#units!.push(octets)
    this.#hold(octets.length)
    this.#drain()
    if (this.#held.isFull && this.#heldBytes > 0) this.#giveUp(0)
  }

  /** So many octets are missing: a unit that is not whole is lost with them. */
  #giveUp(bytes: number): void {
    this.#units!.lose(bytes)
    this.#hold(bytes)
    this.#drain()
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes
    this.#held.bytes += bytes
  }

  #drain(): void {
    const units = this.#units!
    for (let each = units.next(); each !== undefined; each = units.next()) {
      this.#hold(-each.bytes)
      if (each.kind === "fpdu") this.#listener.unit(this, each, this.#frame)
      else this.#listener.gap(this, each.bytes, each.reason, this.#frame)
    }
  }
}

const joined = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}

/** Whether a segment is nothing but whole units of DDP 1 and RDMAP 1, with right CRCs or none. */
const unitsFill = (octets: Uint8Array): boolean => {
  let at = 0
  while (at < octets.length) {
    if (at + 20 > octets.length || (octets[at + 2]! & 0x3f) !== 1 || octets[at + 3]! >> 6 !== 1) return false
    const end = at + fpduBytes(u16(octets, at))
    if (u16(octets, at) < 14 || end > octets.length) return false
    if (crcVerdict(octets, at, end - FPDU_CRC_BYTES) === "wrong") return false
    at = end
  }
  return octets.length > 0
}
