import type { EfaRdmAtomic, EfaRdmMessage } from "@rdmakit/wire/efa-rdm"
import { Matcher, storedBytes, Unexpected } from "./Matcher.ts"
import { MessageReceive } from "./MessageReceive.ts"
import type { Peer } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import { TARGETS_MAX, targetBytes } from "./Targets.ts"

/** Whether its numbers agree with each other; one that does not is dropped. */
const isSound = (message: EfaRdmMessage, payload: Uint8Array): boolean => {
  if (message.protocol === "eager") return true
  const { messageBytes } = message
  if (messageBytes > BigInt(Number.MAX_SAFE_INTEGER) || BigInt(payload.length) > messageBytes) return false
  if (message.protocol === "longRead" || message.protocol === "runtRead") {
    const { sources } = message
    if (sources.length > TARGETS_MAX || targetBytes(sources) !== messageBytes) return false
  }
  return message.protocol !== "runtRead" || (message.runtBytes <= messageBytes && message.runtBytes > 0n)
}

const hasSeveral = (packet: EfaRdmMessage | EfaRdmAtomic): packet is EfaRdmMessage =>
  packet.kind === "message" && (packet.protocol === "medium" || packet.protocol === "runtRead")

/** Puts a peer's messages and atomics in order, and finds receives for the messages. */
export class MessageReceiver {
  private readonly rdm: Rdm
  private readonly matcher = new Matcher()
  private readonly handleAtomic: (peer: Peer, atomic: EfaRdmAtomic, payload: Uint8Array) => boolean
  private reorderBytes = 0
  private unexpectedBytes = 0
  private stalled: Array<Peer> = []

  /** `handleAtomic` does an atomic whose turn it is; false: there is no room for its answer. */
  constructor(rdm: Rdm, handleAtomic: MessageReceiver["handleAtomic"]) {
    this.rdm = rdm
    this.handleAtomic = handleAtomic
  }

  /** Messages without a receive. */
  get unexpected(): number {
    return this.matcher.unexpected
  }

  /** A request with a message number. False: there is no room for it now, and nothing has changed. */
  handle(peer: Peer, packet: EfaRdmMessage | EfaRdmAtomic, payload: Uint8Array): boolean {
    const { rdm } = this
    const { counters, settings } = rdm
    const { messageId } = packet
    if (hasSeveral(packet) && peer.assembling.has(messageId)) return this.assemble(peer, packet, payload)
    if (packet.kind === "message" && packet.protocol === "longCts" && packet.afterNack) {
      const receive = peer.refused.get(messageId)
      if (receive === undefined) counters.stray++
      else {
        peer.refused.delete(messageId)
        receive.handleAfterNack(packet)
      }
      return true
    }
    if (settings.order === "none") return this.process(peer, packet, payload)
    const verdict = peer.reorder.verdict(messageId)
    if (verdict === "past") {
      counters.duplicates++
      return true
    }
    if (verdict === "next") {
      // What is kept of this number came before, and waits for room.
      if (peer.reorder.waiting === undefined) {
        if (!this.process(peer, packet, payload)) return false
        peer.reorder.advance()
        this.drain(peer)
        return true
      }
      this.drain(peer)
      return peer.reorder.next === messageId ? false : this.handle(peer, packet, payload)
    }
    const bytes = storedBytes(payload)
    if (this.reorderBytes + bytes > settings.reorderBytesMax) return false
    this.reorderBytes += bytes
    counters.reorderBytesPeak = Math.max(counters.reorderBytesPeak, this.reorderBytes)
    const { first, inOverflow } = peer.reorder.store(messageId, { packet, payload: payload.slice() })
    if (first) counters.reordered++
    if (first && inOverflow) counters.overflowed++
    return true
  }

  /** Posts a receive. */
  post(receive: MessageReceive): void {
    const found = this.matcher.messageFor(receive.options)
    if (found === undefined) this.matcher.post(receive)
    else {
      const { peer, first, rest } = found
      this.unexpectedBytes -= found.bytes
      this.begin(peer, receive, first, found.payload)
      for (const { message, payload } of rest) this.take(peer, receive, message, payload)
    }
    this.resume()
  }

  /** Takes back the receives that are meant, of those that nothing has matched. */
  cancel(which: (receive: MessageReceive) => boolean): ReadonlyArray<MessageReceive> {
    return this.matcher.removeReceives(which)
  }

  /** Tells how a receive ended, when it is its turn. */
  readonly deliver = (receive: MessageReceive): void => {
    const { peer } = receive
    if (peer === undefined || this.rdm.settings.order !== "completion") {
      this.rdm.emit(receive.outcome!)
      return
    }
    for (;;) {
      const first = peer.deliveries.first as MessageReceive | undefined
      if (first?.outcome === undefined) return
      peer.deliveries.shift()
      this.rdm.emit(first.outcome)
    }
  }

  /** A peer is gone, and its messages with it. */
  forget(peer: Peer): void {
    for (const { bytes } of this.matcher.removeMessages((message) => message.peer === peer))
      this.unexpectedBytes -= bytes
    this.reorderBytes -= peer.reorder.clear(({ payload }) => storedBytes(payload))
    peer.assembling.clear()
    peer.refused.clear()
    this.stalled = this.stalled.filter((each) => each !== peer)
  }

  /** There is room again: what was stopped goes on. */
  resume(): void {
    const { stalled } = this
    if (stalled.length === 0) return
    this.stalled = []
    for (const peer of stalled) {
      peer.stalled = false
      this.drain(peer)
    }
  }

  /** Deals with what is kept of the numbers that are next. */
  private drain(peer: Peer): void {
    const { reorder } = peer
    for (let kept = reorder.waiting; kept !== undefined; kept = reorder.waiting) {
      for (let item = kept[0]; item !== undefined; item = kept[0]) {
        const { packet, payload } = item
        const goesOn = hasSeveral(packet) && peer.assembling.has(packet.messageId)
        if (!(goesOn ? this.assemble(peer, packet, payload) : this.process(peer, packet, payload))) {
          if (!peer.stalled) this.stalled.push(peer)
          peer.stalled = true
          return
        }
        kept.shift()
        this.reorderBytes -= storedBytes(payload)
      }
      reorder.advance()
    }
  }

  /** The first request of a message, or an atomic, whose turn it is. */
  private process(peer: Peer, packet: EfaRdmMessage | EfaRdmAtomic, payload: Uint8Array): boolean {
    if (packet.kind === "atomic") return this.handleAtomic(peer, packet, payload)
    if (!isSound(packet, payload)) {
      this.rdm.counters.malformed++
      return true
    }
    const receive = this.matcher.receiveFor(peer, packet)
    if (receive !== undefined) {
      this.begin(peer, receive, packet, payload)
      return true
    }
    if (!this.reserve(payload)) return false
    const message = new Unexpected(peer, packet, payload.slice())
    this.matcher.keep(message)
    this.rdm.counters.unexpected++
    if (hasSeveral(packet)) peer.assembling.set(packet.messageId, message)
    return true
  }

  /** Another request of a message. */
  private assemble(peer: Peer, message: EfaRdmMessage, payload: Uint8Array): boolean {
    const found = peer.assembling.get(message.messageId)!
    if (found instanceof MessageReceive) {
      this.take(peer, found, message, payload)
      return true
    }
    if (!this.reserve(payload)) return false
    found.add(message, payload.slice())
    return true
  }

  private reserve(payload: Uint8Array): boolean {
    const { counters, settings } = this.rdm
    const bytes = storedBytes(payload)
    if (this.unexpectedBytes + bytes > settings.unexpectedBytesMax) return false
    this.unexpectedBytes += bytes
    counters.unexpectedBytesPeak = Math.max(counters.unexpectedBytesPeak, this.unexpectedBytes)
    return true
  }

  private begin(peer: Peer, receive: MessageReceive, message: EfaRdmMessage, payload: Uint8Array): void {
    receive.begin(peer, message, payload)
    if (!hasSeveral(message)) return
    if (receive.assembled) peer.assembling.delete(message.messageId)
    else peer.assembling.set(message.messageId, receive)
  }

  private take(peer: Peer, receive: MessageReceive, message: EfaRdmMessage, payload: Uint8Array): void {
    if (!receive.handleSegment(message, payload)) this.rdm.counters.stray++
    if (receive.assembled) peer.assembling.delete(message.messageId)
  }
}
