import type { Time } from "@rdmakit/protocol"
import { FpduFramer } from "@rdmakit/wire/mpa"
import { emitRdmap, type Rdmap as RdmapHeader, rdmapBytes } from "@rdmakit/wire/rdmap"
import type { MessageStream } from "./rdmap/Dialect.ts"
import type { Outbound, Outgoing } from "./rdmap/Outbound.ts"
import { Bit, Rdmap } from "./rdmap/Segment.ts"

const NONE = new Uint8Array(0)
const ALL_BITS = 2n ** 64n - 1n

export interface WriterMode {
  readonly crc: boolean
  /** The peer wants markers in what it receives. */
  readonly markers: boolean
  /** Payload of a segment at most, bytes. */
  readonly segmentBytes: number
}

/** Makes FPDUs of messages, one after the other: DDP segments with RDMAP's headers, numbered by queue. */
export class SegmentWriter implements MessageStream {
  private readonly outbound: Outbound
  private readonly framer: FpduFramer
  private readonly segmentBytes: number
  private message: Outgoing | undefined = undefined
  private number = 0
  private offset = 0
  /** The WRITE has left, and its immediate has not. */
  private immediateLeft = false
  /** Messages of each untagged queue so far (RFC 5041 §4.3): SENDs, requests, Terminates, atomic responses. */
  private readonly sequence = new Uint32Array(4)

  constructor(outbound: Outbound, { crc, markers, segmentBytes }: WriterMode) {
    this.outbound = outbound
    this.framer = new FpduFramer({ crc, markers })
    this.segmentBytes = segmentBytes
  }

  get idle(): boolean {
    return this.message === undefined
  }

  command(_now: Time, { message }: { readonly message: number; readonly writeBytes: number }): void {
    this.message = this.outbound.at(message)
    this.number = message
    this.offset = 0
    this.immediateLeft = false
  }

  /** The next FPDU of the message; undefined: its memory is gone. `onLeft` is told when it was the message's last. */
  next(onLeft: (message: Outgoing) => void): Uint8Array | undefined {
    const message = this.message!
    if (this.immediateLeft) {
      const unit = this.immediate(message)
      this.finish(onLeft)
      return unit
    }
    const { offset } = this
    const bytes = Math.min(message.bytes - offset, this.segmentBytes)
    const last = offset + bytes === message.bytes
    const unit = this.segment(message, offset, bytes, last)
    if (unit === undefined) return undefined
    this.offset += bytes
    if (last && message.opcode === Rdmap.Write && (message.lastBits & Bit.Immediate) !== 0) this.immediateLeft = true
    else if (last) this.finish(onLeft)
    return unit
  }

  /** A WRITE of no octets: the ready-to-receive of RFC 6581 §9.2. */
  ready(): Uint8Array {
    return this.frame({ kind: "write", last: true, sinkStag: 0, sinkOffset: 0n }, NONE)
  }

  /** A Terminate, and nothing after it. */
  terminate(terminate: Extract<RdmapHeader, { kind: "terminate" }>["terminate"]): Uint8Array {
    return this.frame({ kind: "terminate", last: true, messageSequence: this.nextOf(2), terminate }, NONE)
  }

  private finish(onLeft: (message: Outgoing) => void): void {
    this.message = undefined
    const message = this.outbound.taken(this.number)!
    this.outbound.left(message)
    onLeft(message)
  }

  private segment(message: Outgoing, offset: number, bytes: number, last: boolean): Uint8Array | undefined {
    const header = this.header(message, offset, last)
    if (bytes === 0) return this.frame(header, NONE)
    const headerBytes = rdmapBytes(header)
    const octets = new Uint8Array(headerBytes + bytes)
    if (!this.outbound.copyPayload(message, offset, bytes, octets, headerBytes)) return undefined
    emitRdmap(header, octets)
    return this.framer.frame(octets)
  }

  private header(message: Outgoing, offset: number, last: boolean): RdmapHeader {
    const { opcode, key, work } = message
    const address = (BigInt(message.addressHigh) << 32n) + BigInt(message.addressLow)
    const request = work?.request
    switch (opcode) {
      case Rdmap.Write:
        return { kind: "write", last, sinkStag: key, sinkOffset: (address + BigInt(offset)) & ALL_BITS }
      case Rdmap.ReadResponse: {
        const sinkOffset = (message.sinkOffset + BigInt(offset)) & ALL_BITS
        return { kind: "readResponse", last, sinkStag: message.sinkKey, sinkOffset }
      }
      case Rdmap.ReadRequest: {
        const [sink] = request!.sges
        return {
          kind: "readRequest",
          last,
          messageSequence: this.nextOf(1),
          sinkStag: sink?.lkey ?? 0,
          sinkOffset: BigInt(sink?.address ?? 0),
          bytes: work!.bytes,
          sourceStag: key,
          sourceOffset: address,
        }
      }
      case Rdmap.AtomicRequest: {
        const messageSequence = this.nextOf(1)
        const { compareAdd = 0n, swap = 0n } = request!
        const operation =
          (message.lastBits & Bit.Swap) !== 0
            ? ({ kind: "compareSwap", swap, swapMask: ALL_BITS, compare: compareAdd, compareMask: ALL_BITS } as const)
            : // A mask's bits say where carries end (RFC 7306 §5.1.1): nowhere but at the top.
              ({ kind: "fetchAdd", add: compareAdd, addMask: 0n } as const)
        const remote = { remoteStag: key, remoteOffset: address }
        return { kind: "atomicRequest", last, messageSequence, requestId: messageSequence, ...remote, operation }
      }
      case Rdmap.AtomicResponse: {
        const { requestId, original } = message
        return { kind: "atomicResponse", last, messageSequence: this.nextOf(3), requestId, original }
      }
      default: {
        if (offset === 0) this.nextOf(0)
        const { lastBits } = message
        return {
          kind: "send",
          last,
          messageSequence: this.sequence[0]!,
          messageOffset: offset,
          solicited: (lastBits & Bit.Solicited) !== 0,
          invalidatedStag: (lastBits & Bit.Invalidate) !== 0 ? (request!.invalidateKey ?? 0) : undefined,
        }
      }
    }
  }

  private immediate({ work, lastBits }: Outgoing): Uint8Array {
    const data = BigInt(work!.request.immediate ?? 0)
    const solicited = (lastBits & Bit.Solicited) !== 0
    return this.frame({ kind: "immediate", last: true, messageSequence: this.nextOf(0), solicited, data }, NONE)
  }

  private nextOf(queue: number): number {
    this.sequence[queue]!++
    return this.sequence[queue]!
  }

  private frame(header: RdmapHeader, payload: Uint8Array): Uint8Array {
    const octets = new Uint8Array(rdmapBytes(header) + payload.length)
    emitRdmap(header, octets)
    octets.set(payload, rdmapBytes(header))
    return this.framer.frame(octets)
  }
}
