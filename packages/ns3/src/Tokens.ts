import { Ns3FormatError, type Ns3Note } from "./FormatError.ts"

/** A longer word is not a number, a rate or a path: it is another kind of file. */
const TOKEN_OCTETS_MAX = 4096
const FOUND_CHARACTERS_MAX = 40
const MANTISSA_MAX = Number.MAX_SAFE_INTEGER

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** 10 to the 0..22: the powers that a double holds exactly. */
export const POWERS_OF_TEN: ReadonlyArray<number> = Array.from({ length: 23 }, (_, exponent) => Number(`1e${exponent}`))

/**
 * The words of a text file, as C++'s `>>` reads them: separated by white space, newlines not significant, no comments.
 * Works on octets in place, so that a file of a million lines costs no string per word.
 *
 * Throws {@link Ns3FormatError} on NUL and other control characters, on octets that are not UTF-8 and on words over
 * 4,096 octets.
 */
export class Tokens {
  readonly file: string
  readonly notes: Array<Ns3Note> = []
  /** The line of the current word, from 1. */
  line = 1
  /** Added to the hint of every error from now on: what an earlier oddity may have caused. */
  suspicion: string | undefined

  private readonly octets: Uint8Array
  private lineStart = 0
  private start = 0
  private end = 0
  /** The word that was last looked at as a plain decimal, and what came of it. */
  private decimalStart = -1
  private decimals: number | undefined
  private digits = 0

  constructor(text: string | Uint8Array, file: string) {
    this.file = file
    this.octets = typeof text === "string" ? new TextEncoder().encode(text) : text
    if (this.octets[0] === 0xef && this.octets[1] === 0xbb && this.octets[2] === 0xbf) {
      this.start = this.end = this.lineStart = 3
    }
  }

  /** Octets in the whole file: a bound for what can be in it. */
  get octetsTotal(): number {
    return this.octets.length
  }

  /** Octets in the current word. */
  get length(): number {
    return this.end - this.start
  }

  /** The column of the current word in characters, from 1. */
  get column(): number {
    let column = 1
    for (let i = this.lineStart; i < this.start; i++) {
      if ((this.octets[i]! & 0xc0) !== 0x80) column++
    }
    return column
  }

  /** Goes to the next word; false at the end of the file. */
  next(): boolean {
    const octets = this.octets
    const length = octets.length
    let i = this.end
    for (; i < length; i++) {
      const octet = octets[i]!
      if (octet > 0x20) break
      if (octet === 0x0a) {
        this.line++
        this.lineStart = i + 1
      } else if (octet !== 0x20 && (octet < 0x09 || octet > 0x0d)) this.rubbish(i)
    }
    this.start = i
    for (; i < length; i++) {
      const octet = octets[i]!
      if (octet <= 0x20 || octet === 0x7f) {
        if (octet !== 0x20 && (octet < 0x09 || octet > 0x0d)) this.rubbish(i)
        break
      }
    }
    this.end = i
    if (i - this.start > TOKEN_OCTETS_MAX) {
      throw this.fault("word", `at most ${TOKEN_OCTETS_MAX} octets without a space`, "is this the right file?")
    }
    return i > this.start
  }

  /** Goes to the next word, which must be there. */
  need(field: string, expected: string): void {
    if (!this.next()) throw this.fault(field, expected, "the file ends here")
  }

  /** The current word. */
  text(): string {
    const octets = this.octets.subarray(this.start, this.end)
    try {
      const text = strictDecoder.decode(octets)
      if (!text.includes("\uFFFD")) return text
    } catch {
      // Told below, with its place.
    }
    return this.rubbish(this.start + octets.findIndex((octet) => octet >= 0x80))
  }

  /** Whether the current word is plain digits. */
  isDigits(): boolean {
    for (let i = this.start; i < this.end; i++) {
      const octet = this.octets[i]!
      if (octet < 0x30 || octet > 0x39) return false
    }
    return this.end > this.start
  }

  /** The current word as a whole number min..max; digits only, no sign. */
  wholeNumber(field: string, min: number, max: number, hint?: string): number {
    let value = 0
    for (let i = this.start; i < this.end; i++) {
      const digit = this.octets[i]! - 0x30
      if (digit < 0 || digit > 9 || value > max) throw this.fault(field, `a whole number ${range(min, max)}`, hint)
      value = value * 10 + digit
    }
    if (this.end === this.start || value < min || value > max) {
      throw this.fault(field, `a whole number ${range(min, max)}`, hint)
    }
    return value
  }

  /** The current word as eight hexadecimal digits. */
  hex8(field: string): number {
    let value = 0
    for (let i = this.start; i < this.end; i++) {
      const octet = this.octets[i]!
      const digit =
        octet >= 0x30 && octet <= 0x39 ? octet - 0x30 : octet >= 0x61 && octet <= 0x66 ? octet - 0x57 : Number.NaN
      value = value * 16 + digit
    }
    if (this.length !== 8 || Number.isNaN(value)) throw this.fault(field, "eight hexadecimal digits, as 0b000101")
    return value
  }

  /**
   * The current word as a decimal number min..max, rounded as C++ rounds it (to the nearest double).
   * Digits, one point, an exponent; no hexadecimal, infinity or NaN.
   */
  decimal(field: string, min: number, max: number, hint?: string): number {
    const value = this.plainDecimal() ?? this.anyDecimal()
    if (value === undefined || !(value >= min && value <= max)) {
      throw this.fault(field, `a number ${range(min, max)}`, hint)
    }
    return value
  }

  /**
   * Digits after the point when the current word is digits and a point with a mantissa a double holds exactly, as
   * nearly all are; undefined for anything else.
   */
  plainDecimals(): number | undefined {
    if (this.decimalStart !== this.start) {
      this.decimalStart = this.start
      this.decimals = this.readDecimals()
    }
    return this.decimals
  }

  /** The digits of a word that {@link plainDecimals} accepted, without the point. */
  mantissa(): number {
    return this.digits
  }

  /** An error at the current word. */
  fault(field: string, expected: string, hint?: string): Ns3FormatError {
    const hints = [hint, this.suspicion].filter((text) => text !== undefined)
    return new Ns3FormatError({
      file: this.file,
      line: this.line,
      column: this.column,
      field,
      found: this.found(),
      expected,
      ...(hints.length === 0 ? {} : { hint: hints.join("; ") }),
    })
  }

  /** A note at the current word. */
  note(text: string): void {
    this.notes.push({ file: this.file, line: this.line, column: this.column, text })
  }

  private readDecimals(): number | undefined {
    const { octets, start, end } = this
    if (end - start === 1 && octets[start] === 0x2e) return undefined
    let decimals = -1
    let mantissa = 0
    for (let i = start; i < end; i++) {
      const octet = octets[i]!
      if (octet === 0x2e && decimals < 0) decimals = 0
      else {
        const digit = octet - 0x30
        if (digit < 0 || digit > 9) return undefined
        mantissa = mantissa * 10 + digit
        if (mantissa > MANTISSA_MAX) return undefined
        if (decimals >= 0) decimals++
      }
    }
    this.digits = mantissa
    return Math.max(0, decimals)
  }

  // Both operands are exact, so the one division rounds as a correctly rounded conversion does.
  private plainDecimal(): number | undefined {
    const decimals = this.plainDecimals()
    if (decimals === undefined || decimals >= POWERS_OF_TEN.length) return undefined
    return this.mantissa() / POWERS_OF_TEN[decimals]!
  }

  private anyDecimal(): number | undefined {
    const text = this.found(TOKEN_OCTETS_MAX)
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined
  }

  private found(charactersMax = FOUND_CHARACTERS_MAX): string {
    const octets = this.octets.subarray(this.start, Math.min(this.end, this.start + 4 * charactersMax))
    const text = decoder.decode(octets)
    return text.length > charactersMax ? `${text.slice(0, charactersMax)}…` : text
  }

  private rubbish(offset: number): never {
    this.start = this.end = offset
    const octets = this.octets
    const gzip = octets[0] === 0x1f && octets[1] === 0x8b
    throw new Ns3FormatError({
      file: this.file,
      line: this.line,
      column: this.column,
      field: "text",
      found: `\\x${(octets[offset] ?? 0).toString(16).padStart(2, "0")}`,
      expected: "plain text (UTF-8, no control characters)",
      hint: gzip ? "the file is compressed: unpack it first" : "this looks like a binary file",
      offset,
    })
  }
}

/** "0..375", or "of at least 0" when there is no upper end. */
const range = (min: number, max: number): string =>
  max >= Number.MAX_SAFE_INTEGER ? (min === Number.NEGATIVE_INFINITY ? "" : `of at least ${min}`) : `${min}..${max}`
