import { blankCompletion, bytesOf, MemoryFault, type ReceiveRequest, WcOpcode, WcStatus } from "@rdmakit/protocol"
import type { QueuePairContext } from "./QueuePairContext.ts"
import { SgeCursor } from "./SgeCursor.ts"

/** Receives that have left are cut off the front of the array once there are this many, and half of it. */
const SLACK = 64

/** What the packet that ends a message says of it. */
export interface Arrival {
  readonly opcode: WcOpcode
  readonly byteLength: number
  readonly immediate: number | undefined
  readonly invalidatedKey: number | undefined
  readonly sourceQp: number
  readonly solicited: boolean
}

/** The receive queue, the queue pair's own or a shared one, and the receive that a message is coming into. */
export class ReceiveSide {
  private readonly context: QueuePairContext
  private readonly most: number
  private readonly waiting: Array<ReceiveRequest> = []
  private head = 0
  private current: ReceiveRequest | undefined = undefined
  private room = 0
  /** Bytes of the message that have come. */
  filled = 0
  private readonly scatter = new SgeCursor()

  /** @param most receives posted and not completed */
  constructor(context: QueuePairContext, most: number) {
    this.context = context
    this.most = most
  }

  /** Receives posted here that have not completed; of a shared queue, the one that a message is coming into. */
  get outstanding(): number {
    return this.waiting.length - this.head + (this.current === undefined ? 0 : 1)
  }
  /** @throws RangeError when it is full: the device has counted */
  post(request: ReceiveRequest): void {
    if (this.outstanding >= this.most) throw new RangeError(`receive queue: more than ${this.most} receives`)
    this.waiting.push(request)
  }

  /** Takes a receive for a message, or keeps the one that a broken-off message had. False: there is none. */
  begin(): boolean {
    this.filled = 0
    if (this.current !== undefined) return true
    const taken = this.context.sharedReceives === undefined ? this.shift() : this.context.sharedReceives.take()
    if (taken === undefined) return false
    this.current = taken
    this.room = bytesOf(taken.sges)
    this.scatter.set(taken.sges)
    return true
  }

  private shift(): ReceiveRequest | undefined {
    if (this.head === this.waiting.length) return undefined
    const request = this.waiting[this.head++]
    if (this.head > SLACK && this.head * 2 > this.waiting.length) {
      this.waiting.splice(0, this.head)
      this.head = 0
    }
    return request
  }

  /** Whether so many bytes more fit. */
  fits(bytes: number): boolean {
    return this.filled + bytes <= this.room
  }

  /** Appends octets that fit. False: the receive's memory may not be written to. */
  append(octets: Uint8Array, start: number, bytes: number): boolean {
    const { memory, user } = this.context
    if (this.scatter.write(memory, user, this.filled, octets, start, bytes) !== MemoryFault.None) return false
    this.filled += bytes
    return true
  }

  /** The message has come whole. */
  complete(arrival: Arrival): void {
    const { context } = this
    const { byteLength, immediate, invalidatedKey, opcode, solicited, sourceQp } = arrival
    const id = this.take()
    context.tell({
      type: "completion",
      queue: "receive",
      solicited,
      completion: {
        ...blankCompletion,
        id,
        opcode,
        byteLength,
        immediate,
        invalidatedKey,
        qpn: context.qpn,
        sourceQp,
        grh: context.type === "ud",
      },
    })
  }

  private take(): number {
    const { id } = this.current!
    this.current = undefined
    return id
  }

  /** The message failed. False: no receive had been taken for it. */
  fail(status: WcStatus): boolean {
    if (this.current === undefined) return false
    this.context.tellFailure("receive", this.take(), status, WcOpcode.Recv)
    return true
  }

  /** All receives come back, flushed, in order; those of a shared queue stay there. */
  flush(): void {
    this.fail(WcStatus.WrFlushErr)
    for (let request = this.shift(); request !== undefined; request = this.shift()) {
      this.context.tellFailure("receive", request.id, WcStatus.WrFlushErr, WcOpcode.Recv)
    }
  }

  reset(): void {
    this.waiting.length = 0
    this.head = 0
    this.current = undefined
    this.filled = 0
  }
}
