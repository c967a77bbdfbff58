import type { SwitchPorts, Time } from "@rdmakit/protocol"
import { Drop, Shortcut } from "@rdmakit/protocol"
import { checkBuffer } from "./SwitchOptionError.ts"

/**
 * A port's policy words beside those of `Shortcut`, whose bytes held are without headroom: 17 to 23 are the headroom
 * bytes its ingress holds, by priority.
 */
export const HEADROOM = 16
/** Headroom of the port, bytes for each priority. */
export const HEADROOM_LIMIT = 16
/** Bits 0–7: a pause for that priority was sent through the port. Bits 8–: the threshold's shift. */
const STATE = 24
const SHIFT_AT = 8
const PAUSES = 0xff

/** Queues of a port that the buffer counts: priorities 1 to 7. */
const QUEUES = 7

/** What one switch port is set to. Sizes in bytes. */
export interface PortBuffer {
  /** Kernel port. */
  readonly port: number
  /** Bytes kept for what is in flight when a pause is sent, for each priority. */
  readonly headroomBytes: number
  /** The dynamic threshold is free >> shift, 0 to 31: 3 means an eighth of the free buffer. */
  readonly thresholdShift: number
}

export interface SharedBufferOptions {
  /** Whole, below 2^32. */
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
  protected readonly words: Int32Array
  /** Port p's policy words begin at first + p · stride: `policyAt`, without a call for every packet. */
  private readonly first: number
  private readonly stride: number
  protected readonly ports: SwitchPorts
  protected readonly reserve: number
  private readonly resumeOffset: number
  protected readonly lossless: boolean
  private readonly egressShift: number
  /** 2^shift of the port whose threshold is the smallest share of what is free. */
  private readonly divisor: number
  /** Buffer less headroom and reserve, bytes. */
  protected readonly pool: number
  /** Bytes of the pool in use, while `counting`. */
  protected shared = 0
  /**
   * Allowances: what each of a port's priorities may hold above its reserve, all of all ports at the same time, and no
   * threshold is met. As long as none holds more, and no pause is out, what is in use of the pool is of no account, and is
   * not counted. A port that needs more is given more, as long as the pool allows it. Here: a port's at first, bytes; all
   * ports' together, each priority's once; the largest.
   */
  private allowance = 0
  private granted = 0
  private most = 0
  private counting = true
  /** While `counting`: no more in use than this, and allowances are tried again. -1: never. */
  private rest = -1
  /** Pauses sent that no resume has followed. */
  private pausesOut = 0
  /** Free bytes above which every port's threshold is above whatever fits the reserve; Infinity for a lossy switch. */
  protected ample: number
  /** Whether the free bytes are above `ample`: only then may a kernel count for itself. */
  private calm = false
  /** Kernel ports of the switch. */
  readonly portIds: ReadonlyArray<number>

  /** @throws BufferTooSmall; SwitchOptionError for sizes that are none */
  constructor(ports: SwitchPorts, options: SharedBufferOptions) {
    checkBuffer(options)
    this.words = ports.policyWords
    this.first = ports.policyAt(0)
    this.stride = ports.policyAt(1) - this.first
    this.ports = ports
    this.reserve = options.reserveBytes ?? 4096
    this.resumeOffset = options.resumeOffsetBytes ?? 3072
    this.lossless = options.lossless
    this.egressShift = options.egressShift ?? 0
    let headroom = 0
    let shiftMax = 0
    this.portIds = options.ports.map(({ port }) => port)
    for (const { port, headroomBytes, thresholdShift } of options.ports) {
      const at = ports.policyAt(port)
      this.words.fill(0, at + Shortcut.Held + 1, at + Shortcut.Held + 8)
      this.words.fill(0, at + HEADROOM + 1, at + HEADROOM + 8)
      this.words[at + HEADROOM_LIMIT] = options.lossless ? headroomBytes : 0
      this.words[at + STATE] = thresholdShift << SHIFT_AT
      if (options.lossless) headroom += headroomBytes
      if (thresholdShift > shiftMax) shiftMax = thresholdShift
    }
    this.ample = options.lossless ? (this.reserve + 1) * 2 ** shiftMax : Number.POSITIVE_INFINITY
    const reserve = this.reserve * options.ports.length
    if (options.bufferBytes < headroom + reserve) throw new BufferTooSmall(options.bufferBytes, headroom, reserve)
    this.pool = options.bufferBytes - headroom - reserve
    this.divisor = 2 ** shiftMax
    this.begin()
  }

  /** How many (port, priority) share the pool. */
  private get queues(): number {
    return QUEUES * this.portIds.length
  }

  /**
   * Whether no threshold can be met while all together have at most `taken` bytes of the pool, and none more than `most`.
   * A subclass with another rule says so here, and calls `begin` when it knows.
   */
  protected isLoose(taken: number, most: number): boolean {
    const { divisor, pool, reserve } = this
    // (pool - taken) / 2^shift, each port's threshold, is above what any holds, its reserve included.
    return this.lossless
      ? pool - taken >= divisor * (most + reserve + 1)
      : this.isLooseLossy(taken, (pool - taken) / 2 ** this.egressShift)
  }

  /** Of a lossy switch: no egress queue is longer than all that is held, which is below the threshold. */
  protected isLooseLossy(taken: number, threshold: number): boolean {
    return taken + this.queues * this.reserve + 2 <= threshold
  }

  /** To each port half of what all may have alike. */
  protected begin(): void {
    let alike = 0
    for (let bit = 2 ** 30; bit >= 1; bit /= 2) {
      if (this.isLoose(this.queues * (alike + bit), alike + bit)) alike += bit
    }
    this.allowance = Math.floor(alike / 2)
    this.rest = this.allowance > 0 ? 0 : -1
    this.settle()
    this.limitAll()
  }

  /** Gives allowances anew, twice what a port has in use at least; false, and nothing is done, where that is too much. */
  private allot(): boolean {
    const { allowance, portIds, reserve, words } = this
    let granted = 0
    let most = 0
    for (const port of portIds) {
      const own = Math.max(allowance, 2 * this.mostOf(port))
      granted += own
      most = Math.max(most, own)
    }
    if (!this.isLoose(QUEUES * granted, most)) return false
    this.granted = granted
    this.most = most
    for (const port of portIds) {
      words[this.first + port * this.stride + Shortcut.Limit] = reserve + Math.max(allowance, 2 * this.mostOf(port))
    }
    return true
  }

  /** What the priority of a port that holds the most has of the pool. */
  private mostOf(port: number): number {
    const held = this.first + port * this.stride + Shortcut.Held
    let most = 0
    for (let queue = 1; queue <= QUEUES; queue++) most = Math.max(most, this.words[held + queue]! - this.reserve)
    return most
  }

  /** A port needs more than its allowance: twice of it, or what it needs. False: that is too much. */
  private raise(base: number, needed: number): boolean {
    const { reserve, words } = this
    const was = words[base + Shortcut.Limit]! - reserve
    const own = Math.max(2 * was, needed)
    const granted = this.granted + own - was
    const most = Math.max(this.most, own)
    if (!this.isLoose(QUEUES * granted, most)) return false
    this.granted = granted
    this.most = most
    words[base + Shortcut.Limit] = reserve + own
    return true
  }

  /** Shared bytes were taken or given back: has a line been crossed below which a threshold may matter? */
  protected settle(): void {
    const counting = this.pausesOut > 0 || !this.isResting()
    const calm = this.pool - this.shared > this.ample
    if (calm === this.calm && counting === this.counting) return
    this.calm = calm
    this.counting = counting
    this.limitAll()
  }

  /** Whether what is in use has come down so far that nobody need count: then allowances are given. */
  private isResting(): boolean {
    if (this.shared > this.rest) return false
    if (this.allot()) return true
    this.rest = Math.floor(this.rest / 2)
    return false
  }

  /** From here on it matters what is in use of the pool. */
  private count(): void {
    this.shared = this.taken()
    if (this.allowance > 0) this.rest = Math.floor(this.shared / 2)
    this.calm = this.pool - this.shared > this.ample
    this.counting = true
    this.limitAll()
  }

  private taken(): number {
    const { words, reserve } = this
    let bytes = 0
    for (const port of this.portIds) {
      const held = this.first + port * this.stride + Shortcut.Held
      for (let queue = 1; queue <= QUEUES; queue++) {
        const excess = words[held + queue]! - reserve
        if (excess > 0) bytes += excess
      }
    }
    return bytes
  }

  private limitAll(): void {
    for (const port of this.portIds) this.limit(this.first + port * this.stride)
  }

  /** What a port may hold and no kernel need ask, while `counting`. Headroom is in use only while a pause is out. */
  private limit(base: number): void {
    if (!this.counting) return
    const calm = this.calm && (this.words[base + STATE]! & PAUSES) === 0
    this.words[base + Shortcut.Limit] = calm ? this.reserve : -1
  }

  /** Pause threshold of an ingress port now, bytes above the reserve. */
  threshold(port: number): number {
    if (!this.counting) this.shared = this.taken()
    return this.thresholdAt(this.first + port * this.stride)
  }

  protected thresholdAt(base: number): number {
    return (this.pool - this.shared) >>> (this.words[base + STATE]! >> SHIFT_AT)
  }

  /** Takes a packet in, or says why not; sends a pause to the upstream port when one is due. */
  admit(now: Time, ingress: number, egress: number, queue: number, bytes: number): number {
    const { words, reserve } = this
    const base = this.first + ingress * this.stride
    const at = base + queue
    const grown = words[at]! + bytes
    if (!this.counting) {
      if (grown <= words[base + Shortcut.Limit]! || this.raise(base, grown - reserve)) {
        words[at] = grown
        return queue
      }
      this.count()
    }
    // Nearly every packet: within the reserve, headroom untouched, below any threshold. No drop or pause can be due.
    if (grown <= reserve && words[at + HEADROOM] === 0 && this.pool - this.shared > this.ample) {
      words[at] = grown
      return queue
    }
    const taken = this.lossless ? this.admitLossless(base, queue, bytes) : this.admitLossy(at, egress, queue, bytes)
    if (taken > 0 && this.lossless) this.pauseIfDue(now, ingress, base, queue)
    return taken
  }

  protected admitLossless(base: number, queue: number, bytes: number): number {
    const { words, reserve } = this
    const at = base + queue
    const held = words[at]!
    const threshold = this.thresholdAt(base)
    const used = held > reserve ? held - reserve : 0
    const inHeadroom = words[at + HEADROOM]! + bytes
    if (inHeadroom > words[base + HEADROOM_LIMIT]! && bytes + used > threshold) return Drop.IngressFull
    const excess = held + bytes - reserve
    if (excess > threshold) {
      words[at + HEADROOM] = inHeadroom
    } else {
      words[at] = held + bytes
      if (excess > 0) {
        this.shared += bytes < excess ? bytes : excess
        this.settle()
      }
    }
    return queue
  }

  protected admitLossy(at: number, egress: number, queue: number, bytes: number): number {
    if (this.ports.queueBytesOf(egress, queue) + bytes > (this.pool - this.shared) >>> this.egressShift) {
      return Drop.EgressFull
    }
    const held = this.words[at]! + bytes
    const excess = held - this.reserve
    this.words[at] = held
    if (excess > 0) {
      this.shared += bytes < excess ? bytes : excess
      this.settle()
    }
    return queue
  }

  private pauseIfDue(now: Time, ingress: number, base: number, queue: number): void {
    const { words } = this
    if (((words[base + STATE]! >> queue) & 1) !== 0) return
    const held = words[base + queue]!
    const used = held > this.reserve ? held - this.reserve : 0
    if (words[base + queue + HEADROOM]! > 0 || used >= this.thresholdAt(base)) {
      words[base + STATE]! |= 1 << queue
      this.pausesOut++
      this.limit(base)
      this.ports.sendPfc(now, ingress, queue, true)
    }
  }

  /** A packet leaves: headroom is given back first, then the pool. */
  release(ingress: number, queue: number, bytes: number): void {
    const { words } = this
    const at = this.first + ingress * this.stride + queue
    const held = words[at]!
    if (!this.counting) {
      words[at] = held - bytes
      return
    }
    const headroom = words[at + HEADROOM]!
    if (headroom === 0 && held <= this.reserve) {
      words[at] = held - bytes
      return
    }
    const fromHeadroom = headroom < bytes ? headroom : bytes
    const rest = bytes - fromHeadroom
    words[at + HEADROOM] = headroom - fromHeadroom
    words[at] = held - rest
    const used = held - this.reserve
    if (used > 0) {
      this.shared -= rest < used ? rest : used
      this.settle()
    }
  }

  /** After `release`: a resume to the upstream port when one is due. Only the leaving packet's ingress is tested. */
  resumeIfDue(now: Time, ingress: number, queue: number): void {
    const { words } = this
    const base = this.first + ingress * this.stride
    if (((words[base + STATE]! >> queue) & 1) === 0 || words[base + queue + HEADROOM]! > 0) return
    const held = words[base + queue]!
    const used = held > this.reserve ? held - this.reserve : 0
    if (used === 0 || used + this.resumeOffset <= this.thresholdAt(base)) {
      words[base + STATE]! &= ~(1 << queue)
      this.pausesOut--
      this.limit(base)
      this.settle()
      this.ports.sendPfc(now, ingress, queue, false)
    }
  }
}
