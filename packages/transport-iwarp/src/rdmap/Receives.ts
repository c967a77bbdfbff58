import { bytesOf, MemoryFault, moveSges, type ReceiveRequest, WcOpcode } from "@rdmakit/protocol"
import type { Context } from "./Context.ts"
import type { Failure } from "./Dialect.ts"

/** What the segment that ends a message says of it. */
export interface Arrival {
  readonly opcode: WcOpcode
  readonly byteLength: number
  readonly immediate: number | undefined
  readonly invalidatedKey: number | undefined
  readonly solicited: boolean
}

/** The receive queue, and the receive that a message is coming into. */
export class Receives {
  private readonly context: Context
  private readonly most: number
  private waiting: Array<ReceiveRequest> = []
  private current: ReceiveRequest | undefined = undefined
  private room = 0

  /** @param most receives posted and not completed */
  constructor(context: Context, most: number) {
    this.context = context
    this.most = most
  }

  get outstanding(): number {
    return this.waiting.length + (this.current === undefined ? 0 : 1)
  }

  /** @throws RangeError when it is full: the device has counted */
  post(request: ReceiveRequest): void {
    if (this.outstanding >= this.most) throw new RangeError(`receive queue: more than ${this.most} receives`)
    this.waiting.push(request)
  }

  /** Takes a receive for a message, unless it has one. False: none is posted. */
  begin(): boolean {
    if (this.current !== undefined) return true
    this.current = this.waiting.shift()
    if (this.current === undefined) return false
    this.room = bytesOf(this.current.sges)
    return true
  }

  /** Writes octets of the message, from `offset` of it on, to the receive's memory. */
  write(offset: number, octets: Uint8Array, start: number, bytes: number): MemoryFault {
    if (offset + bytes > this.room) return MemoryFault.Bounds
    const { memory, user } = this.context
    return moveSges(memory, user, this.current!.sges, offset, bytes, octets, start, true)
  }

  /** The message has come whole. */
  complete({ solicited, ...arrival }: Arrival): void {
    const { id } = this.current!
    this.current = undefined
    this.context.tell("receive", solicited, { id, ...arrival })
  }

  /** The message failed. */
  fail(failure: Failure): void {
    if (this.current === undefined) return
    this.context.tellFailure("receive", this.current.id, failure, WcOpcode.Recv)
    this.current = undefined
  }

  /** All receives come back, flushed, in order. */
  flush(): void {
    const { flushed } = this.context.dialect.failures
    this.fail(flushed)
    for (const { id } of this.waiting) this.context.tellFailure("receive", id, flushed, WcOpcode.Recv)
    this.waiting = []
  }

  reset(): void {
    this.waiting = []
    this.current = undefined
  }
}
