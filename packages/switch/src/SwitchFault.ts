import type { Time } from "@rdmakit/protocol"

/** A switch of one's own broke its contract: what it said of a packet is no port or queue, and no `Drop`. */
export class SwitchFault extends Error {
  readonly _tag = "SwitchFault"
  override readonly name = "SwitchFault"
  readonly node: number
  /** When, ps. */
  readonly time: Time

  /** @param what it did, and what was expected */
  constructor(what: string, node: number, time: Time) {
    super(`switch ${node}, at ${time / 1e6} us: ${what}`)
    this.node = node
    this.time = time
  }
}
