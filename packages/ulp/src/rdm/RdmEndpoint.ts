import type { WireError } from "@rdmakit/wire"
import {
  EFA_RDM_ADDRESS_BYTES,
  type EfaRdm,
  EfaRdmFeature,
  type EfaRdmOptions,
  type EfaRdmTarget,
  emitEfaRdm,
  emitEfaRdmAddress,
  parseEfaRdm,
  parseEfaRdmAddress,
} from "@rdmakit/wire/efa-rdm"
import type { DatagramRequest, DatagramStatus } from "./Datagram.ts"
import { Fifo } from "./Fifo.ts"
import { IdTable } from "./IdTable.ts"
import type { Incoming } from "./Incoming.ts"
import { MessageReceive } from "./MessageReceive.ts"
import { MessageReceiver } from "./MessageReceiver.ts"
import { MessageSend } from "./MessageSend.ts"
import type { Outgoing } from "./Outgoing.ts"
import { Peer, type Waiting } from "./Peer.ts"
import type { Rdm } from "./Rdm.ts"
import {
  checkAtomic,
  checkCall,
  checkOctets,
  checkTargets,
  checkWord,
  type RdmAtomicOptions,
  type RdmReceiveOptions,
  type RdmSendOptions,
} from "./RdmCalls.ts"
import { noCounts, type RdmCounters, type RdmEvent, type RdmRefusal } from "./RdmEvent.ts"
import { checkInteger, RdmError, type RdmOptions, type RdmSettings, settingsOf } from "./RdmOptions.ts"
import { FetchRequest, ReadRequest } from "./RemoteReceive.ts"
import { AtomicSend, WriteSend } from "./RemoteSend.ts"
import { Responder } from "./Responder.ts"
import { Segments } from "./Segments.ts"
import { type Slot, Transmitter } from "./Transmitter.ts"

/**
 * An endpoint of libfabric's EFA RDM protocol, version 4, without IO: messages, RMA and atomics over a datagram service
 * that delivers at most once and in no order. After each call drain `pollTransmit` and `pollEvent`. It has no timers, and
 * nothing that a peer sends throws. Buffers belong to the endpoint until their operation has ended.
 */
export class RdmEndpoint {
  readonly counters: RdmCounters = noCounts()
  /** The last packet that did not parse, and why. */
  lastFault: WireError | undefined = undefined
  private readonly settings: RdmSettings
  private readonly rawAddress: Uint8Array
  private readonly peers = new Map<number, Peer>()
  private readonly events = new Fifo<RdmEvent>()
  private readonly transmitter: Transmitter
  private readonly outgoing: IdTable<Outgoing>
  private readonly incoming: IdTable<Incoming>
  private readonly rdm: Rdm
  private readonly messages: MessageReceiver
  private readonly responder: Responder

  /** @throws RdmError for an option out of its range */
  constructor(options: RdmOptions) {
    const settings = settingsOf(options)
    this.settings = settings
    // Padded, so that what follows its length lies at a multiple of 8 (EFA_RDM_REQ_OPT_RAW_ADDR_HDR_SIZE).
    this.rawAddress = new Uint8Array(EFA_RDM_ADDRESS_BYTES + 4)
    emitEfaRdmAddress(settings.address, this.rawAddress)
    this.transmitter = new Transmitter(settings.packetsInFlightMax, settings.packetBuffer)
    this.outgoing = new IdTable(settings.operationsMax)
    this.incoming = new IdTable(settings.receivesMax)
    this.rdm = {
      settings,
      transmitter: this.transmitter,
      outgoing: this.outgoing,
      incoming: this.incoming,
      counters: this.counters,
      emit: (event) => this.events.push(event),
      optionsFor: (peer, cqData) => this.optionsFor(peer, cqData),
      lose: (peer) => this.lose(peer),
      write: (slot, peer, header, data, offset = 0, bytes = 0) =>
        this.writePacket(slot, peer, header, data, offset, bytes),
    }
    this.responder = new Responder(this.rdm)
    this.messages = new MessageReceiver(this.rdm, this.responder.atomic)
  }

  /** What a peer's handshake says it can do (bits of {@link EfaRdmFeature}); undefined until it is here. */
  featuresOf(peer: number): bigint | undefined {
    return this.peers.get(peer)?.features
  }

  /** Operations and receives that have not ended, of this side and of what it does for peers. */
  get open(): number {
    return this.outgoing.size + this.incoming.size
  }

  /** Messages that have come and match no receive. */
  get unexpected(): number {
    return this.messages.unexpected
  }

  // --- what a program asks for; `context` is its own number of it, which the event returns

  /** @throws RdmError for an option out of its range */
  send(peer: number, data: Uint8Array, context: number, options: RdmSendOptions = {}): RdmRefusal | undefined {
    checkCall(context, options)
    checkOctets("data", data)
    const known = this.knownPeer(checkInteger("peer", peer, 0))
    if (typeof known === "string") return known
    if (this.outgoing.full) return "busy"
    const { deliveryComplete = false } = options
    const tag = checkWord("tag", options.tag)
    const cqData = checkWord("cqData", options.cqData)
    const message = new MessageSend(this.rdm, known, new Segments([data]), context, { tag, cqData, deliveryComplete })
    this.begin(known, message, deliveryComplete)
    return undefined
  }

  /** @throws RdmError for an option out of its range */
  receive(buffer: Uint8Array, context: number, options: RdmReceiveOptions = {}): RdmRefusal | undefined {
    checkCall(context, options)
    checkOctets("buffer", buffer)
    if (this.incoming.full) return "busy"
    const { from } = options
    if (from !== undefined) checkInteger("from", from, 0)
    if (from !== undefined && this.peers.get(from)?.reachable === false) return "unreachable"
    const tag = checkWord("tag", options.tag)
    const ignore = checkWord("ignore", options.ignore) ?? 0n
    this.messages.post(new MessageReceive(this.rdm, buffer, context, { tag, ignore, from }, this.messages.deliver))
    return undefined
  }

  /** Takes back a receive that no message has matched; its event says `canceled`. False when there is none. */
  cancelReceive(context: number): boolean {
    const found = this.messages.cancel((receive) => receive.context === context)
    for (const receive of found) receive.fail("canceled")
    return found.length > 0
  }

  /** Writes into up to four ranges of the peer's memory. @throws RdmError when they have not the length of `data` */
  write(
    peer: number,
    data: Uint8Array,
    targets: ReadonlyArray<EfaRdmTarget>,
    context: number,
    options: RdmSendOptions = {},
  ): RdmRefusal | undefined {
    checkCall(context, options)
    checkOctets("data", data)
    checkTargets(targets, data)
    const known = this.knownPeer(checkInteger("peer", peer, 0))
    if (typeof known === "string") return known
    if (this.outgoing.full) return "busy"
    const { deliveryComplete = false } = options
    const cqData = checkWord("cqData", options.cqData)
    const write = new WriteSend(this.rdm, known, new Segments([data]), targets, context, { cqData, deliveryComplete })
    this.begin(known, write, deliveryComplete)
    return undefined
  }

  /** Reads up to four ranges of the peer's memory. @throws RdmError when they have not the length of `into` */
  read(peer: number, into: Uint8Array, targets: ReadonlyArray<EfaRdmTarget>, context: number): RdmRefusal | undefined {
    checkCall(context, {})
    checkOctets("into", into)
    checkTargets(targets, into)
    const known = this.knownPeer(checkInteger("peer", peer, 0))
    if (typeof known === "string") return known
    if (this.incoming.full) return "busy"
    new ReadRequest(this.rdm, known, into, targets, context).begin()
    return undefined
  }

  /** Changes the peer's memory. @throws RdmError for what is no atomic, or does not fit a packet */
  atomic(
    peer: number,
    operands: Uint8Array,
    targets: ReadonlyArray<EfaRdmTarget>,
    context: number,
    options: RdmAtomicOptions,
  ): RdmRefusal | undefined {
    checkCall(context, options)
    checkOctets("operands", operands)
    checkAtomic("write", operands, targets, operands.length, this.settings.mtuBytes, options)
    const known = this.knownPeer(checkInteger("peer", peer, 0))
    if (typeof known === "string") return known
    if (this.outgoing.full) return "busy"
    const { datatype, operation, deliveryComplete = false } = options
    const data = new Segments([operands])
    const atomic = new AtomicSend(this.rdm, known, data, targets, context, { datatype, operation, deliveryComplete })
    this.begin(known, atomic, deliveryComplete)
    return undefined
  }

  /**
   * Changes the peer's memory and fetches what it held into `result`; with `compare`, an operation that compares.
   * @throws RdmError for what is no atomic, or does not fit a packet
   */
  fetchAtomic(
    peer: number,
    operands: Uint8Array,
    compare: Uint8Array | undefined,
    result: Uint8Array,
    targets: ReadonlyArray<EfaRdmTarget>,
    context: number,
    options: RdmAtomicOptions,
  ): RdmRefusal | undefined {
    checkCall(context, options)
    checkOctets("operands", operands)
    checkOctets("result", result)
    if (compare !== undefined) checkOctets("compare", compare)
    const { datatype, operation } = options
    const compares = compare !== undefined
    const bytes = operands.length + (compare?.length ?? 0)
    const kind = compares ? "compare" : "fetch"
    checkAtomic(kind, operands, targets, bytes, this.settings.mtuBytes, { datatype, operation })
    checkInteger("result.length", result.length, operands.length, operands.length)
    if (compares) checkInteger("compare.length", compare.length, operands.length, operands.length)
    const known = this.knownPeer(checkInteger("peer", peer, 0))
    if (typeof known === "string") return known
    if (this.incoming.full) return "busy"
    const data = new Segments(compares ? [operands, compare] : [operands])
    const fetch = new FetchRequest(this.rdm, known, result, data, targets, context, { datatype, operation, compares })
    this.begin(known, fetch, false)
    return undefined
  }

  // --- what the world does

  /** The next thing for the service to do, or undefined. */
  pollTransmit(): DatagramRequest | undefined {
    const request = this.transmitter.poll()
    if (request?.kind === "send") this.counters.packetsSent++
    return request
  }

  pollEvent(): RdmEvent | undefined {
    return this.events.shift()
  }

  /** A request has ended. @throws RdmError for a token that is not under way */
  handleCompletion(token: number, status: DatagramStatus): void {
    if (!this.transmitter.complete(token, status)) throw new RdmError("token", token, "one that is under way")
    this.messages.resume()
  }

  /** The service has given a peer up: SRD's event of an unresponsive remote. All that concerns it fails. */
  handlePeerLost(number: number): void {
    const peer = this.knownPeer(number)
    if (typeof peer !== "string") this.lose(peer)
  }

  /**
   * A packet came: from a peer by the service's number, or, when it does not know the sender, from undefined. False: there
   * is no room for it now. Keep it and hand it in again after the next receive or packet; others may pass it.
   */
  handlePacket(from: number | undefined, octets: Uint8Array): boolean {
    const parse = parseEfaRdm(octets)
    if (!parse.ok) {
      this.counters.malformed++
      this.lastFault = parse.error
      return true
    }
    const { value, payloadStart, payloadEnd } = parse
    const peer = this.senderOf(from, value)
    if (peer === undefined) return true
    peer.greet()
    const taken = this.dispatch(peer, value, octets.subarray(payloadStart, payloadEnd))
    if (taken) this.counters.packetsReceived++
    else this.counters.heldBack++
    this.messages.resume()
    return taken
  }

  /** Begins at once, or when the handshake is here that says whether the peer can do it; in order. */
  private begin(peer: Peer, operation: Waiting, needsHandshake: boolean): void {
    if (peer.features === undefined && (needsHandshake || peer.waiting.length > 0)) {
      peer.waiting.push(operation)
      peer.probe()
    } else operation.begin()
  }

  private knownPeer(number: number): Peer | "unreachable" | "peers" {
    const known = this.peers.get(number)
    if (known !== undefined) return known.reachable ? known : "unreachable"
    if (this.peers.size >= this.settings.peersMax) return "peers"
    const peer = new Peer(this.rdm, checkInteger("peer", number, 0))
    this.peers.set(number, peer)
    return peer
  }

  private senderOf(from: number | undefined, packet: EfaRdm): Peer | undefined {
    const raw = "rawAddress" in packet ? packet.rawAddress : undefined
    const parse = raw === undefined ? undefined : parseEfaRdmAddress(raw)
    const address = parse?.ok ? parse.value : undefined
    const number = from ?? (address === undefined ? undefined : this.settings.peerOf(address))
    const peer = number === undefined ? "peers" : this.knownPeer(number)
    if (typeof peer === "string") {
      this.counters.unknownPeers++
      return undefined
    }
    const connid = packet.connid ?? address?.connid
    peer.connid ??= connid
    if (connid === undefined || connid === peer.connid) return peer
    this.counters.staleConnections++
    return undefined
  }

  private dispatch(peer: Peer, packet: EfaRdm, payload: Uint8Array): boolean {
    switch (packet.kind) {
      case "message":
      case "atomic":
        return this.messages.handle(peer, packet, payload)
      case "write":
        return this.responder.write(peer, packet, payload)
      case "read":
        return this.responder.read(peer, packet)
      case "handshake":
        peer.handleHandshake(packet)
        return true
      default:
        if (!this.handleReply(peer, packet, payload)) this.counters.stray++
        return true
    }
  }

  /** False for a reply to nothing. */
  private handleReply(peer: Peer, packet: EfaRdm, payload: Uint8Array): boolean {
    const sender = "sendId" in packet ? this.outgoing.find(packet.sendId) : undefined
    const receiver = "receiveId" in packet ? this.incoming.find(packet.receiveId) : undefined
    const sends = sender?.peer === peer ? sender : undefined
    const receives = receiver?.peer === peer ? receiver : undefined
    switch (packet.kind) {
      case "cts":
        return sends?.handleCts(packet) ?? false
      case "endOfRead":
      case "receipt":
        return sends?.handleConfirmed() ?? false
      case "readNack":
        return sends?.handleReadNack() ?? false
      case "ctsData":
        return receives?.handleData(packet.offset, payload) ?? false
      case "readResponse":
        return receives instanceof ReadRequest && receives.handleResponse(packet.sendId, payload)
      case "atomicResponse":
        return receives instanceof FetchRequest && receives.handleData(0n, payload)
      default:
        return false
    }
  }

  private optionsFor(peer: Peer, cqData: bigint | undefined): EfaRdmOptions {
    const isKnown = peer.features !== undefined && !peer.can(EfaRdmFeature.ConstantHeaderLength)
    return isKnown
      ? { rawAddress: undefined, cqData, connid: this.settings.address.connid }
      : { rawAddress: this.rawAddress, cqData, connid: undefined }
  }

  private writePacket(
    slot: Slot,
    peer: Peer,
    header: EfaRdm,
    data: Segments | undefined,
    offset: number,
    bytes: number,
  ): number {
    const at = emitEfaRdm(header, slot.packet)
    const size = Math.min(bytes, this.settings.mtuBytes - at)
    data?.take(offset, size, slot.packet, at)
    slot.peer = peer.number
    slot.bytes = at + size
    return size
  }

  private lose(peer: Peer): void {
    if (!peer.reachable) return
    peer.reachable = false
    const { number } = peer
    this.messages.forget(peer)
    for (const receive of this.messages.cancel(({ options }) => options.from === number)) receive.fail("unreachable")
    for (const each of this.outgoing.entries()) if (each.peer === peer) each.fail("unreachable")
    for (const each of this.incoming.entries()) if (each.peer === peer) each.fail("unreachable")
  }
}
