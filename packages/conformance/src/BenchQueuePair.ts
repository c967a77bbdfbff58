import { Flag, Opcode, type Packet } from "@rdmakit/packet"
import { NEVER, type QueuePair, type Time, Timers } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"

/** What a queue pair of a `NicBench` does. */
export interface QueuePairLoad {
  /** Index of the port it sends through. */
  readonly port: number
  readonly packets: number
  /** 0 to 7. Default 3. */
  readonly priority?: number
  /** From one packet to the next, ps. Default 0. */
  readonly gapPs?: Time
  /** Packets that may be out at once. Default: any number. */
  readonly windowPackets?: number
  /** Ordinals of its packets that are lost on the way. Default none. */
  readonly lost?: ReadonlyArray<number>
  /** It has timers, one of which makes it twice as fast and half as fast in turn. Default false. */
  readonly timed?: boolean
}

/** After this without an acknowledgement what is out is sent again, ps. */
const TIMEOUT: Time = 40e6
/** From one change of pace to the next, and from an acknowledgement to a timer that each sets anew, ps. */
const CHANGE: Time = 3_170_000
const REST: Time = 9_000_000
const WIRE_BYTES = 1000

/** A queue pair that has nothing but packets to send, as its load says, and answers each request. It checks its calls. */
export class BenchQueuePair implements QueuePair<never, string> {
  readonly node: number
  readonly flow: number
  readonly priority: number
  port: number
  place = -1
  rateChanged = false
  paceTime: Time = 0
  timers: Timers | undefined = undefined
  /** Timeouts and timers that came. */
  timeouts = 0
  timersFired = 0
  /** Packets that left, whose acknowledgements came, and answers that left. */
  sent = 0
  acknowledged = 0
  answered = 0
  private left: number
  private out = 0
  private replies = 0
  private deadline: Time = NEVER
  private gap: Time
  private fast = false
  private readonly own = new Timers(2)
  /** When each timer is due. */
  private readonly dueAt: Array<Time> = [NEVER, NEVER]
  private readonly load: QueuePairLoad
  private readonly onAnswer: (port: number) => void
  private readonly events: Array<string> = []

  /** @param onAnswer called when an answer leaves */
  constructor(load: QueuePairLoad, node: number, flow: number, port: number, onAnswer: (port: number) => void) {
    this.load = load
    this.onAnswer = onAnswer
    this.node = node
    this.flow = flow
    this.port = port
    this.priority = load.priority ?? 3
    this.left = load.packets
    this.gap = load.gapPs ?? 0
  }

  /** Its timers begin. */
  start(now: Time): void {
    this.paceTime = now
    if (this.load.timed === true && this.left > 0) this.set(0, now + CHANGE)
  }

  get hasData(): boolean {
    return this.left > 0
  }
  get windowBound(): boolean {
    return this.out >= (this.load.windowPackets ?? Number.POSITIVE_INFINITY)
  }
  get controlPending(): boolean {
    return this.replies > 0
  }
  get finished(): boolean {
    return this.left === 0 && this.out === 0
  }
  get nextSend(): Time {
    return this.hasData && !this.windowBound ? this.paceTime : NEVER
  }
  get nextTimeout(): Time {
    return this.timers === undefined ? Math.min(this.deadline, this.own.next) : this.deadline
  }
  /** When the first of its timers or timeouts is due. */
  get due(): Time {
    return Math.min(this.deadline, ...this.dueAt)
  }

  lendTimers(): void {
    if (this.load.timed === true) this.timers = this.own
  }

  command(): void {}

  pollTransmit(now: Time, out: Packet): boolean {
    if (this.replies > 0) {
      this.replies--
      this.answered++
      this.onAnswer(this.port)
      this.fill(out, Opcode.Acknowledge, this.answered)
      return true
    }
    if (this.left === 0 || this.windowBound || this.paceTime > now) return false
    this.fill(out, Opcode.WriteOnly, this.sent)
    this.sent++
    this.left--
    this.out++
    this.paceTime = now + this.gap
    this.deadline = now + TIMEOUT
    return true
  }

  private fill(out: Packet, opcode: number, psn: number): void {
    out.meta = opcode | (this.priority << 24)
    out.flow = this.flow
    out.psn = psn
    out.wireBytes = WIRE_BYTES
  }

  handlePacket(now: Time, packet: Packet): void {
    if (packet.opcode < Opcode.Acknowledge) {
      if (packet.has(Flag.AckRequest)) this.replies++
      return
    }
    this.acknowledged++
    this.out--
    this.deadline = this.out === 0 ? NEVER : now + TIMEOUT
    if (this.load.timed === true) this.set(1, now + REST)
    if (!this.finished) return
    for (const timer of [0, 1]) this.set(timer, NEVER)
    this.events.push("finished")
  }

  handleTimeout(now: Time): void {
    if (this.timers === undefined) {
      for (let timer = this.own.take(now); timer >= 0; timer = this.own.take(now)) this.handleTimer(now, timer)
    }
    if (now < this.deadline) return
    this.timeouts++
    this.deadline = NEVER
    this.left += this.out
    this.out = 0
  }

  handleTimer(now: Time, timer: number): void {
    if (this.dueAt[timer] !== now)
      fail(`timer ${timer} of flow ${this.flow} came at ${now} ps, not at ${this.dueAt[timer]}`)
    this.dueAt[timer] = NEVER
    this.timersFired++
    if (timer !== 0 || this.finished) return
    this.set(0, now + CHANGE)
    this.fast = !this.fast
    const before = this.gap
    this.gap = this.fast ? before / 2 : before * 2
    if (this.paceTime > now) this.paceTime = Math.max(now, this.paceTime + this.gap - before)
    this.rateChanged = true
  }

  pollEvent(): string | undefined {
    return this.events.shift()
  }

  private set(timer: number, time: Time): void {
    if (time === NEVER) this.own.cancel(timer)
    else this.own.set(timer, time)
    this.dueAt[timer] = time
  }
}
