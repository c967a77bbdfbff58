import { Layout, type Packet } from "@rdmakit/packet"
import {
  type CarrierHost,
  makeAck,
  NEVER,
  type PeerPath,
  QpState,
  type QpType,
  type Time,
  type VerbsEngine,
  type VerbsEvent,
} from "@rdmakit/protocol"
import type { SharedParts } from "../PeerSender.ts"
import { Records } from "../Records.ts"
import { Counters } from "./Counters.ts"
import { EfaStatus } from "./EfaStatus.ts"
import type { Message } from "./Message.ts"
import { Bit, Operation, wordOf } from "./Operation.ts"
import { Peer } from "./Peer.ts"
import { Schedule } from "./Schedule.ts"
import type { SrdQueuePair } from "./SrdQueuePair.ts"
import type { SrdVerbsConfig } from "./SrdVerbsOptions.ts"
import { Target } from "./Target.ts"

const { EXT } = Layout
/** READs are numbered with 32 bits. */
const NUMBERS = 2 ** 32
/** Timeouts of one moment that are handled at once, beyond one of each peer. */
const REPEATS_MAX = 1000

/**
 * The engine of a device: it keeps a context for each peer's address, and carries the packets of all queue pairs. Whoever
 * may send first, by pacing and window, sends next; answers go before data.
 */
export class Carrier implements VerbsEngine {
  readonly type: QpType = "srd"
  /** QP0, which is no program's. */
  readonly qpn = 0
  readonly state = QpState.Rts
  readonly draining = false
  readonly config: SrdVerbsConfig
  readonly host: CarrierHost
  readonly queuePairs = new Map<number, SrdQueuePair>()
  readonly counters = new Counters()
  /** Of the call that is being made. */
  now: Time = 0
  private readonly shared: SharedParts
  private readonly target: Target
  /** By their places; those that are free have the last one that was there. */
  private readonly peers: Array<Peer> = []
  private readonly free: Array<number> = []
  private readonly byNode = new Map<number, Peer>()
  /** When each peer's next packet may leave, and when it wants its timeout. */
  private readonly sends = new Schedule()
  private readonly wakes = new Schedule()
  /** Peers that are owed an acknowledgement. */
  private answering: Array<Peer> = []
  private events: Array<VerbsEvent> = []
  private nextEvent = 0
  private numbers = 0

  constructor(host: CarrierHost, config: SrdVerbsConfig) {
    this.host = host
    this.config = config
    this.shared = { config: config.srd, records: new Records(), ack: makeAck(1) }
    this.target = new Target(this)
  }

  get mtuBytes(): number {
    return this.host.mtuBytes
  }
  /** What each peer's context is at. */
  get contexts(): Iterable<Peer> {
    return this.byNode.values()
  }

  // --- what a NIC reads, and who reports

  /** Of all queue pairs. */
  get sendOutstanding(): number {
    let count = 0
    for (const { sendOutstanding } of this.queuePairs.values()) count += sendOutstanding
    return count
  }
  get receiveOutstanding(): number {
    let count = 0
    for (const { receiveOutstanding } of this.queuePairs.values()) count += receiveOutstanding
    return count
  }
  get node(): number {
    return this.peers[0]?.path.node ?? 0
  }
  /** Packets have those of their peers. */
  get flow(): number {
    return -1
  }
  get priority(): number {
    return this.peers[this.sends.first]?.path.priority ?? 0
  }
  get controlPending(): boolean {
    return this.answering.length > 0
  }
  get hasData(): boolean {
    return this.sends.first >= 0
  }
  get windowBound(): boolean {
    return false
  }
  get paceTime(): Time {
    return this.hasData ? this.sends.least : 0
  }
  get nextSend(): Time {
    return this.sends.least
  }
  get nextTimeout(): Time {
    return this.wakes.least
  }
  get finished(): boolean {
    return !this.hasData && !this.controlPending && this.nextTimeout === NEVER
  }
  get receiveAwaitedSince(): Time | undefined {
    if (this.hasData || this.controlPending) return undefined
    let since = NEVER
    for (const peer of this.byNode.values()) {
      const awaited = peer.receiveAwaitedSince
      if (awaited === undefined) return undefined
      if (awaited < since) since = awaited
    }
    return since === NEVER ? undefined : since
  }
  /** There is a controller for each peer: their timers are among its timeouts. */
  get timers(): undefined {
    return undefined
  }
  lendTimers(): void {}
  handleTimer(): void {}
  /** Commands are given to queue pairs. */
  command(): void {}

  // --- peers

  /** The context of a peer's address. */
  peerOf(now: Time, path: PeerPath): Peer {
    const known = this.byNode.get(path.peer)
    if (known !== undefined) return known
    const index = this.free.pop() ?? this.peers.length
    const peer = new Peer(now, index, path, this.mtuBytes, this.config, this.shared)
    this.peers[index] = peer
    this.byNode.set(path.peer, peer)
    return peer
  }

  private senderOf(now: Time, packet: Packet): Peer | undefined {
    const known = this.byNode.get(packet.source)
    if (known !== undefined) return known
    const path = this.host.pathTo(packet)
    return path === undefined ? undefined : this.peerOf(now, path)
  }

  /** Something about a peer has changed. */
  private refresh(peer: Peer): void {
    this.sends.set(peer.index, peer.outbound.sendTime)
    this.wakes.set(peer.index, peer.wakeTime)
  }

  // --- messages

  nextNumber(): number {
    this.numbers = (this.numbers + 1) % NUMBERS
    return this.numbers
  }

  /** A message goes to its peer. */
  add(now: Time, message: Message): void {
    message.peer.add(now, message)
    this.refresh(message.peer)
  }

  /** A message has ended. */
  drop(now: Time, message: Message): void {
    message.hasEnded = true
    message.peer.drop(now, message)
    this.refresh(message.peer)
  }

  /** A queue pair answers no more READs: their peers are told. */
  abortAnswers(queuePair: SrdQueuePair): void {
    for (const { answers } of this.byNode.values()) {
      for (const message of answers) {
        if (message.queuePair !== queuePair || message.isSent) continue
        message.status = EfaStatus.RemoteAbort
        message.bytes = message.sent
      }
    }
  }

  /** An address handle is gone. */
  forget(now: Time, path: PeerPath): void {
    this.now = now
    for (const queuePair of this.queuePairs.values()) queuePair.endPath(path)
  }

  /** A peer's number is another's from now on: no address handle is for it, and of its context nothing is kept. */
  forgetPeer(now: Time, node: number): void {
    const peer = this.byNode.get(node)
    if (peer === undefined) return
    this.now = now
    for (const message of [...peer.answers]) this.drop(now, message)
    peer.close()
    this.counters.retire(peer)
    this.answering = this.answering.filter((other) => other !== peer)
    this.sends.set(peer.index, NEVER)
    this.wakes.set(peer.index, NEVER)
    this.byNode.delete(node)
    this.free.push(peer.index)
  }

  tell(event: VerbsEvent): void {
    this.events.push(event)
  }
  pollEvent(): VerbsEvent | undefined {
    if (this.nextEvent === this.events.length) return undefined
    const event = this.events[this.nextEvent++]
    if (this.nextEvent === this.events.length) {
      this.events = []
      this.nextEvent = 0
    }
    return event
  }

  // --- packets

  handlePacket(now: Time, packet: Packet): void {
    const { counters } = this
    this.now = now
    counters.rxPkts++
    counters.rxBytes += packet.payloadBytes
    const segment = wordOf(packet, EXT.segment)
    const operation = segment & Bit.Operation
    const isOurs = (segment & Bit.Srd) !== 0 && operation >= Operation.Send && operation <= Operation.Acknowledgement
    const peer = isOurs ? this.senderOf(now, packet) : undefined
    if (peer === undefined) {
      counters.rxDrops++
      return
    }
    peer.heard(now)
    if (operation === Operation.Acknowledgement) peer.outbound.acknowledge(now, packet)
    else this.takeData(now, peer, packet)
    this.refresh(peer)
  }

  private takeData(now: Time, peer: Peer, packet: Packet): void {
    const { inbound } = peer
    const number = inbound.admit(packet)
    if (number >= 0) {
      const status = this.target.take(now, peer, packet)
      if (status !== EfaStatus.Ok) this.counters.rxDrops++
      inbound.answer(packet, number, status)
    } else this.counters.rxDrops++
    if (!inbound.pending || peer.isAnswering) return
    peer.isAnswering = true
    this.answering.push(peer)
  }

  pollTransmit(now: Time, out: Packet): boolean {
    this.now = now
    if (this.answering.length > 0) {
      this.answer(out)
      return true
    }
    while (this.sends.least <= now) {
      const peer = this.peers[this.sends.first]!
      const sent = peer.outbound.send(now, out)
      this.refresh(peer)
      if (!sent) continue
      this.counters.txPkts++
      this.counters.txBytes += out.payloadBytes
      return true
    }
    return false
  }

  private answer(out: Packet): void {
    const peer = this.answering[0]!
    peer.inbound.fill(out, peer.header)
    this.counters.txPkts++
    if (peer.inbound.pending) return
    peer.isAnswering = false
    this.answering.shift()
  }

  // --- time

  handleTimeout(now: Time): void {
    this.now = now
    // Whoever calls is to see what is due for ever.
    for (let left = this.peers.length + REPEATS_MAX; left > 0 && this.wakes.least <= now; left--) {
      const peer = this.peers[this.wakes.first]!
      if (!peer.handleTimeout(now)) this.giveUp(now, peer)
      this.refresh(peer)
    }
  }

  /** A peer is unresponsive: what was for it fails, and its context begins anew. */
  private giveUp(now: Time, peer: Peer): void {
    const status = peer.isKnown ? EfaStatus.UnrespRemote : EfaStatus.UnreachRemote
    for (const queuePair of this.queuePairs.values()) {
      const failed = [...queuePair.requests].filter((message) => message.peer === peer)
      for (const message of failed) queuePair.end(message, status)
    }
    for (const message of [...peer.answers]) this.drop(now, message)
    peer.renew(now)
    this.counters.unresponsive++
    this.tell({ type: "unresponsive", path: peer.path })
  }
}
