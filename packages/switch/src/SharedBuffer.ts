import type { SwitchPorts, Time } from "@rdmakit/protocol"
import { Drop } from "@rdmakit/protocol"

const QUEUES_SHIFT = 3

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

/** State of the buffers of every switch of a world, by kernel port and queue; a switch touches its own ports' only. */
export class BufferTables {
  readonly ingress: Int32Array
  readonly headroom: Int32Array
  readonly egress: Int32Array
  /** Bit q: a pause for priority q was sent through this port. */
  readonly pausedUpstream: Int32Array
  readonly headroomLimit: Float64Array
  readonly shift: Int32Array

  constructor(ports: number) {
    this.ingress = new Int32Array(ports << QUEUES_SHIFT)
    this.headroom = new Int32Array(ports << QUEUES_SHIFT)
    this.egress = new Int32Array(ports << QUEUES_SHIFT)
    this.pausedUpstream = new Int32Array(ports)
    this.headroomLimit = new Float64Array(ports)
    this.shift = new Int32Array(ports)
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
  private readonly tables: BufferTables
  private readonly ports: SwitchPorts
  private readonly reserve: number
  private readonly resumeOffset: number
  private readonly lossless: boolean
  private readonly egressShift: number
  /** Buffer less headroom and reserve, bytes. */
  private readonly pool: number
  /** Bytes of the pool in use. */
  private shared = 0
  /** Bytes buffered in all; queue 0 apart. */
  heldBytes = 0

  constructor(tables: BufferTables, ports: SwitchPorts, options: SharedBufferOptions) {
    this.tables = tables
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
    return (this.pool - this.shared) >>> this.tables.shift[port]!
  }

  /** Takes a packet in, or says why not. */
  admit(ingress: number, egress: number, queue: number, bytes: number): number {
    const { tables, reserve } = this
    const at = (ingress << QUEUES_SHIFT) + queue
    const out = (egress << QUEUES_SHIFT) + queue
    const held = tables.ingress[at]!
    const threshold = this.threshold(ingress)
    if (this.lossless) {
      const used = held > reserve ? held - reserve : 0
      if (bytes + tables.headroom[at]! > tables.headroomLimit[ingress]! && bytes + used > threshold)
        return Drop.IngressFull
    } else {
      if (tables.egress[out]! + bytes > (this.pool - this.shared) >>> this.egressShift) return Drop.EgressFull
    }
    const grown = held + bytes
    if (grown <= reserve) {
      tables.ingress[at] = grown
    } else if (this.lossless && grown - reserve > threshold) {
      tables.headroom[at]! += bytes
    } else {
      const excess = grown - reserve
      tables.ingress[at] = grown
      this.shared += bytes < excess ? bytes : excess
    }
    tables.egress[out]! += bytes
    this.heldBytes += bytes
    return queue
  }

  /** After `admit`: a pause to the upstream port when one is due. */
  pauseIfDue(now: Time, ingress: number, queue: number): void {
    if (!this.lossless) return
    const { tables } = this
    if (((tables.pausedUpstream[ingress]! >> queue) & 1) !== 0) return
    const at = (ingress << QUEUES_SHIFT) + queue
    const held = tables.ingress[at]!
    const used = held > this.reserve ? held - this.reserve : 0
    if (tables.headroom[at]! > 0 || used >= this.threshold(ingress)) {
      tables.pausedUpstream[ingress]! |= 1 << queue
      this.ports.sendPfc(now, ingress, queue, true)
    }
  }

  /** A packet leaves: headroom is given back first, then the pool. */
  release(ingress: number, egress: number, queue: number, bytes: number): void {
    const { tables, reserve } = this
    const at = (ingress << QUEUES_SHIFT) + queue
    const headroom = tables.headroom[at]!
    const fromHeadroom = headroom < bytes ? headroom : bytes
    const rest = bytes - fromHeadroom
    const held = tables.ingress[at]!
    const used = held > reserve ? held - reserve : 0
    tables.headroom[at] = headroom - fromHeadroom
    tables.ingress[at] = held - rest
    this.shared -= rest < used ? rest : used
    tables.egress[(egress << QUEUES_SHIFT) + queue]! -= bytes
    this.heldBytes -= bytes
  }

  /** After `release`: a resume to the upstream port when one is due. Only the leaving packet's ingress is tested. */
  resumeIfDue(now: Time, ingress: number, queue: number): void {
    const { tables } = this
    if (((tables.pausedUpstream[ingress]! >> queue) & 1) === 0) return
    const at = (ingress << QUEUES_SHIFT) + queue
    if (tables.headroom[at]! > 0) return
    const held = tables.ingress[at]!
    const used = held > this.reserve ? held - this.reserve : 0
    if (used === 0 || used + this.resumeOffset <= this.threshold(ingress)) {
      tables.pausedUpstream[ingress]! &= ~(1 << queue)
      this.ports.sendPfc(now, ingress, queue, false)
    }
  }

  /** Bytes of one egress queue, the packet being sent left out. */
  egressBytes(egress: number, queue: number): number {
    return this.tables.egress[(egress << QUEUES_SHIFT) + queue]!
  }
}
