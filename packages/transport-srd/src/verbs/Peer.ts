import { NEVER, type PathInfo, type PeerPath, type Time } from "@rdmakit/protocol"
import type { SharedParts } from "../PeerSender.ts"
import { Inbound } from "./Inbound.ts"
import type { Message } from "./Message.ts"
import { MessageList } from "./MessageList.ts"
import { Operation } from "./Operation.ts"
import { Outbound } from "./Outbound.ts"
import { PathHeader } from "./PathHeader.ts"
import type { SrdVerbsConfig } from "./SrdVerbsOptions.ts"

/** READs that one device may have outstanding at another: so many answers are kept there. */
export const READS_MAX = 128
const GENERATION = 0xffff

/**
 * What a device keeps of one peer's address, for all of its queue pairs: the context of SRD, in both directions.
 */
export class Peer {
  /** Its place among the peers of the device. */
  readonly index: number
  readonly header: PathHeader
  readonly inbound: Inbound
  outbound: Outbound
  /** Answers to the peer's READs that are under way. */
  readonly answers = new Set<Message>()
  /** Something has ever come from it. */
  isKnown = false
  /** An acknowledgement of it is in line at the device. */
  isAnswering = false
  /** What contexts that were given up had counted. */
  readonly retired = { bytes: 0, packets: 0, timeouts: 0, impairments: 0 }
  private readonly config: SrdVerbsConfig
  private readonly shared: SharedParts
  private readonly pathInfo: PathInfo
  /** READs without their whole answer, by number; and those that have to wait. */
  private readonly reads = new Map<number, Message>()
  private readonly readsHeld = new MessageList()
  /** Since when the answer to a READ is waited for, or something last came. */
  private heardAt: Time = 0

  constructor(now: Time, index: number, path: PeerPath, mtuBytes: number, config: SrdVerbsConfig, shared: SharedParts) {
    this.index = index
    this.config = config
    this.shared = shared
    this.header = new PathHeader(path)
    this.pathInfo = pathInfoOf(path, mtuBytes, config.seed)
    this.inbound = new Inbound(config.srd.windowPackets)
    this.outbound = new Outbound(now, shared, this.pathInfo, this, 0, config.rnrDelayPs)
  }

  get path(): PeerPath {
    return this.header.path
  }

  heard(now: Time): void {
    this.isKnown = true
    this.heardAt = now
  }

  // --- messages

  add(now: Time, message: Message): void {
    if (message.operation === Operation.ReadRequest) {
      if (this.reads.size >= READS_MAX) {
        this.readsHeld.push(message)
        return
      }
      if (this.reads.size === 0) this.heardAt = now
      this.reads.set(message.number, message)
    }
    this.outbound.add(now, message)
  }

  /** A message has ended, one way or the other. */
  drop(now: Time, message: Message): void {
    this.outbound.drop(message)
    if (message.operation === Operation.ReadResponse) this.answers.delete(message)
    else if (message.operation === Operation.ReadRequest) {
      if (!this.reads.delete(message.number)) this.readsHeld.remove(message)
      else if (this.readsHeld.length > 0) this.add(now, this.readsHeld.shift()!)
    }
  }

  /** The READ of a number; undefined: it has ended. */
  read(number: number): Message | undefined {
    return this.reads.get(number)
  }

  // --- time

  /** As the carrier's; NEVER: nothing is to be done for it. */
  get receiveAwaitedSince(): Time | undefined {
    if (this.wakeTime === NEVER) return NEVER
    return this.reads.size > 0 ? undefined : this.outbound.receiveAwaitedSince
  }

  private get readDeadline(): Time {
    return this.reads.size === 0 ? NEVER : this.heardAt + this.outbound.unresponsiveAfterPs
  }
  get wakeTime(): Time {
    return Math.min(this.outbound.wakeTime, this.readDeadline)
  }

  /** False: the peer is unresponsive. */
  handleTimeout(now: Time): boolean {
    this.outbound.handleTimeout(now)
    return !this.outbound.unresponsive && this.readDeadline > now
  }

  /** The peer did not answer: all that was for it has ended, and what comes begins anew. */
  renew(now: Time): void {
    const generation = (this.outbound.generation + 1) & GENERATION
    this.close()
    this.outbound = new Outbound(now, this.shared, this.pathInfo, this, generation, this.config.rnrDelayPs)
  }

  /** Its memory is given back, and what it counted is kept. */
  close(): void {
    const { outbound, retired } = this
    retired.bytes += outbound.retransmittedBytes
    retired.packets += outbound.retransmissions
    retired.timeouts += outbound.timeouts
    retired.impairments += outbound.impairments
    outbound.close()
  }
}

const pathInfoOf = (path: PeerPath, mtuBytes: number, seed: number): PathInfo => ({
  lineRateBps: path.lineRateBps,
  baseRttPs: path.baseRttPs,
  windowBytes: Math.ceil((path.lineRateBps * path.baseRttPs) / 8e12),
  mtuBytes,
  timeModulusPs: NEVER,
  bytesModulus: NEVER,
  flow: ((path.node << 16) | path.peer) >>> 0,
  seed,
})
