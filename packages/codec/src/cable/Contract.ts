import type { Time } from "@rdmakit/units"

/** Takes a packet that arrived. The octets from `start` to `end` are lent for the call. */
export type Receive = (now: Time, octets: Uint8Array, start: number, end: number) => void

/**
 * What carries packets of octets both ways: a socket, a simulated link, or either with a middleware in front of it. It has
 * no clock of its own but the one it was given: whoever calls it says the time.
 */
export interface Cable {
  /** What octets begin with: an Ethernet header, without preamble and FCS, or an IP header. */
  readonly layer: "ethernet" | "ip"
  /** Whom packets that arrive are for; whoever uses a cable sets it. */
  receive: Receive
  /**
   * Sends the packet from `start` to `end`. True: the octets are the caller's again. False: they are still read, until
   * `pending` is 0.
   */
  send(now: Time, octets: Uint8Array, start: number, end: number): boolean
  /** Packets whose octets are still read; who sends more waits until there are none. */
  readonly pending: number
  /** When `handleTimer` is wanted; NEVER when it is not. */
  readonly nextTimer: Time
  /** Told when `nextTimer` has become earlier because of what arrived; whoever uses a cable sets it. */
  wake: () => void
  handleTimer(now: Time): void
  close(): void
}

/** A cable with something done to what passes: by default nothing. */
export abstract class Middleware implements Cable {
  receive: Receive = () => {}
  wake: () => void = () => {}
  protected readonly inner: Cable

  constructor(inner: Cable) {
    this.inner = inner
    inner.receive = (now, octets, start, end) => {
      this.arrived(now, octets, start, end)
    }
    inner.wake = () => {
      this.wake()
    }
  }

  get layer(): Cable["layer"] {
    return this.inner.layer
  }
  get pending(): number {
    return this.inner.pending
  }
  get nextTimer(): Time {
    return this.inner.nextTimer
  }

  /** A packet came from the cable. */
  protected arrived(now: Time, octets: Uint8Array, start: number, end: number): void {
    this.receive(now, octets, start, end)
  }

  send(now: Time, octets: Uint8Array, start: number, end: number): boolean {
    return this.inner.send(now, octets, start, end)
  }

  handleTimer(now: Time): void {
    this.inner.handleTimer(now)
  }

  close(): void {
    this.inner.close()
  }
}
