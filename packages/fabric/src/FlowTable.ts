import { NEVER, type Time } from "@rdmakit/protocol"

/** One message to send. */
export interface Flow {
  readonly source: number
  readonly destination: number
  /** Priority of its packets, 1 to 7. */
  readonly priority: number
  readonly bytes: number
  readonly start: Time
  /** UDP ports, its entropy. */
  readonly sourcePort: number
  readonly destinationPort: number
  /** Name of what it is part of; empty: of nothing in particular. */
  readonly workload?: string
}

/** The flows of a run, by start time, and what became of them. */
export class FlowTable {
  readonly count: number
  readonly source: Int32Array
  readonly destination: Int32Array
  readonly priority: Uint8Array
  readonly sourcePort: Uint16Array
  readonly destinationPort: Uint16Array
  readonly bytes: Float64Array
  readonly start: Float64Array
  /** Names of what flows are part of, by first start; and of each flow, which of them. */
  readonly workloads: ReadonlyArray<string>
  readonly workload: Uint16Array
  /** When the flow began: its queue pair was made, or admission control held it back; ps, NEVER before. */
  readonly created: Float64Array
  /** Last acknowledgement at the sender, ps; NEVER while unfinished. */
  readonly finished: Float64Array
  finishedCount = 0
  /** The last completion so far, ps; 0 before the first. */
  lastFinish: Time = 0

  /** @param flows by start time; those of equal start keep their order. */
  constructor(flows: ReadonlyArray<Flow>) {
    const n = flows.length
    this.count = n
    this.source = new Int32Array(n)
    this.destination = new Int32Array(n)
    this.priority = new Uint8Array(n)
    this.sourcePort = new Uint16Array(n)
    this.destinationPort = new Uint16Array(n)
    this.bytes = new Float64Array(n)
    this.start = new Float64Array(n)
    this.workload = new Uint16Array(n)
    this.created = new Float64Array(n).fill(NEVER)
    this.finished = new Float64Array(n).fill(NEVER)
    const numbers = new Map<string, number>()
    for (let i = 0; i < n; i++) {
      const flow = flows[i]!
      const { workload = "" } = flow
      const number = numbers.get(workload) ?? numbers.size
      if (number === numbers.size) numbers.set(workload, number)
      this.workload[i] = number
      this.source[i] = flow.source
      this.destination[i] = flow.destination
      this.priority[i] = flow.priority
      this.sourcePort[i] = flow.sourcePort
      this.destinationPort[i] = flow.destinationPort
      this.bytes[i] = flow.bytes
      this.start[i] = flow.start
    }
    this.workloads = [...numbers.keys()]
  }

  finish(flow: number, now: Time): void {
    this.finished[flow] = now
    this.finishedCount++
    this.lastFinish = Math.max(this.lastFinish, now)
  }

  /** From its beginning to the last acknowledgement, time held back included, ps; NEVER while unfinished. */
  completionTime(flow: number): Time {
    return this.finished[flow]! - this.created[flow]!
  }
}
