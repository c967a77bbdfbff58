import { Flag, Opcode, type Packet } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { Departures } from "./Departures.ts"
import type { ExactKernelOptions } from "./ExactKernelOptions.ts"
import { PauseClock } from "./PauseClock.ts"
import * as P from "./PortTable.ts"

/** PFC (IEEE 802.1Qbb), frames sent and obeyed: a pause holds until a resume comes. */
export abstract class Pausing extends Departures {
  /** Called when a PFC frame takes effect at a port. */
  onPause: ((now: Time, port: number, priority: number, pause: boolean) => void) | undefined = undefined
  /** Called for each PFC frame that a switch sends, before it is queued. */
  onPfcSent: (() => void) | undefined = undefined
  readonly pauses: PauseClock

  private readonly pfcBytes: number
  /** Priorities of each port that its peer has paused, and those whose pauses it ignores, a bit each. */
  protected readonly received: Int32Array
  private readonly ignored: Int32Array

  constructor(options: ExactKernelOptions) {
    super(options)
    const { ports } = options.network
    this.pfcBytes = options.pfcBytes
    this.pauses = new PauseClock(ports)
    this.received = new Int32Array(ports)
    this.ignored = new Int32Array(ports)
  }

  protected abstract readonly enqueue: (port: number, queue: number, handle: number) => void

  protected receivePfc(port: number, packet: Packet): void {
    const now = this.time
    if (this.tracer !== undefined) this.tracer.received(now, port, packet)
    const priority = packet.priority
    const pause = packet.has(Flag.Pause)
    this.settle(port)
    const was = this.received[port]!
    const is = pause ? was | (1 << priority) : was & ~(1 << priority)
    this.received[port] = is
    this.ports[(port << P.PORT_SHIFT) | P.PAUSED] = is & ~this.ignored[port]!
    this.pauses.change(now, port, was, is, pause)
    this.onPause?.(now, port, priority, pause)
    this.pool.release(packet.handle)
    if (!pause) this.kickNow(port)
  }

  /** From now on pauses of these priorities, a bit each, do not hold the port; those of all others do. */
  ignorePauses(port: number, mask: number): void {
    this.settle(port)
    this.ignored[port] = mask
    this.ports[(port << P.PORT_SHIFT) | P.PAUSED] = this.received[port]! & ~mask
    if (this.ports[(port << P.PORT_SHIFT) | P.OCCUPIED] !== 0) this.kickNow(port)
  }

  sendPfc(now: Time, port: number, priority: number, pause: boolean): void {
    this.onPfcSent?.()
    const node = this.nodeOf[port]!
    if (this.fused && node >= 0) this.notePfc(node, port, priority, pause)
    this.enqueue(port, 0, this.pfcFrame(now, port, priority, pause))
  }

  protected pfcFrame(now: Time, port: number, priority: number, pause: boolean): number {
    const node = this.nodeOf[port]!
    const handle = this.pool.alloc()
    const packet = this.packet.at(handle)
    packet.meta = Opcode.Pfc | (pause ? Flag.Pause : 0) | (priority << 24)
    packet.wireBytes = this.pfcBytes
    packet.setNodes(node < 0 ? ~node : node, 0)
    packet.stamp = now
    // What the frame reports: bytes of that priority waiting at the port (a debugging aid of the ns-3 model).
    packet.payloadBytes = 0
    packet.flow = this.queues.bytes(port, priority)
    return handle
  }
}
