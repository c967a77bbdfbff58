import { type ReceiveRequest, type SharedReceives, shown } from "@rdmakit/protocol"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import { checkFields } from "./Given.ts"
import type { ProtectionDomain } from "./ProtectionDomain.ts"
import { checkReceive } from "./WorkRequests.ts"

/** How much a shared receive queue takes (struct ibv_srq_init_attr). */
export interface SrqOptions {
  readonly maxWr: number
  readonly maxSge: number
  /** SRQ_LIMIT_REACHED comes once when fewer receives than this are left; 0: never. */
  readonly limit?: number
}

/** Receives for many queue pairs (IBTA 1.7 §10.2.9). */
export class SharedReceiveQueue implements SharedReceives {
  readonly pd: ProtectionDomain
  readonly number: number
  /** Queue pairs that take from it. */
  users = 0
  private readonly core: DeviceCore
  private readonly sgeMost: number
  private wrMost: number
  private limit: number
  private receives: Array<ReceiveRequest | undefined>
  private head = 0
  private count = 0
  private alive = true

  constructor(core: DeviceCore, pd: ProtectionDomain, options: SrqOptions) {
    checkFields("create_srq", "options", options, "say maxWr and maxSge")
    const { maxWr, maxSge, limit = 0 } = options
    check("create_srq", "maxWr", maxWr, 1, core.limits.maxSrqWr)
    check("create_srq", "maxSge", maxSge, 0, core.limits.maxSrqSge)
    check("create_srq", "limit", limit, 0, maxWr)
    core.resources.claim("sharedReceiveQueues", core.limits.maxSrq, "create_srq")
    this.core = core
    this.pd = pd
    this.number = core.nextNumber()
    this.wrMost = maxWr
    // As rxe, which gives at least one.
    this.sgeMost = Math.max(1, maxSge)
    this.limit = limit
    this.receives = new Array<ReceiveRequest | undefined>(maxWr).fill(undefined)
    pd.retain()
  }

  /** Receives that wait. */
  get length(): number {
    return this.count
  }

  /** Posts a receive. @throws DeviceError ENOMEM when the queue is full, EINVAL */
  post(request: ReceiveRequest): void {
    if (!this.alive) {
      throw new DeviceError("EINVAL", "post_srq_recv", undefined, "the queue is gone", "post before it is destroyed")
    }
    checkReceive("post_srq_recv", request, this.sgeMost, this.core.limits.maxMessageBytes)
    if (this.count >= this.wrMost) {
      throw new DeviceError(
        "ENOMEM",
        "post_srq_recv",
        undefined,
        `all ${this.wrMost} receives are posted`,
        "wait for a completion",
      )
    }
    const at = this.head + this.count
    this.receives[at < this.receives.length ? at : at - this.receives.length] = request
    this.count += 1
  }

  take(): ReceiveRequest | undefined {
    if (this.count === 0) return undefined
    const request = this.receives[this.head]
    this.receives[this.head] = undefined
    this.head = this.head + 1 === this.receives.length ? 0 : this.head + 1
    this.count -= 1
    if (this.count < this.limit) {
      // The event comes once for each time that it is asked for (IBTA 1.7 §10.2.9).
      this.limit = 0
      this.core.events.raise({ type: "SRQ_LIMIT_REACHED", srq: this })
    }
    return request
  }

  /** Changes its size, or arms the limit. @throws DeviceError EINVAL */
  modify(changes: { readonly maxWr?: number; readonly limit?: number }): void {
    checkFields("modify_srq", "changes", changes, "say maxWr or limit")
    const { maxWr, limit } = changes
    if (maxWr !== undefined) {
      check("modify_srq", "maxWr", maxWr, Math.max(1, this.count, limit ?? this.limit), this.core.limits.maxSrqWr)
    }
    if (limit !== undefined) check("modify_srq", "limit", limit, 0, maxWr ?? this.wrMost)
    if (maxWr !== undefined) this.resize(maxWr)
    if (limit !== undefined) this.limit = limit
  }

  /** The limit is 0 once its event has come. */
  query(): Required<SrqOptions> {
    return { maxWr: this.wrMost, maxSge: this.sgeMost, limit: this.limit }
  }

  /** @throws DeviceError EBUSY while queue pairs take from it, EINVAL the second time */
  destroy(): void {
    if (!this.alive) {
      throw new DeviceError("EINVAL", "destroy_srq", undefined, "the queue is gone already", "destroy it once")
    }
    if (this.users > 0) {
      throw new DeviceError(
        "EBUSY",
        "destroy_srq",
        undefined,
        `${this.users} queue pairs take from it`,
        "destroy them first",
      )
    }
    this.alive = false
    this.receives = []
    this.count = 0
    this.core.events.forget(this)
    this.core.resources.free("sharedReceiveQueues")
    this.pd.release()
  }

  private resize(maxWr: number): void {
    const receives = new Array<ReceiveRequest | undefined>(maxWr).fill(undefined)
    for (let i = 0; i < this.count; i += 1) {
      const at = this.head + i
      receives[i] = this.receives[at < this.receives.length ? at : at - this.receives.length]
    }
    this.receives = receives
    this.head = 0
    this.wrMost = maxWr
  }
}

const check = (verb: string, attribute: string, value: number, least: number, most: number): void => {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return
  throw new DeviceError("EINVAL", verb, attribute, `${shown(value)} is out of range`, `say ${least} to ${most}`)
}
