import type { QpAsyncEvent } from "@rdmakit/protocol"
import type { CompletionQueue } from "./CompletionQueue.ts"
import type { QueuePair } from "./QueuePair.ts"
import type { SharedReceiveQueue } from "./SharedReceiveQueue.ts"

/** Something that no work request asked for (enum ibv_event_type). */
export type AsyncEvent =
  | { readonly type: QpAsyncEvent; readonly qp: QueuePair }
  | { readonly type: "CQ_ERR"; readonly cq: CompletionQueue }
  | { readonly type: "SRQ_LIMIT_REACHED"; readonly srq: SharedReceiveQueue }
  | { readonly type: "PORT_ACTIVE" | "PORT_ERR" | "GID_CHANGE"; readonly port: number }
  /** SRD: nobody answers at an address, 16 octets, and the work for it has failed. It may be tried again. */
  | { readonly type: "REMOTE_UNRESPONSIVE"; readonly gid: Uint8Array }

/** Events nobody has taken; the oldest go when there are too many, and are counted. */
const WAITING_MAX = 4096

/** The asynchronous events of a device: to a listener at once, or kept until they are asked for. */
export class AsyncEvents {
  listener: ((event: AsyncEvent) => void) | undefined
  /** Events that were lost, because nobody took them. */
  lost = 0
  private waiting: Array<AsyncEvent> = []

  raise(event: AsyncEvent): void {
    if (this.listener !== undefined) {
      this.listener(event)
      return
    }
    if (this.waiting.length >= WAITING_MAX) {
      this.waiting.shift()
      this.lost += 1
    }
    this.waiting.push(event)
  }

  poll(): AsyncEvent | undefined {
    return this.waiting.shift()
  }

  /** What concerned an object that is gone. */
  forget(object: QueuePair | CompletionQueue | SharedReceiveQueue): void {
    this.waiting = this.waiting.filter(
      (event) =>
        !("qp" in event && event.qp === object) &&
        !("cq" in event && event.cq === object) &&
        !("srq" in event && event.srq === object),
    )
  }
}
