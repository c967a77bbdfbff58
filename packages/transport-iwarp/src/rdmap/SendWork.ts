import { bytesOf, type SendRequest, WcOpcode, WrOpcode } from "@rdmakit/protocol"
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

/** What its completion is called (erdma_cq.c: wc_mapping_table). */
export const completionOpcodes: Readonly<Record<WrOpcode, WcOpcode>> = {
  [WrOpcode.RdmaWrite]: WcOpcode.RdmaWrite,
  [WrOpcode.RdmaWriteWithImm]: WcOpcode.RdmaWrite,
  [WrOpcode.Send]: WcOpcode.Send,
  [WrOpcode.SendWithImm]: WcOpcode.Send,
  [WrOpcode.RdmaRead]: WcOpcode.RdmaRead,
  [WrOpcode.AtomicCmpAndSwp]: WcOpcode.CompSwap,
  [WrOpcode.AtomicFetchAndAdd]: WcOpcode.FetchAdd,
  [WrOpcode.LocalInv]: WcOpcode.LocalInv,
  [WrOpcode.BindMw]: WcOpcode.BindMw,
  [WrOpcode.SendWithInv]: WcOpcode.Send,
  [WrOpcode.AtomicWrite]: WcOpcode.AtomicWrite,
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
