import type { SharedReceiveQueue as DeviceSrq, SrqOptions } from "@rdmakit/device"
import type { ReceiveRequest } from "@rdmakit/protocol"
import type { Effect } from "effect"
import type { DeviceState } from "./DeviceState.ts"
import { Lifetime } from "./Lifetime.ts"
import { attempt, refusalOf, type VerbsError } from "./VerbsError.ts"
import { checkRequest } from "./Work.ts"

/** Receives for many queue pairs (struct ibv_srq). It ends with its scope. */
export class SharedReceiveQueue {
  readonly handle: DeviceSrq
  readonly lifetime: Lifetime

  constructor(state: DeviceState, handle: DeviceSrq) {
    this.handle = handle
    state.sharedReceiveQueues.set(handle, this)
    this.lifetime = new Lifetime(state.lifetimes, () => {
      handle.destroy()
      state.sharedReceiveQueues.delete(handle)
    })
  }

  /** Number of the queue (ibv_get_srq_num). */
  get number(): number {
    return this.handle.number
  }
  /** Receives that wait. */
  get length(): number {
    return this.handle.length
  }

  /**
   * Posts a receive, without waiting (ibv_post_srq_recv). It completes at the queue pair that takes it.
   *
   * @throws VerbsError ENOMEM when the queue is full, EINVAL
   */
  post(request: ReceiveRequest): void {
    try {
      checkRequest("post_srq_recv", request)
      this.handle.post(request)
    } catch (thrown) {
      throw refusalOf(thrown)
    }
  }

  /** Changes its size, or arms the limit: SRQ_LIMIT_REACHED comes once when fewer receives are left. */
  modify(changes: { readonly maxWr?: number; readonly limit?: number }): Effect.Effect<void, VerbsError> {
    return attempt(() => this.handle.modify(changes))
  }

  /** Its size, and its limit: 0 once the event has come. */
  get query(): Effect.Effect<Required<SrqOptions>, VerbsError> {
    return attempt(() => this.handle.query())
  }

  /** Ends it before its scope does. Fails with EBUSY while queue pairs take from it. */
  get destroy(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }
}
