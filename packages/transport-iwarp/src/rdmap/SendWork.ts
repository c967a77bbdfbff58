import { bytesOf, type SendRequest, WrOpcode } from "@rdmakit/protocol"
import type { Failure } from "./Dialect.ts"

/** What a work request comes to. */
export const Kind = {
  /** SEND or WRITE: done when the peer's device has taken it. */
  Message: 0,
  /** Done when the response has come. */
  Read: 1,
  Atomic: 2,
  /** It sends nothing. */
  Local: 3,
  /** The device has not got it. */
  Unknown: 4,
} as const
export type Kind = (typeof Kind)[keyof typeof Kind]

const kinds: Readonly<Record<WrOpcode, Kind>> = {
  [WrOpcode.RdmaWrite]: Kind.Message,
  [WrOpcode.RdmaWriteWithImm]: Kind.Message,
  [WrOpcode.Send]: Kind.Message,
  [WrOpcode.SendWithImm]: Kind.Message,
  [WrOpcode.RdmaRead]: Kind.Read,
  [WrOpcode.AtomicCmpAndSwp]: Kind.Atomic,
  [WrOpcode.AtomicFetchAndAdd]: Kind.Atomic,
  [WrOpcode.LocalInv]: Kind.Local,
  [WrOpcode.BindMw]: Kind.Unknown,
  [WrOpcode.SendWithInv]: Kind.Message,
  [WrOpcode.AtomicWrite]: Kind.Unknown,
}

/** A send work request on its way through the queue. */
export class SendWork {
  readonly request: SendRequest
  readonly kind: Kind
  /** Bytes that it moves. */
  readonly bytes: number
  readonly remoteHigh: number
  readonly remoteLow: number
  /** It has been given to the stream, or carried out; it only waits for those before it; what was wrong with it. */
  started = false
  done = false
  failure: Failure | undefined = undefined

  constructor(request: SendRequest) {
    this.request = request
    this.kind = kinds[request.opcode]
    this.bytes = this.kind === Kind.Local ? 0 : (request.inline?.length ?? bytesOf(request.sges))
    const address = BigInt(request.remoteAddress ?? 0)
    this.remoteHigh = Number(address >> 32n)
    this.remoteLow = Number(address & 0xffffffffn)
  }

  get answered(): boolean {
    return this.kind === Kind.Read || this.kind === Kind.Atomic
  }
}
