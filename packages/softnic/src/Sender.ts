import { VerbsCodec } from "@rdmakit/codec"
import { Layout, Packet, type PacketPool } from "@rdmakit/packet"
import type { Adapter, Time, VerbsEngine } from "@rdmakit/protocol"
import type { Clock } from "./Clock.ts"
import type { Counters } from "./Counters.ts"
import { makeCrc } from "./Crc.ts"
import type { HeldAck } from "./HeldAck.ts"
import type { Link, LinkPath } from "./Link.ts"
import { type Slot, Turns } from "./Turns.ts"
import { WakeUp } from "./WakeUp.ts"

const { EXT, EXTENSION_SHIFT } = Layout

/** Packets that one engine sends before the next has its turn: a message of 64 KiB at path MTU 4,096. */
const BURST = 16
/** Packets that all of them send before sockets and timers have theirs. */
const TURN_PACKETS = 64
/** Datagrams that a turn of the event loop reads of a socket at most: more may be there. */
const READ_AT_ONCE = 32
/** How often timers are put off for that. */
const PUT_OFF_MAX = 32
/** BTH opcodes of RC's responses (IBTA 1.7 §9.2): READ responses, then ACK and NAK, then an atomic's. */
const RESPONSE_FIRST = 0x0d
const ACKNOWLEDGE = 0x11
const RESPONSE_LAST = 0x12
/** A syndrome's upper three bits, in the AETH's word; 0 for a positive acknowledgement. */
const SYNDROME_TYPE = 0xe000_0000
/** How often held acknowledgements are looked at, ms. */
const HELD_MS = 1

/** Gives a device's engines their turns: what they send becomes octets on a link, what they tell goes to the device. */
export class Sender {
  adapter: Adapter | undefined = undefined
  /** Paths by what packets on them carry as `flow`. */
  private readonly paths: ReadonlyArray<LinkPath | undefined>
  readonly wakeUp: WakeUp
  private readonly port: Link
  private readonly clock: Clock
  private readonly counters: Counters
  private readonly pool: PacketPool
  private readonly codec = new VerbsCodec(makeCrc())
  private readonly leaving: Packet
  private readonly turns = new Turns()
  /** Queue pairs whose acknowledgement is held. */
  private readonly holding = new Set<HeldAck>()
  private holdTimer: NodeJS.Timeout | undefined = undefined
  private readonly holdOver = (): void => {
    // Timers come before sockets, where the next acknowledgement's cause may lie already.
    setImmediate(this.holdCheck)
  }
  private readonly holdCheck = (): void => {
    this.holdTimer = undefined
    if (!this.closed) this.releaseHeld(this.clock.now())
  }
  private rxSeen = 0
  private putOff = 0
  private running = false
  private closed = false

  constructor(
    port: Link,
    clock: Clock,
    counters: Counters,
    pool: PacketPool,
    paths: ReadonlyArray<LinkPath | undefined>,
  ) {
    this.port = port
    this.clock = clock
    this.counters = counters
    this.pool = pool
    this.paths = paths
    this.leaving = new Packet(pool)
    this.wakeUp = new WakeUp(clock, (afterSockets) => {
      this.turn(afterSockets)
    })
  }

  /** Something was posted, or has changed: the engine has its turn soon, but not within this call. */
  kick(engine: VerbsEngine): void {
    if (this.closed) return
    this.turns.queue(this.turns.slotOf(engine))
    if (!this.running) this.wakeUp.soon()
  }

  /** The engine has handled a packet: what it has to tell is told, and it has its turn after what the program does then. */
  touched(engine: VerbsEngine, now: Time): void {
    const slot = this.turns.slotOf(engine)
    this.tell(engine, now)
    // What it told may have made the program post something: then it is in line.
    if (!slot.attached || slot.queued) return
    if (engine.nextSend <= now) this.kick(engine)
    else if (engine.controlPending) {
      // An acknowledgement alone waits until the socket is empty: of what is still there it tells as well.
      this.turns.queue(slot)
      if (!this.running) this.wakeUp.next()
    } else {
      const wake = Math.min(engine.nextTimeout, engine.nextSend)
      if (wake >= slot.wake) return
      this.turns.wakeAt(slot, wake)
      this.schedule()
    }
  }

  detach(engine: VerbsEngine): void {
    const held = this.turns.find(engine)?.ack
    if (held !== undefined && held.handle >= 0) this.sendHeld(held, this.clock.now())
    this.turns.remove(engine)
  }

  /** Sets the next turn, after something outside may have changed when it is. */
  schedule(): void {
    if (this.running || this.closed) return
    if (this.port.blocked) this.wakeUp.later()
    else if (this.turns.waiting > 0) this.wakeUp.next()
    else this.wakeUp.at(Math.min(this.turns.nextWake, this.port.nextTimer))
  }

  close(): void {
    const now = this.clock.now()
    for (const held of this.holding) this.sendHeld(held, now)
    this.closed = true
    if (this.holdTimer !== undefined) clearTimeout(this.holdTimer)
    this.wakeUp.stop()
  }

  /** @param afterSockets what had arrived has been read, as far as a turn of the event loop does */
  private turn(afterSockets: boolean): void {
    if (this.closed) return
    this.running = true
    const now = this.clock.now()
    if (afterSockets) this.handleTimers(now)
    for (let left = TURN_PACKETS; left > 0; ) {
      const slot = this.turns.take()
      if (slot === undefined) break
      // An engine that had nothing to send counts as well, so that a turn ends.
      left -= Math.max(1, this.drain(slot, now, Math.min(BURST, left)))
    }
    this.running = false
    this.schedule()
  }

  /**
   * Of a process that was not run for a while timers are over and packets unread: the packets come first, for one of them
   * may be what the timer waits for.
   */
  private handleTimers(now: Time): void {
    const { port, turns, counters } = this
    if (port.blocked) port.unblock()
    if (port.nextTimer <= now) port.handleTimer(now)
    const read = counters.rxPackets - this.rxSeen
    this.rxSeen = counters.rxPackets
    if (read >= READ_AT_ONCE && this.putOff < PUT_OFF_MAX) {
      this.putOff++
      return
    }
    this.putOff = 0
    for (let slot = turns.takeDue(now); slot !== undefined; slot = turns.takeDue(now)) {
      if (slot.engine.nextTimeout <= now) slot.engine.handleTimeout(now)
      turns.queue(slot)
    }
  }

  /** Sends what an engine has, up to a burst, and tells its events; then sets its next turn. Packets sent. */
  private drain(slot: Slot, now: Time, burst: number): number {
    const { engine } = slot
    let sent = 0
    let willing = true
    while (willing && sent < burst && (engine.controlPending || engine.nextSend <= now) && !this.port.blocked) {
      willing = this.transmit(slot, now)
      if (willing) sent++
    }
    if (slot.ack.handle >= 0) this.holdOrSend(slot.ack, now)
    this.tell(engine, now)
    if (!slot.attached) return sent
    const due = engine.controlPending || engine.nextSend <= now
    if (due && willing) this.turns.queue(slot)
    this.turns.wakeAt(slot, due ? engine.nextTimeout : Math.min(engine.nextTimeout, engine.nextSend))
    return sent
  }

  private tell(engine: VerbsEngine, now: Time): void {
    for (let event = engine.pollEvent(); event !== undefined; event = engine.pollEvent())
      this.adapter?.handleEvent(now, engine, event)
  }

  /** Sends the engine's next packet; false: it has none now. */
  private transmit(slot: Slot, now: Time): boolean {
    const { pool, leaving, codec, counters } = this
    leaving.at(pool.alloc())
    const { handle } = leaving
    if (!slot.engine.pollTransmit(now, leaving)) {
      pool.release(handle)
      return false
    }
    const path = this.paths[leaving.flow]
    if (path === undefined) {
      pool.release(handle)
      return true
    }
    const { opcode } = leaving
    const { onlySourcePort } = this.port
    if (onlySourcePort >= 0) leaving.udpPorts = ((leaving.udpPorts & 0xffff_0000) | onlySourcePort) >>> 0
    codec.encode(leaving, path.route)
    const { octets, start, end } = codec
    const { ack } = slot
    if (opcode === ACKNOWLEDGE && this.isPositive(leaving)) {
      if (ack.handle >= 0) {
        counters.acksMerged++
        pool.release(ack.handle)
      }
      ack.acknowledges()
      ack.keep(now, path, handle, octets, start, end)
      return true
    }
    // What a responder sends is in order (IBTA vol. 1, ch. 9, order of responses); a request may pass it.
    if (opcode >= RESPONSE_FIRST && opcode <= RESPONSE_LAST) {
      if (ack.handle >= 0) this.sendHeld(ack, now)
    } else ack.answers()
    this.put(path, handle, octets, start, end, now)
    return true
  }

  private isPositive(packet: Packet): boolean {
    const { extension } = packet.pool
    return (extension[(packet.extension << EXTENSION_SHIFT) + EXT.aeth]! & SYNDROME_TYPE) === 0
  }

  private put(path: LinkPath, handle: number, octets: Uint8Array, start: number, end: number, now: Time): void {
    this.counters.txPackets++
    this.counters.txBytes += end - start - path.route.linkBytes
    if (this.port.send(now, path, handle, octets, start, end)) this.pool.release(handle)
  }

  // --- acknowledgements that are held

  private holdOrSend(held: HeldAck, now: Time): void {
    if (!held.waits()) {
      this.sendHeld(held, now)
      return
    }
    this.holding.add(held)
    this.holdTimer ??= setTimeout(this.holdOver, HELD_MS)
  }

  private sendHeld(held: HeldAck, now: Time): void {
    const { path, handle, octets, start, end } = held
    held.handle = -1
    this.holding.delete(held)
    if (path !== undefined) this.put(path, handle, octets, start, end, now)
  }

  /** Sends those whose time is over. */
  private releaseHeld(now: Time): void {
    for (const held of this.holding) {
      if (held.isOver(now)) this.sendHeld(held, now)
    }
    if (this.holding.size > 0) this.holdTimer = setTimeout(this.holdOver, HELD_MS)
  }
}
