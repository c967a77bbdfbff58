import { Flag, Opcode, Packet, PacketPool } from "@rdmakit/packet"
import { NEVER, type Nic, type NicPorts, type Time, type Timers } from "@rdmakit/protocol"
import type { NicQueuePair } from "../src/index.ts"

/** The number by which a NIC asks for an endpoint's timeout. */
export const TIMEOUT = 15

export const PORTS = 8
/** What a paused priority is called: a bit. */
export const bit = (priority: number): number => 1 << priority

/** A queue pair that does as a test says. */
export class FakeQueuePair implements NicQueuePair<number, string> {
  readonly node = 6
  readonly flow: number
  readonly priority: number
  port: number
  place = -1
  rateChanged = false
  paceTime: Time = 0
  nextTimeout: Time = NEVER
  windowBound = false
  /** Packets it has to send. */
  left: number
  /** From one packet to the next, ps. */
  gap: Time
  finished = false
  /** Control packets it has to send; a NIC that asks gets them in order, numbered by `psn`. */
  replies = 0
  /** How often a scheduler looked at it. */
  looks = 0
  /** It says it has something to send, and has not. */
  lies = false
  readonly events: Array<string> = []
  readonly calls: Array<string> = []
  /** When its timeout is due next after each that has come; NEVER after the last. */
  private readonly due: Array<Time>
  private readonly onTimer: (now: Time, timer: number) => void
  private psn = 0

  constructor(
    flow: number,
    options: {
      left?: number
      gap?: Time
      priority?: number
      port?: number
      timers?: Timers
      due?: ReadonlyArray<Time>
      onTimer?: (now: Time, timer: number) => void
    } = {},
  ) {
    this.due = [...(options.due ?? [])]
    this.onTimer = options.onTimer ?? (() => {})
    this.flow = flow
    this.left = options.left ?? Infinity
    this.gap = options.gap ?? 0
    this.priority = options.priority ?? 3
    this.port = options.port ?? 0
    this.ownTimers = options.timers
  }

  get hasData(): boolean {
    this.looks++
    return this.left > 0
  }
  get controlPending(): boolean {
    return this.replies > 0
  }
  get nextSend(): Time {
    return this.left > 0 && !this.windowBound ? this.paceTime : NEVER
  }

  command(_now: Time, packets: number): void {
    this.left += packets
  }
  handlePacket(now: Time, packet: Packet): void {
    this.calls.push(`${now} packet ${packet.psn}`)
    if (packet.has(Flag.AckRequest)) this.replies++
  }
  handleTimeout(now: Time): void {
    this.calls.push(`${now} timeout`)
    this.nextTimeout = this.due.shift() ?? NEVER
  }
  timers: Timers | undefined = undefined
  /** What it lends. */
  ownTimers: Timers | undefined = undefined
  lendTimers(): void {
    this.timers = this.ownTimers
  }
  handleTimer(now: Time, timer: number): void {
    this.calls.push(`${now} timer ${timer}`)
    this.onTimer(now, timer)
  }
  pollEvent(): string | undefined {
    return this.events.shift()
  }
  pollTransmit(now: Time, out: Packet): boolean {
    if (this.lies) {
      this.replies = 0
      return false
    }
    const control = this.replies > 0
    if (!control && (this.left === 0 || this.windowBound || this.paceTime > now)) return false
    out.meta = (control ? Opcode.Acknowledge : Opcode.WriteOnly) | (this.priority << 24)
    out.flow = this.flow
    out.psn = this.psn++
    out.wireBytes = 1000
    if (control) {
      this.replies--
    } else {
      this.left--
      this.paceTime = now + this.gap
    }
    return true
  }
}

/** A kernel that only takes notes: what the NIC asks for stays as it is until the test does something. */
export class FakePorts implements NicPorts {
  readonly pool = new PacketPool({ capacity: 16 })
  readonly policyWords = new Int32Array(32 * PORTS)
  /** `port` of every kick. */
  readonly kicks: Array<number> = []
  readonly timers: Array<{ readonly node: number; readonly endpoint: number; readonly time: Time }> = []
  protected readonly wakes = new Array<Time>(PORTS).fill(NEVER)

  policyAt(port: number): number {
    return 32 * port
  }
  kick(_now: Time, port: number): void {
    this.kicks.push(port)
  }
  wakeTime(port: number): Time {
    return this.wakes[port]!
  }
  wakeAt(port: number, time: Time): void {
    this.wakes[port] = time
  }
  /** Requests for a controller's timers, with their events; and the events taken back. */
  readonly controllerTimers: Array<{ readonly endpoint: number; readonly timer: number; readonly time: Time }> = []
  readonly cancelled: Array<number> = []
  timerAt(node: number, endpoint: number, timer: number, time: Time): number {
    if (timer === TIMEOUT) this.timers.push({ node, endpoint, time })
    else return this.controllerTimers.push({ endpoint, timer, time }) - 1
    return -1
  }
  cancelTimer(event: number): void {
    this.cancelled.push(event)
  }
}

/** What a port sends next, as `flow`, or `ack flow`; undefined when it sends nothing. The packet is gone then. */
export const pull = (nic: Nic, ports: FakePorts, now: Time, port = 0, paused = 0): string | undefined => {
  const handle = nic.pull(now, port, paused)
  if (handle < 0) return undefined
  const packet = new Packet(ports.pool).at(handle)
  const name = `${packet.opcode === Opcode.Acknowledge ? "ack " : ""}${packet.flow}`
  ports.pool.release(handle)
  return name
}

/** A packet that arrives: a request to answer, one to be silent on, or a reply. */
export const receive = (
  nic: Nic,
  ports: FakePorts,
  now: Time,
  flow: number,
  what: "request" | "silent" | "reply" = "reply",
): void => {
  const packet = new Packet(ports.pool).at(ports.pool.alloc())
  packet.meta = what === "reply" ? Opcode.Acknowledge : Opcode.WriteOnly | (what === "request" ? Flag.AckRequest : 0)
  // Packets that carry a flow go to the endpoint of its other direction.
  packet.flow = flow ^ 1
  nic.receive(now, packet, 0)
}

/** A kernel with links: a kicked port that is idle sends at once, and is busy for a while. Events come in time order. */
export class TinyKernel extends FakePorts {
  now: Time = 0
  nic: Nic | undefined
  readonly sent: Array<{ readonly time: Time; readonly port: number; readonly flow: number }> = []
  readonly paused = new Array<number>(PORTS).fill(0)
  /** Wake-ups that came. */
  wakeUps = 0
  private readonly busyUntil = new Array<Time>(PORTS).fill(NEVER)
  private readonly txPs: Time

  constructor(txPs: Time) {
    super()
    this.txPs = txPs
  }

  override kick(now: Time, port: number): void {
    if (this.busyUntil[port] === NEVER) this.transmit(now, port)
  }

  private transmit(now: Time, port: number): void {
    const handle = this.nic!.pull(now, port, this.paused[port]!)
    if (handle < 0) return
    const packet = new Packet(this.pool).at(handle)
    this.sent.push({ time: now, port, flow: packet.flow })
    this.pool.release(handle)
    this.busyUntil[port] = now + this.txPs
  }

  /** Runs until nothing is left before `until`. */
  run(until: Time): void {
    for (;;) {
      const time = Math.min(...this.busyUntil, ...this.wakes)
      if (time >= until) break
      this.now = time
      const done = this.busyUntil.indexOf(time)
      const port = done >= 0 ? done : this.wakes.indexOf(time)
      if (done >= 0) {
        this.busyUntil[port] = NEVER
      } else {
        this.wakes[port] = NEVER
        this.wakeUps++
      }
      this.kick(time, port)
    }
    this.now = until
  }
}
