import { Layout, type Packet } from "@rdmakit/packet"
import { NEVER, type Time } from "@rdmakit/protocol"
import { ExactKernel } from "./ExactKernel.ts"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import { LinkDown } from "./FrameLosses.ts"
import * as P from "./PortTable.ts"

/**
 * The exact kernel with links that go down and up, and rates of loss that change. A link that is down cuts off what is
 * on it, both ways; what waits at its ports is dropped, and pauses of either end are over. What a switch sends there,
 * for its routes do not know yet, is dropped; a host's packets wait. A port of such a link looks busy, so that nobody has
 * to ask; and each arrival is looked at for losses, which other kernels do not pay for.
 *
 * Routes are the world's affair: it clears `paths` when they have changed.
 */
export class FaultyKernel extends ExactKernel {
  /** Of each port: its link is down; and the completion of what it was sending then is still to come. */
  private readonly down: Uint8Array
  protected readonly ending: Uint8Array
  /** When each port's link came up again, ps; NEVER while it is down, 0 if it never was. What began before is lost. */
  private readonly upSince: Float64Array

  constructor(options: ExactKernelOptions) {
    super({ ...options, faults: true })
    const { ports } = options.network
    this.down = new Uint8Array(ports)
    this.ending = new Uint8Array(ports)
    this.upSince = new Float64Array(ports)
    const { transmit } = this
    this.transmit = (port, base) => {
      if (this.down[port] === 0) transmit(port, base)
      // A completion has come: the port goes on looking busy, with nothing to come.
      else this.ending[port] = 0
    }
  }

  /** Whether a port's link is up. */
  isUp(port: number): boolean {
    return this.down[port] === 0
  }

  /** From now on so many of the frames that arrive from a port are lost by chance, 0 to 1. */
  setLossRate(port: number, rate: number): void {
    this.losses.setRate(port, rate)
  }

  /**
   * @param quietly true: switches are not told of packets that were waiting, and so never get their buffer back, nor
   * `onPause` of pauses that are over (the ns-3 model)
   * @param onQueued told of each of those, before it is dropped
   */
  takeDown(link: number, quietly = false, onQueued?: (port: number, queue: number, packet: Packet) => void): void {
    for (const port of [2 * link, 2 * link + 1]) {
      if (this.down[port] === 1) continue
      this.settle(port)
      const base = port << P.PORT_SHIFT
      const state = this.ports[base | P.STATE]!
      const busy = state & P.BUSY_MASK
      const silent = busy === P.Busy.Silent && !this.isOver(base)
      if (silent) {
        // Somebody waits for the end of it now: whoever is the next to send.
        this.completeAt(port, this.portF64[(base >> 1) | P.BUSY_UNTIL_F64]!, this.ports[base | P.BUSY_ORDER]!)
      }
      this.ending[port] = silent || busy === P.Busy.Scheduled ? 1 : 0
      this.ports[base | P.STATE] = (state & ~P.BUSY_MASK) | P.Busy.Scheduled
      this.down[port] = 1
      this.upSince[port] = NEVER
      this.endPauses(port, quietly)
      this.empty(port, quietly, onQueued)
    }
  }

  bringUp(link: number): void {
    for (const port of [2 * link, 2 * link + 1]) {
      if (this.down[port] === 0) continue
      // Pauses and resumes for the other end, of no use to it any more.
      this.empty(port, false, undefined)
      this.down[port] = 0
      this.upSince[port] = this.time
    }
    for (const port of [2 * link, 2 * link + 1]) {
      // What it was sending when it went down still takes its time.
      if (this.ending[port] === 1) continue
      this.ports[(port << P.PORT_SHIFT) | P.STATE]! &= ~P.BUSY_MASK
      this.kickNow(port)
    }
  }

  private endPauses(port: number, quietly: boolean): void {
    const paused = this.received[port]!
    this.pauses.change(this.time, port, paused, 0, false)
    this.received[port] = 0
    this.ports[(port << P.PORT_SHIFT) | P.PAUSED] = 0
    if (quietly) return
    for (let rest = paused; rest !== 0; rest &= rest - 1) {
      this.onPause?.(this.time, port, 31 - Math.clz32(rest & -rest), false)
    }
  }

  /** Drops all that waits in the queues of a port, in the order in which it would have been sent. A host's are empty, or hold PFC. */
  private empty(
    port: number,
    quietly: boolean,
    onQueued: ((port: number, queue: number, packet: Packet) => void) | undefined,
  ): void {
    const node = this.nodeOf[port]!
    const policy = node < 0 ? undefined : this.switches[node]!
    const { queues } = this
    for (let queue = queues.next(port); queue >= 0; queue = queues.next(port)) {
      const handle = queues.dequeue(port, queue)
      this.ports[(port << P.PORT_SHIFT) | P.STATE]! |= P.Busy.Scheduled
      if (!quietly) policy?.dequeued(this.time, this.packet.at(handle), port, queue)
      const packet = this.packet.at(handle)
      this.tracer?.dropped?.(this.time, port, queue, packet)
      onQueued?.(port, queue, packet)
      this.drop(packet, node < 0 ? ~node : node, LinkDown)
    }
  }

  protected override lossOf(from: number, packet: Packet): number {
    const since = this.upSince[from]!
    if (since > 0 && this.beganAt(from, packet) < since) {
      this.tracer?.dropped?.(this.time, from ^ 1, 0, packet)
      return LinkDown
    }
    return super.lossOf(from, packet)
  }

  protected override departureLossOf(egress: number, packet: Packet): number {
    if (this.down[egress] === 0) return 0
    this.tracer?.dropped?.(this.time, egress, 0, packet)
    return LinkDown
  }

  /** When a frame that arrives now began to be sent. */
  private beganAt(from: number, { handle }: Packet): Time {
    const base = from << P.PORT_SHIFT
    const bytes = this.pool.words[(handle << Layout.RECORD_SHIFT) | Layout.WIRE_BYTES]!
    return this.time - this.portF64[(base >> 1) | P.DELAY_F64]! - this.txTable[this.ports[base | P.TX_BASE]! + bytes]!
  }
}
