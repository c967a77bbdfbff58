/** The pool met its limit: more packets are alive than the run allowed. */
export class PoolExhausted extends Error {
  readonly _tag = "PoolExhausted"
  readonly limit: number
  constructor(what: string, limit: number) {
    super(`${what}: more than ${limit} alive at once; raise the limit, or look for packets that never leave a queue`)
    this.limit = limit
  }
}
