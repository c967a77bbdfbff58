import { Layout, Opcode, Packet, type PacketPool } from "@rdmakit/packet"
import { type Engine, EVENTS_MAX, NEVER, type Time } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"

/** Which end of a pair. */
export type End = 0 | 1

/** One packet that left an end, as it was then. */
export interface Crossing {
  readonly time: Time
  readonly from: End
  /** How many packets left this end before it. */
  readonly ordinal: number
  readonly opcode: number
  /** Opcode, flags, priority and ECN in one word (see `Layout.META`). */
  readonly meta: number
  readonly psn: number
  readonly payloadBytes: number
  readonly wireBytes: number
  readonly stamp: Time
}

/** One event of an engine. */
export interface PairEvent<Event> {
  readonly time: Time
  readonly end: End
  readonly event: Event
}

export interface EnginePairOptions<Command, Event> {
  readonly pool: PacketPool
  readonly ends: readonly [Engine<Command, Event>, Engine<Command, Event>]
  /** When it starts, ps. Default 0. */
  readonly now?: Time
  /**
   * What becomes of a packet: the time each copy of it takes to the other end, ps. None: it is lost; two: it is
   * duplicated; one that takes less than the packet before it overtakes it. Default: one copy, 1 µs.
   */
  readonly path?: (crossing: Crossing) => ReadonlyArray<Time>
  /** What a switch on the way does to a packet: marks it, stamps it. */
  readonly onWay?: (packet: Packet, crossing: Crossing) => void
  /** Sees a packet before the engine it has reached. */
  readonly onArrival?: (now: Time, packet: Packet, to: End) => void
  /** Before each step, timeouts are handled that nobody asked for: they are to change nothing. Default false. */
  readonly restless?: boolean
}

interface Arrival {
  readonly time: Time
  readonly to: End
  readonly handle: number
}

const ENDS: ReadonlyArray<End> = [0, 1]

/**
 * Two engines and the way between them, in virtual time: the tiniest of worlds. It drains them as the contract of
 * `Engine` has it, and throws `ContractViolation` where one breaks its half: it sends before `nextSend`, or not at it;
 * it touches a packet it does not send; its timeout does not pass. A packet's record is overwritten as soon as the
 * engine has handled it.
 *
 * At one moment arrivals come first, in the order they were sent, then timeouts, then sends.
 */
export class EnginePair<Command, Event> {
  now: Time
  /** Every packet that left, in order. */
  readonly sent: Array<Crossing> = []
  readonly events: Array<PairEvent<Event>> = []
  /** Packets that reached an end. */
  arrivals = 0

  private readonly options: EnginePairOptions<Command, Event>
  private readonly packet: Packet
  /** Latest first. */
  private readonly flying: Array<Arrival> = []
  private readonly ordinals: [number, number] = [0, 0]

  constructor(options: EnginePairOptions<Command, Event>) {
    this.options = options
    this.now = options.now ?? 0
    this.packet = new Packet(options.pool)
  }

  command(end: End, command: Command): void {
    this.options.ends[end].command(this.now, command)
    this.drain(end)
  }

  /** Packets on the way. */
  get inFlight(): number {
    return this.flying.length
  }

  /** When something happens next, ps; NEVER when all is idle. */
  get next(): Time {
    let time = this.flying.at(-1)?.time ?? NEVER
    for (const end of this.options.ends) time = Math.min(time, end.nextTimeout, end.nextSend)
    return time
  }

  /**
   * Goes on until nothing is left to happen, or until `until`. Throws `ContractViolation` after `steps` steps: something
   * never comes to an end.
   */
  run(until: Time = NEVER, steps = 1e6): void {
    for (let left = steps; this.next <= until && this.next < NEVER; left--) {
      if (left === 0) fail(`after ${steps} steps, at ${this.now} ps, it has not come to an end`)
      this.step()
    }
    if (until < NEVER && until > this.now) this.now = until
  }

  private step(): void {
    const { ends, restless } = this.options
    const time = this.next
    if (restless === true) {
      for (const end of ENDS) if (ends[end].nextTimeout > this.now) this.timeOut(end)
      if (this.next !== time) fail(`a timeout nobody asked for moved the next event from ${time} to ${this.next} ps`)
    }
    if (time > this.now) this.now = time
    const arrival = this.flying.at(-1)
    if (arrival !== undefined && arrival.time <= this.now) {
      this.flying.pop()
      this.arrive(arrival)
      return
    }
    const due = ENDS.find((end) => ends[end].nextTimeout <= this.now)
    if (due === undefined) {
      for (const end of ENDS) if (ends[end].nextSend <= this.now) this.drain(end)
      return
    }
    this.timeOut(due)
    if (!(ends[due].nextTimeout > this.now)) fail(`handleTimeout left nextTimeout at ${ends[due].nextTimeout} ps, now`)
  }

  private timeOut(end: End): void {
    this.options.ends[end].handleTimeout(this.now)
    this.drain(end)
  }

  private arrive({ to, handle }: Arrival): void {
    const { pool, ends, onArrival } = this.options
    const packet = this.packet.at(handle)
    this.arrivals++
    onArrival?.(this.now, packet, to)
    ends[to].handlePacket(this.now, packet)
    pool.release(handle)
    // Whoever kept the cursor or the handle reads nonsense from here on.
    const base = handle << Layout.RECORD_SHIFT
    const next = pool.words[base + Layout.NEXT]!
    pool.words.fill(-1, base, base + Layout.RECORD_WORDS)
    pool.words[base + Layout.NEXT] = next
    this.drain(to)
  }

  private drain(end: End): void {
    const engine = this.options.ends[end]
    while (this.transmit(end, engine)) {
      // Until nothing may leave now.
    }
    const { length } = this.events
    for (let event = engine.pollEvent(); event !== undefined; event = engine.pollEvent()) {
      if (this.events.length - length === EVENTS_MAX) fail(`at ${this.now} ps, its events have not come to an end`)
      this.events.push({ time: this.now, end, event })
    }
  }

  private transmit(end: End, engine: Engine<Command, Event>): boolean {
    const { pool } = this.options
    const { nextSend } = engine
    const handle = pool.alloc()
    const packet = this.packet.at(handle)
    const sent = engine.pollTransmit(this.now, packet)
    const base = handle << Layout.RECORD_SHIFT
    if (!sent) {
      if (nextSend <= this.now) fail(`nextSend is ${nextSend} ps, yet at ${this.now} ps it sends nothing`)
      const fresh = pool.alloc() << Layout.RECORD_SHIFT
      for (let word = 0; word < Layout.RECORD_WORDS; word++) {
        if (pool.words[base + word] !== pool.words[fresh + word]) fail("it sends nothing, yet the packet is touched")
      }
      pool.release(fresh >> Layout.RECORD_SHIFT)
      pool.release(handle)
      return false
    }
    if (packet.opcode < Opcode.Acknowledge && nextSend > this.now) {
      fail(`nextSend is ${nextSend} ps, yet it sends data at ${this.now} ps`)
    }
    this.launch(end, handle)
    return true
  }

  private launch(from: End, handle: number): void {
    const { pool, path, onWay } = this.options
    const packet = this.packet.at(handle)
    const crossing: Crossing = {
      time: this.now,
      from,
      ordinal: this.ordinals[from]++,
      opcode: packet.opcode,
      meta: packet.meta,
      psn: packet.psn,
      payloadBytes: packet.payloadBytes,
      wireBytes: packet.wireBytes,
      stamp: packet.stamp,
    }
    this.sent.push(crossing)
    onWay?.(packet, crossing)
    const delays = path === undefined ? [1e6] : path(crossing)
    delays.forEach((delay, index) => {
      this.fly({
        time: this.now + delay,
        to: from === 0 ? 1 : 0,
        handle: index === 0 ? handle : pool.duplicate(handle),
      })
    })
    if (delays.length === 0) pool.release(handle)
  }

  private fly(arrival: Arrival): void {
    let at = this.flying.length
    while (at > 0 && this.flying[at - 1]!.time <= arrival.time) at--
    this.flying.splice(at, 0, arrival)
  }
}

/** Blocks of a pool that are out: in packets, or kept by an engine. It draws every free block once, and gives it back. */
export const telemetryAlive = (pool: PacketPool): number => {
  if (pool.telemetryStride === 0) return 0
  const total = pool.telemetry.length / pool.telemetryStride
  const drawn: Array<number> = []
  while (pool.telemetry.length / pool.telemetryStride === total && drawn.length <= total) {
    drawn.push(pool.allocTelemetry())
  }
  for (const block of drawn) pool.releaseTelemetry(block)
  // The last one drawn came of growth.
  return total - (drawn.length - 1)
}
