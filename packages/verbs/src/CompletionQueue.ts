import type { CompletionQueue as DeviceQueue } from "@rdmakit/device"
import { type Completion, WcStatus } from "@rdmakit/protocol"
import { Effect, Stream } from "effect"
import type { DeviceState } from "./DeviceState.ts"
import { Lifetime } from "./Lifetime.ts"
import { Mailbox, type Resume, Signal, waitFor } from "./Mailbox.ts"
import { statusName } from "./Names.ts"
import { attempt, refusalOf, type VerbsError, wrongType } from "./VerbsError.ts"
import { CqOverrun, type WorkError, WorkFailed, WorkLost } from "./WorkError.ts"

/** What a queue pair tells of itself when one of its requests has failed. */
export interface WorkOwner {
  readonly number: number
  /** Its first completion that failed and was not flushed. */
  readonly firstFailure: Completion | undefined
  readonly lastEvent: string | undefined
  noteFailure(completion: Completion): void
}

/** A work request that a fiber waits for. */
interface Work {
  readonly operation: string
  readonly owner: WorkOwner
  readonly resume: Resume<Completion, WorkError>
}

type ArmedFor = "next" | "solicited"

/** At most so many completions in one piece of a stream. */
const CHUNK_MAX = 256

/** Where work requests complete (struct ibv_cq). Made by `DeviceContext.completionQueue`; it ends with its scope. */
export class CompletionQueue {
  /** The device's own queue, for code without Effect. */
  readonly handle: DeviceQueue
  readonly lifetime: Lifetime
  /** Completions taken from the device that no fiber waits for by name. */
  private readonly kept = new Mailbox<Completion, CqOverrun>()
  /** By their numbers, which are below 0. */
  private readonly works = new Map<number, Work>()
  private readonly owners = new Map<number, WorkOwner>()
  private lastWork = 0
  private notice: Signal<CqOverrun> | undefined
  private noticeFor: ArmedFor = "solicited"

  constructor(state: DeviceState, handle: DeviceQueue) {
    this.handle = handle
    this.kept.onWait = () => this.watch()
    // There is room for what stands before a completion that a fiber waits for.
    this.kept.onTaken = () => {
      if (this.works.size > 0 && handle.length > 0) this.watch()
    }
    state.completionQueues.set(handle, this)
    this.lifetime = new Lifetime(state.lifetimes, () => {
      handle.destroy()
      state.completionQueues.delete(handle)
    })
  }

  /** Completions it may hold. */
  get capacity(): number {
    return this.handle.capacity
  }

  /** It has overrun: what is here can be polled, nothing more comes. */
  get overrun(): boolean {
    return this.handle.overrun
  }

  /**
   * Takes the oldest completions, without waiting (ibv_poll_cq). For hot paths: no Effect, no allocation.
   *
   * @param out filled from its first element on
   * @param most at most so many, by default as many as `out` has elements
   * @returns how many there were
   * @throws VerbsError EINVAL when `out` is no array
   */
  poll(out: Array<Completion>, most: number = out?.length ?? 0): number {
    if (!Array.isArray(out)) throw wrongType("poll_cq", "out", out, "give an array")
    let count = 0
    while (count < most) {
      const completion = this.pollOne()
      if (completion === undefined) break
      out[count++] = completion
    }
    return count
  }

  /** Takes the oldest completion, without waiting; undefined: there is none. */
  pollOne(): Completion | undefined {
    if (this.kept.length > 0) return this.kept.shift()
    for (;;) {
      const completion = this.handle.pollOne()
      if (completion === undefined || this.isForProgram(completion)) return completion
    }
  }

  /** The oldest completion, as soon as there is one. Waits to be notified, without polling. */
  readonly next: Effect.Effect<Completion, CqOverrun> = Effect.suspend(() => {
    const completion = this.kept.isAwaited ? undefined : this.pollOne()
    return completion === undefined ? this.kept.take : Effect.succeed(completion)
  })

  /** Completions as they come, several in a piece when several wait. It fails when the queue has overrun. */
  readonly completions: Stream.Stream<Completion, CqOverrun> = Stream.fromPull(
    Effect.sync(() =>
      Effect.map(this.next, (first) => {
        const piece: [Completion, ...Array<Completion>] = [first]
        while (piece.length < CHUNK_MAX) {
          const completion = this.pollOne()
          if (completion === undefined) break
          piece.push(completion)
        }
        return piece
      }),
    ),
  )

  /**
   * Asks for one event (ibv_req_notify_cq), at once; the effect it gives waits for it (ibv_get_cq_event). Completions that
   * are there already make no event: poll between the two, or use `next`, which does.
   *
   * @param on "solicited": the next that its sender marked, or that failed. While fibers wait for other completions of the
   * queue, every completion is an event, as IBTA vol. 1, ch. 11 has it
   */
  arm(on: ArmedFor = "next"): Effect.Effect<Effect.Effect<void, CqOverrun>> {
    return Effect.sync(() => {
      if (this.overrun) return Effect.fail(this.overrunError)
      if (this.notice === undefined) {
        this.notice = new Signal()
        this.noticeFor = "solicited"
      }
      if (on === "next") this.noticeFor = "next"
      const notice = this.notice
      this.watch()
      return notice.wait
    })
  }

  /** Makes room for more, or for less. Fails with EINVAL when what waits would not fit. */
  resize(capacity: number): Effect.Effect<void, VerbsError> {
    return attempt(() => this.handle.resize(capacity))
  }

  /** Ends it before its scope does. Fails with EBUSY while queue pairs complete here. */
  get destroy(): Effect.Effect<void, VerbsError> {
    return this.lifetime.end
  }

  /** A queue pair completes here. */
  attach(owner: WorkOwner): void {
    this.owners.set(owner.number, owner)
  }

  /** It does no more, or what it had posted is dropped: who waits for that waits in vain. */
  abandon(owner: WorkOwner, reason: "reset" | "destroyed"): void {
    if (this.works.size > 0) this.sort()
    if (reason === "destroyed") {
      this.owners.delete(owner.number)
      this.kept.drop((completion) => completion.qpn === owner.number)
    }
    for (const [id, work] of this.works) if (work.owner === owner) this.lose(id, work, reason)
  }

  /** Posts a work request and waits for its completion. The number that `post` gets is the request's `id`. */
  await(owner: WorkOwner, operation: string, post: (id: number) => void): Effect.Effect<Completion, WorkError> {
    return waitFor((resume) => {
      if (this.overrun) return Effect.fail(new WorkLost({ operation, qpn: owner.number, reason: "overrun" }))
      this.lastWork -= 1
      const id = this.lastWork
      this.works.set(id, { owner, operation, resume })
      try {
        post(id)
      } catch (thrown) {
        this.works.delete(id)
        return Effect.fail(refusalOf(thrown))
      }
      this.watch()
      // Its completion will come all the same, and is for nobody.
      return () => {
        this.works.delete(id)
      }
    })
  }

  /** The device says that a completion found no room. */
  handleOverrun(): void {
    this.sort()
    for (const [id, work] of this.works) this.lose(id, work, "overrun")
    this.kept.fail(this.overrunError)
    this.notice?.fire(Effect.fail(this.overrunError))
  }

  private get overrunError(): CqOverrun {
    return new CqOverrun({ capacity: this.handle.capacity, lost: this.handle.lost })
  }

  /** What a completion means, before anybody sees it; false: a fiber waits for it by name, or did. */
  private isForProgram(completion: Completion): boolean {
    if (completion.status !== WcStatus.Success) this.owners.get(completion.qpn)?.noteFailure(completion)
    if (completion.id >= 0) return true
    const work = this.works.get(completion.id)
    if (work === undefined) return false
    this.works.delete(completion.id)
    const { operation, owner, resume } = work
    resume(() =>
      completion.status === WcStatus.Success
        ? Effect.succeed(completion)
        : Effect.fail(
            new WorkFailed({
              operation,
              status: statusName(completion.status),
              completion,
              firstFailure: owner.firstFailure,
              event: owner.lastEvent,
            }),
          ),
    )
    return false
  }

  private lose(id: number, work: Work, reason: WorkLost["reason"]): void {
    this.works.delete(id)
    const { operation, owner, resume } = work
    resume(() => Effect.fail(new WorkLost({ operation, qpn: owner.number, reason })))
  }

  /** Hands out what the device has. Never more is kept here than the queue itself holds, so that an overrun stays one. */
  private sort(): void {
    while (this.kept.length < this.handle.capacity || this.handle.overrun) {
      const completion = this.handle.pollOne()
      if (completion === undefined) return
      if (this.isForProgram(completion)) this.kept.offer(completion)
    }
  }

  /** Sees to it that the device calls as long as somebody waits. */
  private watch(): void {
    const awaited = this.works.size > 0 || this.kept.isAwaited
    if (awaited) this.sort()
    if (this.works.size > 0 || this.kept.isAwaited) this.handle.arm("next", this.onEvent)
    else if (this.notice !== undefined) this.handle.arm(this.noticeFor, this.onEvent)
  }

  private readonly onEvent = (): void => {
    const { notice } = this
    this.notice = undefined
    notice?.fire(Effect.void)
    this.watch()
  }
}
