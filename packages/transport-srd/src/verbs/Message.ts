import { bytesOf, type SendRequest, WrOpcode } from "@rdmakit/protocol"
import { EfaStatus } from "./EfaStatus.ts"
import { Bit, Operation } from "./Operation.ts"
import type { Peer } from "./Peer.ts"
import type { SrdQueuePair } from "./SrdQueuePair.ts"

/** Where a message is that has not ended. */
export const Place = {
  /** Nobody's: its queue pair keeps it, or all of it is under way. */ Away: 0,
  /** It has packets to send, and is in line. */ Queued: 1,
  /** It waits for its own packets, for a READ to end, or for its peer to post a receive. */ Held: 2,
} as const
export type Place = (typeof Place)[keyof typeof Place]

/** A request on its way to a peer, or the answer to one of the peer's. Which fields count depends on the operation. */
export class Message {
  readonly peer: Peer
  readonly queuePair: SrdQueuePair
  /** Bits of `EXT.segment`: the operation, and whether an immediate goes with its last packet. */
  readonly segment: number
  /** The request; undefined: it answers one of the peer's. */
  readonly request: SendRequest | undefined
  readonly destinationQp: number
  readonly queueKey: number
  readonly remoteKey: number
  readonly remoteHigh: number
  readonly remoteLow: number
  /** Of a READ, which both sides know it by. */
  readonly number: number
  /** Bytes of a READ. */
  readonly readBytes: number
  /** Payload that leaves, bytes. */
  bytes: number
  /** Bytes of it that have been put into packets; all have, also when there are none. */
  sent = 0
  isSent = false
  /** Packets that are not acknowledged. */
  unacknowledged = 0
  /** Bytes of a READ that have come. */
  received = 0
  /** Times it was tried again because no receive was posted. */
  retries = 0
  /** When it is, again. */
  retryAt = 0
  /** When it was last refused for that, and the time before; 0: it was not. */
  refusedAt = 0
  refusedBefore = 0
  /** Of an answer: why there is no more of it. */
  status: EfaStatus = EfaStatus.Ok
  place: Place = Place.Away
  hasEnded = false

  /** @param number of a READ that it asks for, or answers */
  constructor(peer: Peer, queuePair: SrdQueuePair, request: SendRequest | ReadAnswer, number: number) {
    this.peer = peer
    this.queuePair = queuePair
    this.number = number
    if (!("opcode" in request)) {
      this.segment = Operation.ReadResponse
      this.request = undefined
      this.destinationQp = request.destinationQp
      this.queueKey = 0
      this.remoteKey = request.key
      this.remoteHigh = Math.floor(request.address / 2 ** 32)
      this.remoteLow = request.address % 2 ** 32
      this.readBytes = 0
      this.bytes = request.bytes
      return
    }
    const { datagram, remoteKey = 0, remoteAddress = 0, inline, sges } = request
    const address = BigInt(remoteAddress)
    const length = inline?.length ?? bytesOf(sges)
    const isRead = request.opcode === WrOpcode.RdmaRead
    this.segment = segmentOf(request.opcode)
    this.request = request
    this.destinationQp = datagram?.qpn ?? 0
    this.queueKey = datagram?.queueKey ?? 0
    this.remoteKey = remoteKey
    this.remoteHigh = Number(address >> 32n)
    this.remoteLow = Number(address & 0xffffffffn)
    this.readBytes = isRead ? length : 0
    this.bytes = isRead ? 0 : length
  }

  get operation(): Operation {
    return (this.segment & Bit.Operation) as Operation
  }
  get hasImmediate(): boolean {
    return (this.segment & Bit.Immediate) !== 0
  }
  /** Bytes that its completion tells. */
  get length(): number {
    return this.bytes + this.readBytes
  }
}

/** What a READ of the peer's asks of this side's memory. */
export interface ReadAnswer {
  readonly key: number
  readonly address: number
  readonly bytes: number
  /** The queue pair that asked. */
  readonly destinationQp: number
}

/** 0: the device has no such operation. */
export const segmentOf = (opcode: WrOpcode): number => {
  switch (opcode) {
    case WrOpcode.Send:
      return Operation.Send
    case WrOpcode.SendWithImm:
      return Operation.Send | Bit.Immediate
    case WrOpcode.RdmaWrite:
      return Operation.Write
    case WrOpcode.RdmaWriteWithImm:
      return Operation.Write | Bit.Immediate
    case WrOpcode.RdmaRead:
      return Operation.ReadRequest
    default:
      return 0
  }
}
