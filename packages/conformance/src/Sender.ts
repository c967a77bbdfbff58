import { type Controller, NEVER, type Time } from "@rdmakit/protocol"

/** Bits in a byte times ps in a second: bytes, times this, over bit/s, are ps. */
export const BIT_PS = 8e12

/** One sender of a dumbbell. */
export interface DumbbellFlow {
  /** When it starts, ps. Default 0. */
  readonly startPs?: Time
  /** When it stops sending, ps. Default: never. */
  readonly stopPs?: Time
  /** How much it has to send, bytes. Default: without end. */
  readonly bytes?: number
}

/** State of one sender and its receiver. */
export class Sender {
  readonly controller: Controller
  readonly stopPs: Time
  readonly bytes: number
  next = 0
  acknowledged = 0
  lastBytes = 0
  lastSentPs: Time
  progressPs: Time
  expected = 0
  nakked = -1
  nextCnpPs: Time = 0
  finishedPs: Time = NEVER

  constructor(controller: Controller, flow: DumbbellFlow) {
    this.controller = controller
    this.lastSentPs = flow.startPs ?? 0
    this.progressPs = this.lastSentPs
    this.stopPs = flow.stopPs ?? NEVER
    this.bytes = flow.bytes ?? Number.MAX_SAFE_INTEGER
  }

  /** When pacing and window let the next packet go; NEVER while the window is full or nothing is left. */
  sendTime(): Time {
    if (this.next >= this.bytes || this.next - this.acknowledged >= this.controller.window) return NEVER
    const time = this.lastSentPs + Math.ceil((this.lastBytes * BIT_PS) / this.controller.rate)
    return time < this.stopPs ? time : NEVER
  }
}
