import { Packet, type PacketPool } from "@rdmakit/packet"
import { NEVER, type Nic, type Time } from "@rdmakit/protocol"

/** How a host takes what arrives at it, where that is slower than its links. */
export interface ReceiverLimit {
  /** Frames are taken at this rate, bit/s, one after the other; 0: none is. */
  readonly rateBps: number
  /** Room for those that wait, bytes. Default 1 MiB. */
  readonly bufferBytes?: number
  /**
   * With more than half of the buffer in use it pauses the priority of what comes, and lets it go on when no more than
   * a quarter is. Default false: what finds no room is lost.
   */
  readonly pauses?: boolean
}

export interface SlowReceiverOptions {
  readonly pool: PacketPool
  /** Who takes the packets in the end. */
  readonly nic: Nic
  /** How long a frame takes at a rate, ps. */
  readonly serializationPs: (bytes: number, rateBps: number) => Time
  /** `take` is to be called at this time. */
  readonly wakeAt: (time: Time) => void
  /** Loses a packet for which there is no room. */
  readonly overflow: (packet: Packet) => void
  readonly sendPfc: (now: Time, port: number, priority: number, pause: boolean) => void
}

const BUFFER_BYTES = 1 << 20
const PAUSE_SHARE = 1 / 2
const RESUME_SHARE = 1 / 4
/** Places that have been left are given back once there are this many. */
const SLACK = 1024

/** Stands before a host's NIC: packets wait in its buffer, and are taken at a limited rate, in the order of their arrival. */
export class SlowReceiver implements Nic {
  private readonly options: SlowReceiverOptions
  private readonly cursor: Packet
  private limit: ReceiverLimit | undefined = undefined
  private readonly handles: Array<number> = []
  private readonly ports: Array<number> = []
  private head = 0
  private heldBytes = 0
  /** When the first in line has been taken. */
  private takenAt: Time = NEVER
  /** Priorities that it has paused, a bit each, by port. */
  private readonly paused = new Map<number, number>()

  constructor(options: SlowReceiverOptions) {
    this.options = options
    this.cursor = new Packet(options.pool)
  }

  /** From now on this is its limit; undefined: it has none, and takes all that waits at once. */
  limitTo(now: Time, limit: ReceiverLimit | undefined): void {
    this.limit = limit
    if (limit === undefined) while (this.head < this.handles.length) this.handOver(now)
    this.startTaking(now)
    this.resume(now)
  }

  /** The link of a port went down, and with it the pauses it had sent there. */
  forgetPauses(port: number): void {
    this.paused.delete(port)
  }

  receive(now: Time, packet: Packet, port: number): void {
    const { limit, options } = this
    if (limit === undefined) {
      options.nic.receive(now, packet, port)
      return
    }
    const { handle, priority, wireBytes } = packet
    const { bufferBytes = BUFFER_BYTES } = limit
    if (this.heldBytes + wireBytes > bufferBytes) {
      options.overflow(packet)
      return
    }
    this.heldBytes += wireBytes
    this.ports.push(port)
    if (this.handles.push(handle) === this.head + 1) this.startTaking(now)
    if (limit.pauses === true && this.heldBytes > bufferBytes * PAUSE_SHARE) this.pause(now, port, priority)
  }

  /** The time of a `wakeAt` has come. */
  take(now: Time): void {
    // Another limit may have made it void.
    if (now !== this.takenAt) return
    this.handOver(now)
    this.startTaking(now)
    this.resume(now)
  }

  private startTaking(now: Time): void {
    const { limit, options, handles, head } = this
    this.takenAt = NEVER
    if (limit === undefined || limit.rateBps === 0 || head === handles.length) return
    this.takenAt = now + options.serializationPs(this.cursor.at(handles[head]!).wireBytes, limit.rateBps)
    options.wakeAt(this.takenAt)
  }

  private handOver(now: Time): void {
    const packet = this.cursor.at(this.handles[this.head]!)
    const port = this.ports[this.head]!
    this.head++
    this.heldBytes -= packet.wireBytes
    if (this.head === this.handles.length || this.head >= SLACK) {
      this.handles.splice(0, this.head)
      this.ports.splice(0, this.head)
      this.head = 0
    }
    this.options.nic.receive(now, packet, port)
  }

  private pause(now: Time, port: number, priority: number): void {
    const mask = this.paused.get(port) ?? 0
    const bit = 1 << priority
    if (priority === 0 || (mask & bit) !== 0) return
    this.paused.set(port, mask | bit)
    this.options.sendPfc(now, port, priority, true)
  }

  private resume(now: Time): void {
    const { bufferBytes = BUFFER_BYTES } = this.limit ?? {}
    if (this.paused.size === 0 || this.heldBytes > bufferBytes * RESUME_SHARE) return
    for (const [port, mask] of this.paused) {
      for (let rest = mask; rest !== 0; rest &= rest - 1) {
        this.options.sendPfc(now, port, 31 - Math.clz32(rest & -rest), false)
      }
    }
    this.paused.clear()
  }

  pull(now: Time, port: number, paused: number): number {
    return this.options.nic.pull(now, port, paused)
  }
  quiet(port: number): boolean {
    return this.options.nic.quiet(port)
  }
  timer(now: Time, endpoint: number, timer: number): void {
    this.options.nic.timer(now, endpoint, timer)
  }
}
