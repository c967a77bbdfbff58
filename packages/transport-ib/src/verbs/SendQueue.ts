import { packetsOf } from "@rdmakit/packet"
import { bytesOf, type SendRequest, WcStatus, WrOpcode } from "@rdmakit/protocol"

/** What a work request comes to on the wire. */
export const Kind = {
  /** SEND or RDMA WRITE: an acknowledgement ends it. */
  Message: 0,
  /** These end with a response of their own. */
  Read: 1,
  Atomic: 2,
  AtomicWrite: 3,
  /** It sends nothing. */
  Local: 4,
} as const
export type Kind = (typeof Kind)[keyof typeof Kind]

const kinds: Readonly<Record<WrOpcode, Kind>> = {
  [WrOpcode.RdmaWrite]: Kind.Message,
  [WrOpcode.RdmaWriteWithImm]: Kind.Message,
  [WrOpcode.Send]: Kind.Message,
  [WrOpcode.SendWithImm]: Kind.Message,
  [WrOpcode.RdmaRead]: Kind.Read,
  [WrOpcode.AtomicCmpAndSwp]: Kind.Atomic,
  [WrOpcode.AtomicFetchAndAdd]: Kind.Atomic,
  [WrOpcode.LocalInv]: Kind.Local,
  [WrOpcode.BindMw]: Kind.Local,
  [WrOpcode.SendWithInv]: Kind.Message,
  [WrOpcode.AtomicWrite]: Kind.AtomicWrite,
}

const TWO_32 = 2 ** 32

/** A send work request on its way through the queue. Packets and bytes are counted from the queue pair's start. */
export class SendWork {
  readonly request: SendRequest
  readonly kind: Kind
  readonly bytes: number
  /** Number of its first packet, unwrapped, and how many numbers it takes: a READ takes those of its response. */
  readonly firstPacket: number
  readonly packets: number
  /** Bytes of SENDs and WRITEs before it. */
  readonly firstByte: number
  /** Which of the requests on the wire it is, from 1 (SSN, IBTA 1.7 §9.7.7.2). */
  readonly sequence: number
  readonly addressHigh: number
  readonly addressLow: number
  /** Its first packet has left, or it has been carried out. */
  started = false
  /** It only waits for those before it. */
  done = false
  /** What was found wrong with it before its turn to complete. */
  status: WcStatus = WcStatus.Success
  /** Its scatter-gather list has been found good. */
  checked = false

  constructor(
    request: SendRequest,
    mtuBytes: number,
    after: SendWork | undefined,
    firstPacket: number,
    onePacket: boolean,
  ) {
    const kind = kinds[request.opcode]
    const bytes = kind === Kind.Local ? 0 : (request.inline?.length ?? bytesOf(request.sges))
    this.request = request
    this.kind = kind
    this.bytes = bytes
    this.firstPacket = firstPacket
    this.packets = kind === Kind.Local ? 0 : kind >= Kind.Atomic || onePacket ? 1 : packetsOf(bytes, mtuBytes)
    this.firstByte = after === undefined ? 0 : after.firstByte + (after.kind === Kind.Message ? after.bytes : 0)
    this.sequence = (after?.sequence ?? 0) + (kind === Kind.Local ? 0 : 1)
    const address = request.remoteAddress ?? 0
    if (typeof address === "bigint") {
      this.addressHigh = Number((address >> 32n) & 0xffffffffn)
      this.addressLow = Number(address & 0xffffffffn)
    } else {
      this.addressHigh = Math.floor(address / TWO_32)
      this.addressLow = address % TWO_32
    }
  }

  /** Number after its last packet. */
  get end(): number {
    return this.firstPacket + this.packets
  }
  /** It needs a receive of the peer's. */
  get consumesReceive(): boolean {
    const { opcode } = this.request
    return this.kind === Kind.Message && opcode !== WrOpcode.RdmaWrite
  }
}

/** Work that has left is cut off the front of the array once there is this much, and half of it. */
const SLACK = 64

/** The send queue: work in the order it was posted, and how far sending has come. */
export class SendQueue {
  private readonly works: Array<SendWork> = []
  private readonly most: number
  private head = 0
  private cursor = 0
  /** The work posted last, complete or not. */
  private last: SendWork | undefined = undefined
  /** Number of the first packet of the work that is posted next. */
  end = 0

  /** @param most work requests it holds */
  constructor(most: number) {
    this.most = most
  }

  get length(): number {
    return this.works.length - this.head
  }
  /** The oldest that has not completed. */
  get oldest(): SendWork | undefined {
    return this.works[this.head]
  }
  /** The one that sending stands at; undefined: all has been sent. */
  get current(): SendWork | undefined {
    return this.works[this.cursor]
  }
  /** Bytes of SENDs and WRITEs in all that was posted. */
  get bytes(): number {
    const { last } = this
    return last === undefined ? 0 : last.firstByte + (last.kind === Kind.Message ? last.bytes : 0)
  }

  /** @param onePacket a message is one packet, whatever its size. @throws RangeError when it is full: the device has counted */
  post(request: SendRequest, mtuBytes: number, onePacket: boolean): void {
    if (this.length >= this.most) throw new RangeError(`send queue: more than ${this.most} work requests`)
    const work = new SendWork(request, mtuBytes, this.last, this.end, onePacket)
    this.last = work
    this.end = work.end
    this.works.push(work)
  }

  /** Sending goes on with the one after. */
  advance(): void {
    this.cursor++
  }

  /** Takes the oldest out. */
  shift(): SendWork {
    const work = this.works[this.head++]!
    if (this.cursor < this.head) this.cursor = this.head
    if (this.head > SLACK && this.head * 2 > this.works.length) {
      this.works.splice(0, this.head)
      this.cursor -= this.head
      this.head = 0
    }
    return work
  }

  /** The work that packet `number` belongs to; undefined: none that is here. */
  holding(number: number): SendWork | undefined {
    for (let index = this.head; index < this.works.length; index++) {
      const work = this.works[index]!
      if (number < work.firstPacket) return undefined
      if (number < work.end) return work
    }
    return undefined
  }

  /** Sending goes back, or on, to the work that packet `number` belongs to, past what is done. */
  seek(number: number): void {
    let index = this.head
    while (index < this.works.length && (this.works[index]!.done || this.works[index]!.end <= number)) index++
    // Local work that has not been carried out takes no number: it stays ahead of what follows it.
    while (index > this.head && !this.works[index - 1]!.done && this.works[index - 1]!.kind === Kind.Local) index--
    this.cursor = index
  }

  /** @param end number of the next packet */
  clear(end: number): void {
    this.works.length = 0
    this.head = 0
    this.cursor = 0
    this.last = undefined
    this.end = end
  }
}
