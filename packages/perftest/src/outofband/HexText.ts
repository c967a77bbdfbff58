import { FormatError } from "./FormatError.ts"

const FOUND_CHARACTERS_MAX = 60

/** Octets as text to show: what is not printable is dots, and a long one is cut. */
export const shown = (octets: Uint8Array): string => {
  let text = ""
  for (const octet of octets.subarray(0, FOUND_CHARACTERS_MAX)) {
    text += octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : "."
  }
  return `"${text}"${octets.length > FOUND_CHARACTERS_MAX ? "…" : ""}`
}

/** A number as `%0<digits>x` prints it. */
export const hex = (value: number | bigint, digits: number): string => value.toString(16).padStart(digits, "0")

/** Text and a NUL after it, as C keeps strings. */
export const withNul = (text: string): Uint8Array => {
  const octets = new Uint8Array(text.length + 1)
  for (let index = 0; index < text.length; index++) octets[index] = text.charCodeAt(index)
  return octets
}

/** Reads a message of fields in hexadecimal, each of a fixed width, one after the other. */
export class HexReader {
  readonly #format: string
  readonly #octets: Uint8Array
  #at = 0

  /** @throws FormatError when there are not `bytes` octets */
  constructor(format: string, octets: Uint8Array, bytes: number) {
    this.#format = format
    this.#octets = octets
    if (octets.length !== bytes) throw this.#refuse("length", `${octets.length} octets`, `${bytes}`)
  }

  /** The next `digits` hexadecimal digits. */
  digits(field: string, digits: number): string {
    const piece = this.#octets.subarray(this.#at, this.#at + digits)
    for (const octet of piece) {
      const isDigit = (octet >= 0x30 && octet <= 0x39) || (octet >= 0x61 && octet <= 0x66)
      if (!isDigit) throw this.#refuse(field, shown(piece), `${digits} hexadecimal digits`)
    }
    this.#at += digits
    return String.fromCharCode(...piece)
  }

  number(field: string, digits: number): number {
    return Number.parseInt(this.digits(field, digits), 16)
  }

  /** A number that is no more than `most`. */
  upTo(field: string, digits: number, most: number): number {
    const value = this.number(field, digits)
    if (value > most) throw this.#refuse(field, `0x${hex(value, digits)}`, `at most 0x${hex(most, digits)}`)
    return value
  }

  /** One character that has to be there. */
  mark(field: string, character: ":" | "\0"): void {
    const octet = this.#octets[this.#at++]!
    if (octet === character.charCodeAt(0)) return
    throw this.#refuse(field, shown(Uint8Array.of(octet)), character === ":" ? 'a ":" after it' : "a NUL after it")
  }

  #refuse(field: string, found: string, expected: string): FormatError {
    return new FormatError({ format: this.#format, field, found, expected })
  }
}
