import type { Time } from "@rdmakit/protocol"

/**
 * A NIC of one's own broke its contract: it asked for what is no wake-up, or for one that lets time pass no more, or sent
 * what is no packet, or what it had sent.
 */
export class NicFault extends Error {
  readonly _tag = "NicFault"
  override readonly name = "NicFault"
  /** The host; undefined where what it named is none. */
  readonly node: number | undefined
  /** When, ps. */
  readonly time: Time

  /** @param what it did, and what was expected */
  constructor(what: string, node: number | undefined, time: Time) {
    super(`NIC${node === undefined ? "" : ` of host ${node}`}, at ${time / 1e6} us: ${what}`)
    this.node = node
    this.time = time
  }
}
