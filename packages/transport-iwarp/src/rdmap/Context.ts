import {
  blankCompletion,
  blankSettings,
  type Completion,
  type Memory,
  type MemoryUser,
  type QpAsyncEvent,
  type QpSettings,
  QpState,
  type VerbsEngineOptions,
  type VerbsEvent,
  type WcOpcode,
} from "@rdmakit/protocol"
import type { Cause } from "./Cause.ts"
import type { Dialect, Failure } from "./Dialect.ts"

export type Settings = { -readonly [K in keyof QpSettings]: QpSettings[K] }

/** What the parts of one queue pair share: who it is, its state and settings, and what it has to tell. */
export class Context {
  readonly qpn: number
  readonly user: MemoryUser
  readonly memory: Memory
  readonly signalAll: boolean
  readonly dialect: Dialect
  state: QpState = QpState.Reset
  readonly settings: Settings = { ...blankSettings }
  /** Something ended the connection, and the peer is told why; the queue pair acts on it before the call returns. */
  broken: Cause | undefined = undefined
  private events: Array<VerbsEvent> = []
  private next = 0

  constructor(options: VerbsEngineOptions, dialect: Dialect) {
    this.dialect = dialect
    this.qpn = options.qpn
    this.user = options.user
    this.memory = options.memory
    this.signalAll = options.signalAll
  }

  reset(): void {
    this.state = QpState.Reset
    this.broken = undefined
    Object.assign(this.settings, blankSettings)
  }

  raise(event: QpAsyncEvent): void {
    this.events.push({ type: "async", event })
  }

  poll(): VerbsEvent | undefined {
    if (this.next === this.events.length) return undefined
    const event = this.events[this.next++]
    if (this.next === this.events.length) {
      this.events = []
      this.next = 0
    }
    return event
  }

  tell(queue: "send" | "receive", solicited: boolean, completion: Partial<Completion>): void {
    this.events.push({
      type: "completion",
      queue,
      solicited,
      completion: { ...blankCompletion, qpn: this.qpn, ...completion },
    })
  }

  /** A work request that failed, or was flushed: only what means anything then. */
  tellFailure(queue: "send" | "receive", id: number, failure: Failure, opcode: WcOpcode): void {
    this.tell(queue, true, { id, opcode, status: failure.status, vendorError: failure.vendorError })
  }
}
