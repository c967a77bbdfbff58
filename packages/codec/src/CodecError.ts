/** What a packet says that octets cannot, or octets that no packet of the simulator stands for. */
export class CodecError extends Error {
  readonly _tag = "CodecError"
  /** The field of the packet, or `format.field` of the octets. */
  readonly field: string
  readonly found: string
  readonly expected: string
  constructor(field: string, found: number | string, expected: string) {
    super(`${field}: found ${found}, expected ${expected}`)
    this.field = field
    this.found = String(found)
    this.expected = expected
  }
}
