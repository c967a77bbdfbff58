import { type Completion, WcStatus } from "@rdmakit/protocol"
import { Data } from "effect"
import { type StatusName, statusAdvice, statusName, statusText } from "./Names.ts"
import type { VerbsError } from "./VerbsError.ts"

/** Queue pair numbers as captures and tools print them. */
const hex = (qpn: number): string => `0x${qpn.toString(16)}`

const advised = (status: WcStatus, separator: string): string => {
  const advice = statusAdvice(status)
  return advice === "" ? "" : `${separator}look at ${advice}`
}

/** A work request has completed, and not with success. */
export class WorkFailed extends Data.TaggedError("WorkFailed")<{
  /** What was asked for: "send", "rdma read". */
  readonly operation: string
  readonly status: StatusName
  readonly completion: Completion
  /**
   * The first completion of the queue pair that failed and was not flushed: the one that says why. undefined: there is none on
   * this side, as when the peer's request was the cause, or the program moved the queue pair to ERR; and on a queue pair of
   * SRD, which goes on after a request has failed.
   */
  readonly firstFailure: Completion | undefined
  /** The last asynchronous event of the queue pair, which says what a responder objected to. */
  readonly event: string | undefined
}> {
  /** The status to go by: that of `firstFailure` where this request was only flushed. */
  get diagnosis(): StatusName {
    const { completion, firstFailure = completion } = this
    return statusName((completion.status === WcStatus.WrFlushErr ? firstFailure : completion).status)
  }

  override get message(): string {
    const { completion, firstFailure, event } = this
    const own = `${this.operation} on QP ${hex(completion.qpn)}: ${this.status}: ${statusText(completion.status)}`
    if (completion.status !== WcStatus.WrFlushErr) return `${own}${advised(completion.status, "; ")}`
    if (firstFailure !== undefined) {
      const { status } = firstFailure
      return `${own}; before it failed another with ${statusName(status)}${advised(status, ": ")}`
    }
    if (event !== undefined) return `${own}; the queue pair had the event ${event}`
    return `${own}; the queue pair was moved to ERR`
  }
}

/** A work request that will never complete. */
export class WorkLost extends Data.TaggedError("WorkLost")<{
  readonly operation: string
  readonly qpn: number
  /** The queue pair went to RESET or is gone, or its completion queue had no room for the completion. */
  readonly reason: "reset" | "destroyed" | "overrun"
}> {
  override get message(): string {
    const why = {
      reset: "the queue pair was reset, which drops what is posted; modify it to ERR first to see it flushed",
      destroyed: "the queue pair was destroyed; wait for what is posted first",
      overrun: "the completion queue has overrun; make it as large as all that can be outstanding",
    }
    return `${this.operation} on QP ${hex(this.qpn)} never completes: ${why[this.reason]}`
  }
}

/** A completion found no room in its queue. The queue, and the queue pairs that complete there, are in error. */
export class CqOverrun extends Data.TaggedError("CqOverrun")<{
  readonly capacity: number
  /** Completions that are lost. */
  readonly lost: number
}> {
  override get message(): string {
    return `${this.lost} completions found no room among ${this.capacity}; make the queue as large as all that can be outstanding, or poll sooner`
  }
}

/** Why a work request that was waited for has not succeeded. */
export type WorkError = VerbsError | WorkFailed | WorkLost
