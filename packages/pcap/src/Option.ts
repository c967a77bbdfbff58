import { malformed, tooLong } from "./CaptureError.ts"

/**
 * One option of a pcapng block (draft-ietf-opsawg-pcapng §3.5). Numbers in the value of an option that this module
 * knows stand in little-endian order, whatever the byte order of the section they came from.
 */
export interface CaptureOption {
  readonly code: number
  /** At most 65,535 octets, without padding. */
  readonly value: Uint8Array
}

/** The blocks that have options of their own. */
export type OptionBlock = "section" | "interface" | "packet" | "names" | "statistics" | "secrets"

/** Codes by block; `comment` is the same in all. */
export const optionCodes = {
  comment: 1,
  section: { hardware: 2, os: 3, application: 4 },
  interface: {
    name: 2,
    description: 3,
    speed: 8,
    resolution: 9,
    filter: 11,
    os: 12,
    fcsLength: 13,
    timeOffset: 14,
    hardware: 15,
  },
  packet: { flags: 2, hash: 3, dropCount: 4, packetId: 5, queue: 6, verdict: 7 },
  statistics: { startTime: 2, endTime: 3, received: 4, dropped: 5, accepted: 6, osDropped: 7, delivered: 8 },
} as const

const CUSTOM_CODES = new Set([2988, 2989, 19372, 19373])

/** Widths in octets of the numbers in an option's value; anything else in it is octets. */
const WIDE = [8]
const WORD = [4]
const TIME = [4, 4]
const widths: Readonly<Record<OptionBlock, Readonly<Record<number, ReadonlyArray<number>>>>> = {
  section: {},
  interface: { 8: WIDE, 10: WORD, 14: WIDE, 16: WIDE, 17: WIDE },
  packet: { 2: WORD, 4: WIDE, 5: WIDE, 6: WORD },
  names: {},
  statistics: { 2: TIME, 3: TIME, 4: WIDE, 5: WIDE, 6: WIDE, 7: WIDE, 8: WIDE },
  secrets: {},
}

/** The value in the other byte order: its numbers turned round, its octets left alone. */
export const swapOption = (block: OptionBlock, { code, value }: CaptureOption): Uint8Array => {
  const numbers = CUSTOM_CODES.has(code) ? WORD : widths[block][code]
  if (numbers === undefined) return value
  const size = numbers.reduce((sum, width) => sum + width, 0)
  // A value of the wrong size has no numbers that could be found.
  if (value.length < size || (value.length > size && !CUSTOM_CODES.has(code))) return value
  const swapped = value.slice()
  let at = 0
  for (const width of numbers) {
    swapped.subarray(at, at + width).reverse()
    at += width
  }
  return swapped
}

/** No options: one array for all the packets that have none. */
export const NO_OPTIONS: ReadonlyArray<CaptureOption> = []

/** Options of one block; real ones have some tens. */
const MOST_OPTIONS = 4096

/** Reads the options between two places of a block. Throws a complaint when they do not fit there. */
export const parseOptions = (
  view: DataView,
  start: number,
  end: number,
  littleEndian: boolean,
  block: OptionBlock,
): ReadonlyArray<CaptureOption> => {
  if (start >= end) return NO_OPTIONS
  const options: Array<CaptureOption> = []
  let at = start
  // The list may end with the block, without an end-of-options (§3.5).
  while (at < end) {
    if (end - at < 4) throw malformed("option", `${end - at} octets`, "at least 4")
    const code = view.getUint16(at, littleEndian)
    const length = view.getUint16(at + 2, littleEndian)
    if (code === 0) break
    at += 4
    if (options.length === MOST_OPTIONS)
      throw tooLong("options of a block", MOST_OPTIONS + 1, MOST_OPTIONS, "the file is damaged")
    if (length > end - at) throw malformed(`length of option ${code}`, length, `at most ${end - at}`)
    const option = { code, value: new Uint8Array(view.buffer, view.byteOffset + at, length) }
    options.push(littleEndian ? option : { code, value: swapOption(block, option) })
    at += (length + 3) & ~3
  }
  return options.length === 0 ? NO_OPTIONS : options
}

const firstValue = (options: ReadonlyArray<CaptureOption>, code: number): Uint8Array | undefined =>
  options.find((option) => option.code === code)?.value

/** Every text under a code, in order. Octets that are no UTF-8 become U+FFFD. */
export const optionTexts = (options: ReadonlyArray<CaptureOption>, code: number): ReadonlyArray<string> =>
  options.filter((option) => option.code === code).map(({ value }) => new TextDecoder().decode(value))

/** The number under a code: one, two, four or eight octets, unsigned. Undefined when absent or of another size. */
export const optionNumber = (options: ReadonlyArray<CaptureOption>, code: number): bigint | undefined => {
  const value = firstValue(options, code)
  if (value === undefined || ![1, 2, 4, 8].includes(value.length)) return undefined
  return value.reduceRight((sum, octet) => (sum << 8n) | BigInt(octet), 0n)
}

/** An option with a text. */
export const textOption = (code: number, text: string): CaptureOption => ({
  code,
  value: new TextEncoder().encode(text),
})

/** An option with an unsigned number of `octets` octets; higher bits are cut off. */
export const numberOption = (code: number, number: bigint | number, octets: 1 | 2 | 4 | 8): CaptureOption => {
  const value = new Uint8Array(octets)
  let rest = BigInt.asUintN(64, BigInt(number))
  for (let index = 0; index < octets; index++) {
    value[index] = Number(rest & 0xffn)
    rest >>= 8n
  }
  return { code, value }
}
