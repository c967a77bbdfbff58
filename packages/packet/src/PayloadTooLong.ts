/** A payload of real octets that no slice has room for. */
export class PayloadTooLong extends Error {
  readonly _tag = "PayloadTooLong"
  override readonly name = "PayloadTooLong"
  readonly bytes: number
  /** Most that a slice holds. */
  readonly limit: number
  constructor(bytes: number, limit: number) {
    super(`a payload of ${bytes} octets: a packet has room for ${limit}; cut the message into more packets`)
    this.bytes = bytes
    this.limit = limit
  }
}
