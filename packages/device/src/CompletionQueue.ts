import { type Completion, shown } from "@rdmakit/protocol"
import type { Device } from "./Device.ts"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"

type Armed = "no" | "solicited" | "next"

/** Where completions wait to be polled (IBTA vol. 1, ch. 11). */
export class CompletionQueue {
  readonly device: Device
  /** Work queues that complete here: a queue pair counts twice when both of its queues do. */
  users = 0
  /** A completion found no room: none comes any more, those that are here can be polled. */
  overrun = false
  /** Completions that were lost to an overrun. */
  lost = 0
  private readonly core: DeviceCore
  private ring: Array<Completion | undefined>
  private head = 0
  private count = 0
  private armed: Armed = "no"
  private onEvent: (() => void) | undefined
  private alive = true

  constructor(device: Device, core: DeviceCore, capacity: number) {
    checkCapacity("create_cq", capacity, core.limits.maxCqe)
    core.resources.claim("completionQueues", core.limits.maxCq, "create_cq")
    this.device = device
    this.core = core
    this.ring = new Array<Completion | undefined>(capacity).fill(undefined)
  }

  /** Completions it may hold. */
  get capacity(): number {
    return this.ring.length
  }
  /** Completions that wait. */
  get length(): number {
    return this.count
  }

  /**
   * Takes the oldest completions.
   * @param out filled from its first element on
   * @param most at most so many, by default as many as `out` has elements
   * @returns how many there were
   */
  poll(out: Array<Completion>, most: number = out.length): number {
    const taken = Math.min(most, this.count)
    for (let i = 0; i < taken; i += 1) out[i] = this.pollOne()!
    return taken
  }

  /** Takes the oldest completion. */
  pollOne(): Completion | undefined {
    if (this.count === 0) return undefined
    const completion = this.ring[this.head]
    this.ring[this.head] = undefined
    this.head = this.head + 1 === this.ring.length ? 0 : this.head + 1
    this.count -= 1
    return completion
  }

  /**
   * Calls back once, when the next completion comes, or the next solicited or failed one. Completions that wait already
   * do not count: poll after arming. Arming for the next outweighs arming for a solicited one (IBTA vol. 1, ch. 11).
   */
  arm(on: "next" | "solicited", onEvent: () => void): void {
    this.onEvent = onEvent
    if (this.armed !== "next") this.armed = on
  }

  /** Takes back what `arm` asked for. */
  disarm(): void {
    this.armed = "no"
    this.onEvent = undefined
  }

  /** Makes room for more, or less. @throws DeviceError EINVAL when what waits would not fit */
  resize(capacity: number): void {
    checkCapacity("resize_cq", capacity, this.core.limits.maxCqe)
    if (capacity < this.count) {
      throw new DeviceError(
        "EINVAL",
        "resize_cq",
        "capacity",
        `${this.count} completions wait, ${capacity} would fit`,
        "poll them first",
      )
    }
    const ring = new Array<Completion | undefined>(capacity).fill(undefined)
    const waiting = this.count
    for (let i = 0; i < waiting; i += 1) ring[i] = this.pollOne()
    this.ring = ring
    this.head = 0
    this.count = waiting
  }

  /** @throws DeviceError EBUSY while queue pairs complete here, EINVAL the second time */
  destroy(): void {
    if (!this.alive) {
      throw new DeviceError("EINVAL", "destroy_cq", undefined, "the queue is gone already", "destroy it once")
    }
    if (this.users > 0) {
      throw new DeviceError(
        "EBUSY",
        "destroy_cq",
        undefined,
        `${this.users} work queues complete here`,
        "destroy them first",
      )
    }
    this.alive = false
    this.disarm()
    this.ring = [undefined]
    this.count = 0
    this.core.events.forget(this)
    this.core.resources.free("completionQueues")
  }

  /** Puts a completion in. False: there was no room. */
  add(completion: Completion, solicited: boolean): boolean {
    if (this.overrun || this.count === this.ring.length) {
      this.overrun = true
      this.lost += 1
      return false
    }
    const at = this.head + this.count
    this.ring[at < this.ring.length ? at : at - this.ring.length] = completion
    this.count += 1
    if (this.armed === "next" || (this.armed === "solicited" && solicited)) {
      const { onEvent } = this
      this.disarm()
      onEvent?.()
    }
    return true
  }

  /** Drops the completions of a queue pair that is gone. */
  purge(qpn: number): void {
    const waiting = this.count
    for (let i = 0; i < waiting; i += 1) {
      const completion = this.pollOne()!
      if (completion.qpn === qpn) continue
      const at = this.head + this.count
      this.ring[at < this.ring.length ? at : at - this.ring.length] = completion
      this.count += 1
    }
  }
}

const checkCapacity = (verb: string, capacity: number, most: number): void => {
  if (Number.isSafeInteger(capacity) && capacity >= 1 && capacity <= most) return
  throw new DeviceError("EINVAL", verb, "capacity", `${shown(capacity)} completions`, `say 1 to ${most}`)
}
