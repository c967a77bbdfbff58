import type { Time } from "@rdmakit/protocol"
import { emitFpdu, FPDU_BYTES, FpduFramer, fpduBytes, sealFpdu } from "@rdmakit/wire/mpa"
import { emitRdmap, type Rdmap as RdmapHeader, rdmapBytes } from "@rdmakit/wire/rdmap"
import type { MessageStream } from "./rdmap/Dialect.ts"
import type { Outbound, Outgoing } from "./rdmap/Outbound.ts"
import { Bit, Rdmap } from "./rdmap/Segment.ts"

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
  private readonly crc: boolean
  /** Where the peer wants markers. */
  private readonly framer: FpduFramer | undefined
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
    this.crc = crc
    this.framer = markers ? new FpduFramer({ crc, markers }) : undefined
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
    return this.frame({ kind: "write", last: true, sinkStag: 0, sinkOffset: 0n })
  }

  /** A Terminate, and nothing after it. */
  terminate(terminate: Extract<RdmapHeader, { kind: "terminate" }>["terminate"]): Uint8Array {
    return this.frame({ kind: "terminate", last: true, messageSequence: this.nextOf(2), terminate })
  }

  private finish(onLeft: (message: Outgoing) => void): void {
    this.message = undefined
    const message = this.outbound.taken(this.number)!
    this.outbound.left(message)
    onLeft(message)
  }

  private segment(message: Outgoing, offset: number, bytes: number, last: boolean): Uint8Array | undefined {
    const header = this.header(message, offset, last)
    const headerBytes = rdmapBytes(header)
    const ulpduBytes = headerBytes + bytes
    // The payload goes from memory to where it leaves from: the framer would copy it once more, for its markers.
    const { framer } = this
    const start = framer === undefined ? FPDU_BYTES : 0
    const octets = new Uint8Array(framer === undefined ? fpduBytes(ulpduBytes) : ulpduBytes)
    if (bytes > 0 && !this.outbound.copyPayload(message, offset, bytes, octets, start + headerBytes)) return undefined
    emitRdmap(header, octets, start)
    return framer === undefined ? this.sealed(octets, ulpduBytes) : framer.frame(octets)
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
    return this.frame({ kind: "immediate", last: true, messageSequence: this.nextOf(0), solicited, data })
  }

  private nextOf(queue: number): number {
    this.sequence[queue]!++
    return this.sequence[queue]!
  }

  /** A header on its own. */
  private frame(header: RdmapHeader): Uint8Array {
    const ulpduBytes = rdmapBytes(header)
    const { framer } = this
    const octets = new Uint8Array(framer === undefined ? fpduBytes(ulpduBytes) : ulpduBytes)
    emitRdmap(header, octets, framer === undefined ? FPDU_BYTES : 0)
    return framer === undefined ? this.sealed(octets, ulpduBytes) : framer.frame(octets)
  }

  private sealed(octets: Uint8Array, ulpduBytes: number): Uint8Array {
    emitFpdu({ ulpduBytes }, octets)
    sealFpdu(octets, 0, this.crc)
    return octets
  }
}
