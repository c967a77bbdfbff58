import { ComplaintError, tooLong } from "./CaptureError.ts"
import { type CaptureInterface, splitLinkType } from "./Interface.ts"
import { NO_OPTIONS } from "./Option.ts"
import { PacketRecord, type SectionRecord } from "./Record.ts"
import type { Window } from "./Window.ts"

export const PCAP_HEADER_OCTETS = 24
const PCAP_PACKET_OCTETS = 16

/** Magic numbers, read big-endian; a file in the other byte order has them turned round. */
export const pcapMagics = { microseconds: 0xa1b2c3d4, nanoseconds: 0xa1b23c4d } as const

const fileForms = new Map<number, { readonly littleEndian: boolean; readonly ticksPerSecond: bigint }>([
  [0xa1b2c3d4, { littleEndian: false, ticksPerSecond: 1_000_000n }],
  [0xd4c3b2a1, { littleEndian: true, ticksPerSecond: 1_000_000n }],
  [0xa1b23c4d, { littleEndian: false, ticksPerSecond: 1_000_000_000n }],
  [0x4d3cb2a1, { littleEndian: true, ticksPerSecond: 1_000_000_000n }],
])

export const isPcap = (magic: number): boolean => fileForms.has(magic)

/** Reads the records of a pcap file (draft-ietf-opsawg-pcap). */
export class PcapDecoder {
  readonly section: SectionRecord
  readonly interface: CaptureInterface
  readonly #littleEndian: boolean
  readonly #mostOctets: number
  /** Files before version 2.3 have the two lengths of a packet in the other order; in 2.3 they may. */
  readonly #swapped: "never" | "larger-first" | "always"

  /** Reads the file header, {@link PCAP_HEADER_OCTETS} at the window. */
  constructor(window: Window, mostOctets: number) {
    const { view, at } = window
    const { littleEndian, ticksPerSecond } = fileForms.get(view.getUint32(at))!
    const majorVersion = view.getUint16(at + 4, littleEndian)
    const minorVersion = view.getUint16(at + 6, littleEndian)
    if (majorVersion !== 2) {
      throw new ComplaintError({
        reason: "unsupported",
        field: "version",
        found: `${majorVersion}.${minorVersion}`,
        expected: "2.4",
      })
    }
    const { linkType, fcsOctets } = splitLinkType(view.getUint32(at + 20, littleEndian))
    this.#littleEndian = littleEndian
    this.#mostOctets = mostOctets
    this.#swapped = minorVersion < 3 ? "always" : minorVersion === 3 ? "larger-first" : "never"
    this.interface = {
      id: 0,
      linkType,
      snapLength: view.getUint32(at + 16, littleEndian),
      fcsOctets,
      ticksPerSecond,
      offsetSeconds: 0n,
      splitSeconds: true,
      options: NO_OPTIONS,
    }
    this.section = {
      kind: "section",
      offset: 0,
      format: "pcap",
      littleEndian,
      majorVersion,
      minorVersion,
      sectionOctets: undefined,
      options: NO_OPTIONS,
    }
  }

  /** The next packet; undefined when it has not arrived whole. Throws a complaint when its lengths cannot be. */
  next(window: Window, frame: number): PacketRecord | undefined {
    if (!window.holds(PCAP_PACKET_OCTETS)) return undefined
    const littleEndian = this.#littleEndian
    let captured = window.view.getUint32(window.at + 8, littleEndian)
    let original = window.view.getUint32(window.at + 12, littleEndian)
    if (this.#swapped !== "never" && (this.#swapped === "always" || captured > original)) {
      const first = captured
      captured = original
      original = first
    }
    if (captured === 0 && original === 0 && isPcap(window.view.getUint32(window.at))) throw anotherFile()
    if (captured > this.#mostOctets) throw tooLong("captured length", captured, this.#mostOctets)
    if (!window.holds(PCAP_PACKET_OCTETS + captured)) return undefined
    const { view, at, offset } = window
    const packet = new PacketRecord(
      frame,
      offset,
      this.interface,
      window.octets,
      at + PCAP_PACKET_OCTETS,
      captured,
      original,
      view.getUint32(at, littleEndian),
      view.getUint32(at + 4, littleEndian),
      NO_OPTIONS,
    )
    window.advance(PCAP_PACKET_OCTETS + captured)
    return packet
  }
}

/** The header of a file where a packet should be, its time zone and accuracy 0 as they always are: an empty packet of 2055. */
const anotherFile = (): ComplaintError =>
  new ComplaintError({
    reason: "malformed",
    field: "packet",
    found: "the header of another pcap file",
    expected: "a packet or the end",
    hint: "files were put one behind the other: merge them instead",
  })
