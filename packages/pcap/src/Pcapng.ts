import { ComplaintError, malformed, tooLong } from "./CaptureError.ts"
import { type CaptureInterface, fcsOption, timeOptions } from "./Interface.ts"
import { type CaptureOption, NO_OPTIONS, numberOption, optionCodes, parseOptions } from "./Option.ts"
import { type CaptureRecord, PacketRecord, type ResolvedName } from "./Record.ts"
import type { Window } from "./Window.ts"

/** Types of pcapng blocks (draft-ietf-opsawg-pcapng §10.1). */
export const blockTypes = {
  section: 0x0a0d0d0a,
  interface: 1,
  packet: 2,
  simplePacket: 3,
  names: 4,
  statistics: 5,
  enhancedPacket: 6,
  secrets: 10,
  custom: 0x00000bad,
  customLocal: 0x40000bad,
} as const

export const BYTE_ORDER_MAGIC = 0x1a2b3c4d
const NAMES_END = 0
const UNKNOWN_LENGTH = 0xffffffffffffffffn

/** Octets of the fixed fields of each block's body. */
const fixed: Readonly<Record<number, number>> = {
  [blockTypes.section]: 16,
  [blockTypes.interface]: 8,
  [blockTypes.packet]: 20,
  [blockTypes.simplePacket]: 4,
  [blockTypes.names]: 0,
  [blockTypes.statistics]: 12,
  [blockTypes.enhancedPacket]: 20,
  [blockTypes.secrets]: 8,
  [blockTypes.custom]: 4,
  [blockTypes.customLocal]: 4,
}

/** Interfaces of one section, and octets of all their options: what is kept while the section lasts. */
const MOST_INTERFACES = 65536
const MOST_INTERFACE_OCTETS = 16 * 1024 * 1024
const DAMAGED = "the file is damaged"
/** Records of names in one block. */
const MOST_NAMES = 65536

const padded = (octets: number): number => (octets + 3) & ~3

/** Reads the blocks of a pcapng file. */
export class PcapngDecoder {
  readonly #mostOctets: number
  #littleEndian = true
  #interfaces: Array<CaptureInterface> = []
  #interfaceOctets = 0

  constructor(mostOctets: number) {
    this.#mostOctets = mostOctets
  }

  /** The next block; undefined when it has not arrived whole. Throws a complaint about one that cannot be. */
  next(window: Window, frame: number): CaptureRecord | undefined {
    if (!window.holds(8)) return undefined
    // The type of a section header reads the same in both byte orders, and its order is its own.
    const isSection = window.view.getUint32(window.at) === blockTypes.section
    if (isSection) {
      if (!window.holds(12)) return undefined
      this.#littleEndian = byteOrder(window.view.getUint32(window.at + 8))
    }
    const littleEndian = this.#littleEndian
    const type = window.view.getUint32(window.at, littleEndian)
    const length = window.view.getUint32(window.at + 4, littleEndian)
    const least = 12 + (fixed[type] ?? 0)
    if (length < least) throw malformed(`length of block ${hex(type)}`, length, `at least ${least}`)
    if (length % 4 !== 0) throw malformed(`length of block ${hex(type)}`, length, "a multiple of 4")
    if (length > this.#mostOctets) throw tooLong(`length of block ${hex(type)}`, length, this.#mostOctets)
    if (!window.holds(length)) return undefined
    const { view, at, offset } = window
    const again = view.getUint32(at + length - 4, littleEndian)
    if (again !== length) throw malformed(`length at the end of block ${hex(type)}`, again, String(length))
    const record = this.#block(window.octets, view, type, at + 8, at + length - 4, frame, offset)
    window.advance(length)
    return record
  }

  #block(
    octets: Uint8Array,
    view: DataView,
    type: number,
    start: number,
    end: number,
    frame: number,
    offset: number,
  ): CaptureRecord {
    switch (type) {
      case blockTypes.enhancedPacket:
        return this.#packet(octets, view, start, end, frame, offset, view.getUint32(start, this.#littleEndian))
      case blockTypes.simplePacket:
        return this.#simplePacket(octets, view, start, end, frame, offset)
      case blockTypes.packet:
        return this.#packet(octets, view, start, end, frame, offset, view.getUint16(start, this.#littleEndian), true)
      case blockTypes.section:
        return this.#section(view, start, end, offset)
      case blockTypes.interface:
        return this.#interface(view, start, end, offset)
      case blockTypes.names:
        return this.#names(octets, view, start, end, offset)
      case blockTypes.statistics:
        return this.#statistics(view, start, end, offset)
      case blockTypes.secrets:
        return this.#secrets(octets, view, start, end, offset)
      case blockTypes.custom:
      case blockTypes.customLocal: {
        const enterprise = view.getUint32(start, this.#littleEndian)
        const data = octets.subarray(start + 4, end)
        return { kind: "custom", offset, enterprise, copyable: type === blockTypes.custom, data }
      }
      default:
        return { kind: "block", offset, type, littleEndian: this.#littleEndian, body: octets.subarray(start, end) }
    }
  }

  #section(view: DataView, start: number, end: number, offset: number): CaptureRecord {
    const littleEndian = this.#littleEndian
    const majorVersion = view.getUint16(start + 4, littleEndian)
    const minorVersion = view.getUint16(start + 6, littleEndian)
    // 1.2 was written by some and differs in nothing (§4.1).
    if (majorVersion !== 1 || (minorVersion !== 0 && minorVersion !== 2)) {
      const found = `${majorVersion}.${minorVersion}`
      throw new ComplaintError({ reason: "unsupported", field: "version of the section", found, expected: "1.0" })
    }
    const sectionOctets = view.getBigUint64(start + 8, littleEndian)
    this.#interfaces = []
    this.#interfaceOctets = 0
    return {
      kind: "section",
      offset,
      format: "pcapng",
      littleEndian,
      majorVersion,
      minorVersion,
      sectionOctets: sectionOctets === UNKNOWN_LENGTH ? undefined : sectionOctets,
      options: parseOptions(view, start + 16, end, littleEndian, "section"),
    }
  }

  #interface(view: DataView, start: number, end: number, offset: number): CaptureRecord {
    const littleEndian = this.#littleEndian
    if (this.#interfaces.length === MOST_INTERFACES) {
      throw tooLong("interfaces of a section", MOST_INTERFACES + 1, MOST_INTERFACES, DAMAGED)
    }
    this.#interfaceOctets += end - start - 8
    if (this.#interfaceOctets > MOST_INTERFACE_OCTETS) {
      throw tooLong(
        "octets of the options of a section's interfaces",
        this.#interfaceOctets,
        MOST_INTERFACE_OCTETS,
        DAMAGED,
      )
    }
    const options = copied(parseOptions(view, start + 8, end, littleEndian, "interface"))
    const described: CaptureInterface = {
      id: this.#interfaces.length,
      linkType: view.getUint16(start, littleEndian),
      snapLength: view.getUint32(start + 4, littleEndian),
      fcsOctets: fcsOption(options),
      ...timeOptions(options),
      splitSeconds: false,
      options,
    }
    this.#interfaces.push(described)
    return { kind: "interface", offset, interface: described }
  }

  /** An Enhanced Packet Block, or the old Packet Block, which has a count of drops beside a shorter interface ID. */
  #packet(
    octets: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    frame: number,
    offset: number,
    id: number,
    isOld = false,
  ): PacketRecord {
    const littleEndian = this.#littleEndian
    const captured = view.getUint32(start + 12, littleEndian)
    const room = end - start - 20
    if (captured > room) throw malformed("captured length", captured, `at most ${room}, what the block has`)
    const dataEnd = start + 20 + padded(captured)
    let options = dataEnd < end ? parseOptions(view, dataEnd, end, littleEndian, "packet") : NO_OPTIONS
    const drops = isOld ? view.getUint16(start + 2, littleEndian) : 0xffff
    if (drops !== 0xffff) options = [...options, numberOption(optionCodes.packet.dropCount, drops, 8)]
    return new PacketRecord(
      frame,
      offset,
      this.#interfaceOf(id),
      octets,
      start + 20,
      captured,
      view.getUint32(start + 16, littleEndian),
      view.getUint32(start + 4, littleEndian),
      view.getUint32(start + 8, littleEndian),
      options,
    )
  }

  /** A Simple Packet Block says neither time nor captured length: the latter follows from the snap length (§4.4). */
  #simplePacket(
    octets: Uint8Array,
    view: DataView,
    start: number,
    end: number,
    frame: number,
    offset: number,
  ): PacketRecord {
    const from = this.#interfaceOf(0)
    const original = view.getUint32(start, this.#littleEndian)
    const captured = from.snapLength === 0 ? original : Math.min(original, from.snapLength)
    const room = end - start - 4
    if (captured > room) throw malformed("packet length", captured, `at most ${room}, what the block has`)
    return new PacketRecord(frame, offset, from, octets, start + 4, captured, original, -1, 0, NO_OPTIONS)
  }

  #names(octets: Uint8Array, view: DataView, start: number, end: number, offset: number): CaptureRecord {
    const littleEndian = this.#littleEndian
    const entries: Array<ResolvedName> = []
    let at = start
    while (at < end) {
      if (end - at < 4) throw malformed("name record", `${end - at} octets`, "at least 4")
      const type = view.getUint16(at, littleEndian)
      const length = view.getUint16(at + 2, littleEndian)
      at += 4
      if (type === NAMES_END) break
      if (length > end - at) throw malformed("length of a name record", length, `at most ${end - at}`)
      if (entries.length === MOST_NAMES) throw tooLong("names of a block", MOST_NAMES + 1, MOST_NAMES, DAMAGED)
      entries.push(nameOf(type, octets.subarray(at, at + length)))
      at += padded(length)
    }
    return { kind: "names", offset, entries, options: parseOptions(view, at, end, littleEndian, "names") }
  }

  #statistics(view: DataView, start: number, end: number, offset: number): CaptureRecord {
    const littleEndian = this.#littleEndian
    const high = view.getUint32(start + 4, littleEndian)
    return {
      kind: "statistics",
      offset,
      interface: this.#interfaceOf(view.getUint32(start, littleEndian)),
      ticks: (BigInt(high) << 32n) | BigInt(view.getUint32(start + 8, littleEndian)),
      options: parseOptions(view, start + 12, end, littleEndian, "statistics"),
    }
  }

  #secrets(octets: Uint8Array, view: DataView, start: number, end: number, offset: number): CaptureRecord {
    const littleEndian = this.#littleEndian
    const length = view.getUint32(start + 4, littleEndian)
    const room = end - start - 8
    if (length > room) throw malformed("length of the secrets", length, `at most ${room}, what the block has`)
    return {
      kind: "secrets",
      offset,
      secretsType: view.getUint32(start, littleEndian),
      data: octets.subarray(start + 8, start + 8 + length),
      options: parseOptions(view, start + 8 + padded(length), end, littleEndian, "secrets"),
    }
  }

  #interfaceOf(id: number): CaptureInterface {
    const found = this.#interfaces[id]
    if (found === undefined) {
      throw malformed("interface", id, `below ${this.#interfaces.length}, the interfaces described before it`)
    }
    return found
  }
}

const byteOrder = (magic: number): boolean => {
  if (magic === BYTE_ORDER_MAGIC) return false
  if (magic === 0x4d3c2b1a) return true
  throw malformed("byte-order magic", hex(magic), `${hex(BYTE_ORDER_MAGIC)} in one order or the other`)
}

const hex = (number: number): string => `0x${number.toString(16).padStart(8, "0")}`

/** An interface outlives the chunk that described it. */
const copied = (options: ReadonlyArray<CaptureOption>): ReadonlyArray<CaptureOption> =>
  options.map(({ code, value }) => ({ code, value: value.slice() }))

/** Octets of an address by the type of its record (§4.5): IPv4, IPv6, EUI-48, EUI-64. */
const addressOctets: Readonly<Record<number, number>> = { 1: 4, 2: 16, 3: 6, 4: 8 }

const nameOf = (type: number, value: Uint8Array): ResolvedName => {
  const octets = addressOctets[type]
  // A record of a type still to come is kept as octets.
  if (octets === undefined) return { type, address: value, names: [] }
  if (value.length < octets) throw malformed("length of a name record", value.length, `at least ${octets}`)
  const names: Array<string> = []
  let at = octets
  while (at < value.length) {
    const zero = value.indexOf(0, at)
    const end = zero === -1 ? value.length : zero
    names.push(new TextDecoder().decode(value.subarray(at, end)))
    at = end + 1
  }
  return { type, address: value.subarray(0, octets), names }
}
