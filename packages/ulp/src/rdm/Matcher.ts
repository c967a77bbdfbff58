import type { EfaRdmAtomic, EfaRdmMessage } from "@rdmakit/wire/efa-rdm"
import type { MessageReceive, ReceiveOptions } from "./MessageReceive.ts"
import type { Peer } from "./Peer.ts"

/** A request that waits, with its payload copied. */
export interface StoredPacket {
  readonly packet: EfaRdmMessage | EfaRdmAtomic
  readonly payload: Uint8Array
}

/** What a packet that waits is reckoned to take besides its payload, bytes. */
const STORED_OVERHEAD_BYTES = 64

export const storedBytes = (payload: Uint8Array): number => payload.length + STORED_OVERHEAD_BYTES

/** A message that no receive has matched: its requests so far. */
export class Unexpected {
  readonly peer: Peer
  readonly first: EfaRdmMessage
  readonly rest: Array<{ readonly message: EfaRdmMessage; readonly payload: Uint8Array }> = []
  readonly payload: Uint8Array
  /** What it takes of the endpoint's memory. */
  bytes: number

  constructor(peer: Peer, first: EfaRdmMessage, payload: Uint8Array) {
    this.peer = peer
    this.first = first
    this.payload = payload
    this.bytes = storedBytes(payload)
  }

  add(message: EfaRdmMessage, payload: Uint8Array): void {
    this.rest.push({ message, payload })
    this.bytes += storedBytes(payload)
  }
}

const wants = ({ tag, ignore, from }: ReceiveOptions, peer: Peer, message: EfaRdmMessage): boolean =>
  (from === undefined || from === peer.number) && (tag === undefined || ((tag ^ message.tag!) & ~ignore) === 0n)

/** Which receive takes which message: the oldest receive that wants it, the oldest message that is wanted. */
export class Matcher {
  private readonly posted = { tagged: [] as MessageReceive[], plain: [] as MessageReceive[] }
  private readonly waiting = { tagged: [] as Unexpected[], plain: [] as Unexpected[] }

  /** Messages without a receive. */
  get unexpected(): number {
    return this.waiting.tagged.length + this.waiting.plain.length
  }

  /** Takes out the receive that a message matches. */
  receiveFor(peer: Peer, message: EfaRdmMessage): MessageReceive | undefined {
    const line = message.tag === undefined ? this.posted.plain : this.posted.tagged
    const index = line.findIndex(({ options }) => wants(options, peer, message))
    return index < 0 ? undefined : line.splice(index, 1)[0]
  }

  /** Takes out the message that a receive matches. */
  messageFor(options: ReceiveOptions): Unexpected | undefined {
    const line = options.tag === undefined ? this.waiting.plain : this.waiting.tagged
    const index = line.findIndex(({ peer, first }) => wants(options, peer, first))
    return index < 0 ? undefined : line.splice(index, 1)[0]
  }

  post(receive: MessageReceive): void {
    const line = receive.options.tag === undefined ? this.posted.plain : this.posted.tagged
    line.push(receive)
  }

  keep(message: Unexpected): void {
    const line = message.first.tag === undefined ? this.waiting.plain : this.waiting.tagged
    line.push(message)
  }

  /** Takes out the receives, or messages, that are meant. */
  removeReceives(which: (receive: MessageReceive) => boolean): ReadonlyArray<MessageReceive> {
    return [...removeWhere(this.posted.plain, which), ...removeWhere(this.posted.tagged, which)]
  }
  removeMessages(which: (message: Unexpected) => boolean): ReadonlyArray<Unexpected> {
    return [...removeWhere(this.waiting.plain, which), ...removeWhere(this.waiting.tagged, which)]
  }
}

const removeWhere = <A>(line: Array<A>, which: (item: A) => boolean): ReadonlyArray<A> => {
  const removed = line.filter(which)
  if (removed.length > 0) line.splice(0, line.length, ...line.filter((item) => !which(item)))
  return removed
}
