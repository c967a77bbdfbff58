import { Layout, type Packet } from "@rdmakit/packet"
import { MemoryFault, WcStatus } from "@rdmakit/protocol"
import { Part } from "./Bth.ts"
import type { QueuePairContext } from "./QueuePairContext.ts"
import { Kind, type SendWork } from "./SendQueue.ts"
import { SgeCursor } from "./SgeCursor.ts"

const { EXT, EXTENSION_SHIFT } = Layout
const ATOMIC_BYTES = 8

/** What READs and atomics bring back, into the requester's memory. */
export class Responses {
  private readonly context: QueuePairContext
  private readonly scatter = new SgeCursor()
  private scattered: SendWork | undefined = undefined
  private readonly original = new Uint8Array(ATOMIC_BYTES)

  constructor(context: QueuePairContext) {
    this.context = context
  }

  /** Whether this is the response of this work. An ATOMIC_WRITE is answered as a READ of no bytes is. */
  belongs(work: SendWork, parts: number): boolean {
    if (!work.started) return false
    if ((parts & Part.Atomic) !== 0) return work.kind === Kind.Atomic
    return work.kind === Kind.Read || work.kind === Kind.AtomicWrite
  }

  /** Takes packet `index` of the response. Another status than Success ends the work (IBTA 1.7 §9.9.2). */
  take(work: SendWork, index: number, packet: Packet, parts: number): WcStatus {
    if (work.kind === Kind.Atomic) return this.takeAtomic(work, packet)
    const { pathMtuBytes } = this.context.settings
    const bytes = work.kind === Kind.Read ? work.bytes : 0
    const offset = index * pathMtuBytes
    const left = bytes - offset
    const expected = left < pathMtuBytes ? left : pathMtuBytes
    // FIRST or MIDDLE, LAST or ONLY: what was asked for again begins anew; of selective repeat it also ends early.
    const last = index === work.packets - 1
    const ends = (parts & Part.End) !== 0
    if (last !== ends && (last || this.context.config.recovery === "go-back-n")) return WcStatus.BadRespErr
    if (packet.payloadBytes !== expected) return WcStatus.LocLenErr
    return expected === 0 ? WcStatus.Success : this.write(work, offset, packet)
  }

  private write(work: SendWork, offset: number, packet: Packet): WcStatus {
    const { payload } = packet
    if (payload === undefined) return WcStatus.BadRespErr
    return this.put(work, offset, payload.octets, payload.start, packet.payloadBytes)
  }

  private put(work: SendWork, offset: number, octets: Uint8Array, start: number, bytes: number): WcStatus {
    if (this.scattered !== work) {
      this.scattered = work
      this.scatter.set(work.request.sges)
    }
    const { memory, user } = this.context
    const fault = this.scatter.write(memory, user, offset, octets, start, bytes)
    return fault === MemoryFault.None ? WcStatus.Success : WcStatus.LocProtErr
  }

  /** What was there before, low octet first, as it lies in memory. */
  private takeAtomic(work: SendWork, packet: Packet): WcStatus {
    const at = packet.extension << EXTENSION_SHIFT
    const { extension } = packet.pool
    for (let octet = 0; octet < ATOMIC_BYTES; octet++) {
      const word = extension[at + EXT.compare + (octet < 4 ? 1 : 0)]!
      this.original[octet] = word >>> (8 * (octet & 3))
    }
    return this.put(work, 0, this.original, 0, work.bytes < ATOMIC_BYTES ? work.bytes : ATOMIC_BYTES)
  }
}
