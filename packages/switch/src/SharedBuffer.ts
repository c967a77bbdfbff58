import type { SwitchPorts, Time } from "@rdmakit/protocol"
import { Drop } from "@rdmakit/protocol"

/** A port's policy words: bytes an ingress holds by priority, its headroom bytes by priority. */
const HEADROOM = 8

/** What one switch port is set to. Sizes in bytes. */
export interface PortBuffer {
  /** Kernel port. */
  readonly port: number
  /** Bytes kept for what is in flight when a pause is sent, for each priority. */
  readonly headroomBytes: number
  /** The dynamic threshold is free >> shift: 3 means an eighth of the free buffer. */
  readonly thresholdShift: number
}

export interface SharedBufferOptions {
  readonly bufferBytes: number
  /** Bytes each ingress (port, priority) may hold outside the shared pool. Default 4,096. */
  readonly reserveBytes?: number
  /** A resume waits until usage is this far below the threshold. Default 3,072. */
  readonly resumeOffsetBytes?: number
  /**
   * True: pause the upstream port before the buffer overflows, and keep headroom. False: lossy, no pauses; an egress
   * queue longer than the free buffer times 2^-egressShift drops.
   */
  readonly lossless: boolean
  /** Lossy switches: egress threshold = free >> egressShift. Default 0, a dynamic threshold with alpha 1. */
  readonly egressShift?: number
  readonly ports: ReadonlyArray<PortBuffer>
}

/** Small facts of every port of a world, by kernel port; a switch touches its own ports' only. */
export class BufferTables {
  readonly pausedUpstream: Uint8Array
  readonly headroomLimit: Int32Array
  readonly shift: Uint8Array

  constructor(ports: number) {
    this.pausedUpstream = new Uint8Array(ports)
    this.headroomLimit = new Int32Array(ports)
    this.shift = new Uint8Array(ports)
  }
}

/** A switch whose buffer cannot hold what it must keep aside. */
export class BufferTooSmall extends Error {
  readonly _tag = "BufferTooSmall"
  readonly bufferBytes: number
  readonly neededBytes: number
  constructor(bufferBytes: number, headroomBytes: number, reserveBytes: number) {
    super(
      `buffer of ${bufferBytes} B is smaller than its headroom (${headroomBytes} B) and reserve (${reserveBytes} B) together: enlarge the buffer, or shorten the links`,
    )
    this.bufferBytes = bufferBytes
    this.neededBytes = headroomBytes + reserveBytes
  }
}

/**
 * The shared-buffer MMU of the HPCC simulator's switch (SwitchMmu): per ingress (port, priority) a reserve, a share of
 * the pool up to a dynamic threshold (Choudhury and Hahne 1998), and headroom beyond it; a pause when the headroom is
 * touched or the threshold reached, a resume when usage is well below it again.
 */
export class SharedBuffer {
  /** Bytes held by each ingress, in the ports' policy words; and per port what does not change, or seldom. */
  private readonly held: Int32Array
  private readonly headroomLimit: Int32Array
  private readonly shift: Uint8Array
  /** Bit q: a pause for priority q was sent through the port. */
  private readonly pausedUpstream: Uint8Array
  private readonly ports: SwitchPorts
  private readonly reserve: number
  private readonly resumeOffset: number
  private readonly lossless: boolean
  private readonly egressShift: number
  /** Buffer less headroom and reserve, bytes. */
  private readonly pool: number
  /** Bytes of the pool in use. */
  private shared = 0

  constructor(tables: BufferTables, ports: SwitchPorts, options: SharedBufferOptions) {
    this.held = ports.policyWords
    this.headroomLimit = tables.headroomLimit
    this.shift = tables.shift
    this.pausedUpstream = tables.pausedUpstream
    this.ports = ports
    this.reserve = options.reserveBytes ?? 4096
    this.resumeOffset = options.resumeOffsetBytes ?? 3072
    this.lossless = options.lossless
    this.egressShift = options.egressShift ?? 0
    let headroom = 0
    for (const port of options.ports) {
      tables.headroomLimit[port.port] = options.lossless ? port.headroomBytes : 0
      tables.shift[port.port] = port.thresholdShift
      if (options.lossless) headroom += port.headroomBytes
    }
    const reserve = this.reserve * options.ports.length
    if (options.bufferBytes < headroom + reserve) throw new BufferTooSmall(options.bufferBytes, headroom, reserve)
    this.pool = options.bufferBytes - headroom - reserve
  }

  /** Pause threshold of an ingress port now, bytes above the reserve. */
  threshold(port: number): number {
    return (this.pool - this.shared) >>> this.shift[port]!
  }

  /** Takes a packet in, or says why not. */
  admit(ingress: number, egress: number, queue: number, bytes: number): number {
    const { held, reserve } = this
    const at = this.ports.policyAt(ingress) + queue
    const before = held[at]!
    const grown = before + bytes
    if (grown <= reserve && this.lossless) {
      held[at] = grown
      return queue
    }
    const threshold = this.threshold(ingress)
    if (this.lossless) {
      const used = before > reserve ? before - reserve : 0
      const inHeadroom = held[at + HEADROOM]! + bytes
      if (inHeadroom > this.headroomLimit[ingress]! && bytes + used > threshold) return Drop.IngressFull
      if (grown - reserve > threshold) {
        held[at + HEADROOM] = inHeadroom
        return queue
      }
    } else if (this.ports.queueBytesOf(egress, queue) + bytes > (this.pool - this.shared) >>> this.egressShift) {
      return Drop.EgressFull
    }
    held[at] = grown
    const excess = grown - reserve
    if (excess > 0) this.shared += bytes < excess ? bytes : excess
    return queue
  }

  /** After `admit`: a pause to the upstream port when one is due. */
  pauseIfDue(now: Time, ingress: number, queue: number): void {
    if (!this.lossless) return
    const { held, pausedUpstream } = this
    if (((pausedUpstream[ingress]! >> queue) & 1) !== 0) return
    const at = this.ports.policyAt(ingress) + queue
    const bytes = held[at]!
    const used = bytes > this.reserve ? bytes - this.reserve : 0
    if (held[at + HEADROOM]! > 0 || used >= this.threshold(ingress)) {
      pausedUpstream[ingress]! |= 1 << queue
      this.ports.sendPfc(now, ingress, queue, true)
    }
  }

  /** A packet leaves: headroom is given back first, then the pool. */
  release(ingress: number, queue: number, bytes: number): void {
    const { held, reserve } = this
    const at = this.ports.policyAt(ingress) + queue
    const headroom = held[at + HEADROOM]!
    let rest = bytes
    if (headroom > 0) {
      const given = headroom < bytes ? headroom : bytes
      held[at + HEADROOM] = headroom - given
      rest -= given
    }
    const before = held[at]!
    held[at] = before - rest
    const used = before - reserve
    if (used > 0) this.shared -= rest < used ? rest : used
  }

  /** After `release`: a resume to the upstream port when one is due. Only the leaving packet's ingress is tested. */
  resumeIfDue(now: Time, ingress: number, queue: number): void {
    const { held, pausedUpstream } = this
    if (((pausedUpstream[ingress]! >> queue) & 1) === 0) return
    const at = this.ports.policyAt(ingress) + queue
    if (held[at + HEADROOM]! > 0) return
    const bytes = held[at]!
    const used = bytes > this.reserve ? bytes - this.reserve : 0
    if (used === 0 || used + this.resumeOffset <= this.threshold(ingress)) {
      pausedUpstream[ingress]! &= ~(1 << queue)
      this.ports.sendPfc(now, ingress, queue, false)
    }
  }
}
