import {
  Access,
  bytesOf,
  checkSges,
  type Memory,
  MemoryFault,
  type MemoryUser,
  moveSges,
  type ReceiveRequest,
} from "@rdmakit/protocol"

/** A receive queue. */
export class Receives {
  private readonly most: number
  private waiting: Array<ReceiveRequest> = []

  /** @param most receives posted and not completed */
  constructor(most: number) {
    this.most = most
  }

  get outstanding(): number {
    return this.waiting.length
  }
  /** The oldest. */
  get first(): ReceiveRequest | undefined {
    return this.waiting[0]
  }

  /** @throws RangeError when it is full: the device has counted */
  post(request: ReceiveRequest): void {
    if (this.waiting.length >= this.most) throw new RangeError(`receive queue: more than ${this.most} receives`)
    this.waiting.push(request)
  }
  take(): ReceiveRequest {
    return this.waiting.shift()!
  }
  takeAll(): ReadonlyArray<ReceiveRequest> {
    const all = this.waiting
    this.waiting = []
    return all
  }
}

export const roomOf = ({ sges }: ReceiveRequest): number => bytesOf(sges)

/** Writes a payload into a receive that has room for it; nothing is written after a fault. */
export const fillReceive = (
  memory: Memory,
  user: MemoryUser,
  { sges }: ReceiveRequest,
  octets: Uint8Array,
  start: number,
  bytes: number,
): MemoryFault => {
  const fault = checkSges(memory, user, sges, Access.LocalWrite)
  return fault === MemoryFault.None ? moveSges(memory, user, sges, 0, bytes, octets, start, true) : fault
}
