import {
  blankCompletion,
  blankSettings,
  type Memory,
  type MemoryUser,
  type QpAsyncEvent,
  type QpSettings,
  QpState,
  type QpType,
  type SharedReceives,
  type VerbsEngineOptions,
  type VerbsEvent,
  type WcOpcode,
  type WcStatus,
} from "@rdmakit/protocol"
import { PathHeader } from "./PathHeader.ts"
import type { VerbsConfig } from "./VerbsOptions.ts"

export type Settings = { -readonly [K in keyof QpSettings]: QpSettings[K] }

/** How a half of a queue pair ended what cannot go on. */
export const Break = { None: 0, /** The queue pair goes to the error state. */ Error: 1, SendError: 2 } as const
export type Break = (typeof Break)[keyof typeof Break]

/** What the parts of one queue pair share: who it is, its state and settings, and what it has to tell. */
export class QueuePairContext {
  readonly type: QpType
  readonly qpn: number
  readonly user: MemoryUser
  readonly memory: Memory
  readonly config: VerbsConfig
  readonly signalAll: boolean
  readonly sharedReceives: SharedReceives | undefined
  state: QpState = QpState.Reset
  /** Something ended the queue pair's work; the queue pair acts on it before the call returns. */
  broken: Break = Break.None
  readonly header = new PathHeader()
  readonly settings: Settings
  private events: Array<VerbsEvent> = []
  private next = 0

  constructor(options: VerbsEngineOptions, config: VerbsConfig) {
    this.type = options.type
    this.qpn = options.qpn
    this.user = options.user
    this.memory = options.memory
    this.config = config
    this.signalAll = options.signalAll
    this.sharedReceives = options.sharedReceives
    this.settings = { ...blankSettings }
  }

  restoreSettings(): void {
    Object.assign(this.settings, blankSettings)
  }

  tell(event: VerbsEvent): void {
    this.events.push(event)
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

  /** A work request that failed, or was flushed: only what means anything then. */
  tellFailure(queue: "send" | "receive", id: number, status: WcStatus, opcode: WcOpcode): void {
    this.tell({
      type: "completion",
      queue,
      solicited: true,
      completion: { ...blankCompletion, id, status, opcode, qpn: this.qpn },
    })
  }
}
