import { malformed, unwritable } from "./CaptureError.ts"
import { type CaptureOption, optionCodes, optionNumber, optionTexts } from "./Option.ts"
import { fits } from "./Output.ts"

const codes = optionCodes.interface

/** Where packets of a capture were taken. A pcap file has one; a pcapng section describes its own. */
export interface CaptureInterface {
  /** Position among the interfaces of its section, from 0. */
  readonly id: number
  /** LINKTYPE_ number of tcpdump.org: 1 Ethernet, 101 raw IP, 197 ERF, 247 InfiniBand. */
  readonly linkType: number
  /** The most octets kept of a packet; 0 is no limit. */
  readonly snapLength: number
  /** Octets of frame check sequence at the end of each packet; undefined when the file does not say. */
  readonly fcsOctets: number | undefined
  /** Ticks of a timestamp in a second: a power of ten or of two. */
  readonly ticksPerSecond: bigint
  /** Seconds to add to every timestamp; may be negative. */
  readonly offsetSeconds: bigint
  /** Whether a timestamp is seconds and a fraction (pcap), or one 64-bit count of ticks (pcapng). */
  readonly splitSeconds: boolean
  readonly options: ReadonlyArray<CaptureOption>
}

/** The name of an interface (`if_name`), as "eth0". */
export const interfaceName = ({ options }: CaptureInterface): string | undefined => optionTexts(options, codes.name)[0]

/** Ticks in a second by `if_tsresol`: with the top bit a power of two, else a power of ten (§4.2). */
export const resolutionTicks = (code: number): bigint => ((code & 0x80) === 0 ? 10n : 2n) ** BigInt(code & 0x7f)

/** The `if_tsresol` of a number of ticks in a second, undefined when it is no power of ten or two. */
export const resolutionCode = (ticksPerSecond: bigint): number | undefined => {
  for (let code = 0; code < 256; code++) if (resolutionTicks(code) === ticksPerSecond) return code
  return undefined
}

/** What the options of an interface description say of times. Throws a complaint when their size is wrong. */
export const timeOptions = (
  options: ReadonlyArray<CaptureOption>,
): Pick<CaptureInterface, "ticksPerSecond" | "offsetSeconds"> => {
  let ticksPerSecond = 1_000_000n
  let offsetSeconds = 0n
  for (const { code, value } of options) {
    if (code === codes.resolution) {
      if (value.length !== 1) throw malformed("length of if_tsresol", value.length, "1")
      ticksPerSecond = resolutionTicks(value[0]!)
    } else if (code === codes.timeOffset) {
      if (value.length !== 8) throw malformed("length of if_tsoffset", value.length, "8")
      offsetSeconds = BigInt.asIntN(64, optionNumber([{ code, value }], code)!)
    }
  }
  return { ticksPerSecond, offsetSeconds }
}

/**
 * Octets of frame check sequence by `if_fcslen`. The draft counts bits, Wireshark counts octets; no link has a
 * sequence of eight octets or more, nor one of fewer than eight bits, so the number tells which was meant.
 */
export const fcsOption = (options: ReadonlyArray<CaptureOption>): number | undefined => {
  const length = optionNumber(options, codes.fcsLength)
  return length === undefined ? undefined : Number(length < 8n ? length : length / 8n)
}

/** The upper half of a pcap link type: bit 26 says that bits 28 to 31 count 16-bit words of frame check sequence. */
const FCS_PRESENT = 0x04000000

export const splitLinkType = (field: number): Pick<CaptureInterface, "linkType" | "fcsOctets"> => ({
  linkType: field & 0xffff,
  fcsOctets: (field & FCS_PRESENT) === 0 ? undefined : (field >>> 28) * 2,
})

/** Throws a `CaptureError` with the reason `unwritable` for what the field has no room for. */
export const joinLinkType = (linkType: number, fcsOctets: number | undefined): number => {
  if (!fits(linkType, 16)) throw unwritable(0, "link type", linkType, "0..65535")
  if (fcsOctets === undefined) return linkType
  if (!(fcsOctets >= 0 && fcsOctets <= 30 && fcsOctets % 2 === 0)) {
    throw unwritable(0, "frame check sequence", `${fcsOctets} octets`, "an even number up to 30")
  }
  return (linkType | FCS_PRESENT | ((fcsOctets / 2) << 28)) >>> 0
}
