import { Ecn, Flag, Layout, Opcode, type Packet, PSN_MASK } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import { ReceivedPackets } from "../ReceivedPackets.ts"
import { EfaStatus } from "./EfaStatus.ts"
import { ackWireBytes, Bit, Operation, wordOf } from "./Operation.ts"
import type { PathHeader } from "./PathHeader.ts"

const { EXT } = Layout
const GENERATIONS = 16
const NONE = -1
/** Syndrome of no acknowledgement that InfiniBand has: no world holds it back, or makes one of two. */
const NOT_POSITIVE = 0xe000_0000 | 0
/** Refusals that wait to be told; a peer that does not hear of one sends its packet again. */
const REFUSALS_MAX = 256

/** What an answer says of the packet that it names. */
interface Answer {
  number: number
  stamp: Time
  udpPorts: number
  flags: number
  status: EfaStatus
}

/**
 * The receiving half of a peer's context: it knows which packets have come, drops those that come twice, and remembers
 * which were refused and why, so that a packet that was is never taken later. The peer says in each packet from which
 * number on it still waits; what lies before is forgotten.
 */
export class Inbound {
  private readonly windowPackets: number
  private received: ReceivedPackets
  /** Of the contexts that the peer has had, the newest; NONE: it has sent nothing. */
  private generation = NONE
  private readonly refused = new Map<number, EfaStatus>()
  /** The newest packet that was taken, told of by one answer that tells of those before it too. */
  private readonly taken: Answer = { number: 0, stamp: 0, udpPorts: 0, flags: 0, status: EfaStatus.Ok }
  private hasTaken = false
  private refusals: Array<Answer> = []

  constructor(windowPackets: number) {
    this.windowPackets = windowPackets
    this.received = new ReceivedPackets(windowPackets)
  }

  /** An acknowledgement waits to be filled in. */
  get pending(): boolean {
    return this.hasTaken || this.refusals.length > 0
  }

  /**
   * A packet of data came.
   * @returns its number: it is new, and `answer` says what became of it. -1: there is nothing more to do; -2: it was dropped
   */
  admit(packet: Packet): number {
    if (!this.isCurrent(wordOf(packet, EXT.generation))) return -2
    this.forgetBefore(wordOf(packet, EXT.oldest))
    const { received } = this
    const number = received.numberOf(packet.psn)
    if (number < received.expected || received.has(number)) {
      this.remember(packet, number, EfaStatus.Ok, Flag.Retransmission)
      return -1
    }
    if (number - received.expected >= this.windowPackets) return -2
    const before = this.refused.get(number)
    if (before === undefined) return number
    this.remember(packet, number, before, 0)
    return -1
  }

  /** What became of a new packet. */
  answer(packet: Packet, number: number, status: EfaStatus): void {
    if (status === EfaStatus.Ok) this.received.add(number)
    else this.refused.set(number, status)
    this.remember(packet, number, status, 0)
  }

  /** Packets of contexts that the peer has given up are dropped. */
  private isCurrent(generation: number): boolean {
    if (generation === this.generation) return true
    const ahead = ((generation - this.generation) << GENERATIONS) >> GENERATIONS
    if (this.generation !== NONE && ahead < 0) return false
    this.generation = generation
    this.startFrom(0)
    this.hasTaken = false
    this.refusals = []
    return true
  }

  private startFrom(number: number): void {
    this.received = new ReceivedPackets(this.windowPackets)
    this.received.expected = number
    this.refused.clear()
  }

  /** The peer waits for no packet before this one: those that have not come will not, or were refused. */
  private forgetBefore(oldest: number): void {
    const { received, refused } = this
    const end = received.numberOf(oldest)
    if (end - received.expected > this.windowPackets) {
      this.startFrom(end)
      return
    }
    for (let number = received.expected; number < end; number = Math.max(number + 1, received.expected)) {
      refused.delete(number)
      received.add(number)
    }
  }

  private remember(packet: Packet, number: number, status: EfaStatus, flags: number): void {
    const marked = packet.ecn === Ecn.Experienced ? Flag.CongestionEcho : 0
    if (status !== EfaStatus.Ok) {
      if (this.refusals.length < REFUSALS_MAX) {
        const { stamp, udpPorts } = packet
        this.refusals.push({ number, stamp, udpPorts, flags: flags | marked, status })
      }
      return
    }
    const { taken } = this
    taken.number = number
    taken.stamp = packet.stamp
    taken.udpPorts = packet.udpPorts
    taken.flags = flags | marked
    this.hasTaken = true
  }

  /** Fills in the oldest refusal, or else what was taken. */
  fill(out: Packet, header: PathHeader): void {
    const answer = this.refusals.shift() ?? this.taken
    if (answer === this.taken) this.hasTaken = false
    const { received } = this
    const at = header.put(out, Opcode.Acknowledge | answer.flags, Ecn.NotCapable)
    const { extension } = out.pool
    // Where all have come in order, that is all there is to tell.
    extension[at + EXT.cumulative] = received.expected & PSN_MASK
    extension[at + EXT.sackBase] = received.expected & PSN_MASK
    received.tell(answer.number, out)
    extension[at + EXT.segment] = Bit.Srd | Operation.Acknowledgement
    extension[at + EXT.aeth] = NOT_POSITIVE
    extension[at + EXT.generation] = this.generation
    extension[at + EXT.status] = answer.status
    out.wireBytes = ackWireBytes(header.ipv6)
    out.udpPorts = answer.udpPorts
    out.stamp = answer.stamp
  }
}
