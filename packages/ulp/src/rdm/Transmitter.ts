import type { EfaRdmTarget } from "@rdmakit/wire/efa-rdm"
import type { DatagramRequest, DatagramStatus } from "./Datagram.ts"
import { Fifo } from "./Fifo.ts"

const NO_OCTETS = new Uint8Array(0)
const NOWHERE: EfaRdmTarget = { address: 0n, bytes: 0n, key: 0n }

/** A request to the service, and who made it. */
export class Slot implements DatagramRequest {
  readonly token: number
  readonly packet: Uint8Array
  owner: Sendable | undefined = undefined
  kind: DatagramRequest["kind"] = "send"
  peer = -1
  bytes = 0
  local: Uint8Array = NO_OCTETS
  remote: EfaRdmTarget = NOWHERE

  constructor(token: number, packet: Uint8Array) {
    this.token = token
    this.packet = packet
  }

  /** Makes it an RDMA operation. */
  rdma(kind: "read" | "write", peer: number, local: Uint8Array, remote: EfaRdmTarget): void {
    this.kind = kind
    this.peer = peer
    this.local = local
    this.remote = remote
    this.bytes = local.length
  }
}

/** Something that has packets to send, one at a time. */
export abstract class Sendable {
  /** It waits for its turn; the transmitter's own. */
  queued = false
  /** Its requests that the service has not completed; the transmitter's own. */
  inFlight = 0
  /** Replies go before data. */
  abstract readonly urgent: boolean
  abstract readonly hasPacket: boolean
  /** Fills in the next packet or RDMA operation. */
  abstract fill(slot: Slot): void
  abstract handleDone(slot: Slot, status: DatagramStatus): void
}

/** Requests to the service in the order of their turns: replies first, then one packet of each operation at a time. */
export class Transmitter {
  sent = 0
  private readonly replies = new Fifo<Sendable>()
  private readonly data = new Fifo<Sendable>()
  private readonly slots: Array<Slot> = []
  private readonly free: Array<Slot> = []
  private readonly max: number
  private readonly packetBuffer: (token: number) => Uint8Array

  constructor(max: number, packetBuffer: (token: number) => Uint8Array) {
    this.max = max
    this.packetBuffer = packetBuffer
  }

  /** Requests that the service has not completed. */
  get inFlight(): number {
    return this.slots.length - this.free.length
  }

  /** Gives it a turn if it has something to send. */
  schedule(item: Sendable): void {
    if (item.queued || !item.hasPacket) return
    item.queued = true
    const line = item.urgent ? this.replies : this.data
    line.push(item)
  }

  poll(): Slot | undefined {
    for (;;) {
      if (this.free.length === 0 && this.slots.length === this.max) return undefined
      const item = this.replies.shift() ?? this.data.shift()
      if (item === undefined) return undefined
      item.queued = false
      // It may have ended while it waited.
      if (!item.hasPacket) continue
      const slot = this.free.pop() ?? this.grow()
      slot.owner = item
      slot.kind = "send"
      item.inFlight++
      item.fill(slot)
      this.sent++
      this.schedule(item)
      return slot
    }
  }

  /** False for a token that is not under way. */
  complete(token: number, status: DatagramStatus): boolean {
    const slot = this.slots[token]
    if (slot?.owner === undefined) return false
    const { owner } = slot
    slot.owner = undefined
    owner.inFlight--
    owner.handleDone(slot, status)
    slot.local = NO_OCTETS
    this.free.push(slot)
    return true
  }

  private grow(): Slot {
    const token = this.slots.length
    const slot = new Slot(token, this.packetBuffer(token))
    this.slots.push(slot)
    return slot
  }
}
