import type { Cable, Receive } from "@rdmakit/codec/cable"
import { NEVER, type Time } from "@rdmakit/protocol"
import { type Clock, openSoftnic, type Softnic, type SoftnicOptions } from "../src/index.ts"

/** A cable whose other end is the test. */
export class Tap implements Cable {
  readonly layer = "ethernet"
  readonly nextTimer: Time = NEVER
  pending = 0
  receive: Receive = () => {}
  wake: () => void = () => {}
  closed = false
  /** What the device sent and nobody has taken. */
  readonly sent: Array<Uint8Array> = []
  private readonly clock: Clock
  /** Sends stay with the cable while it is so. */
  keeps = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  send(_now: Time, octets: Uint8Array, start: number, end: number): boolean {
    this.sent.push(octets.slice(start, end))
    if (this.keeps) this.pending++
    return !this.keeps
  }
  handleTimer(): void {}
  close(): void {
    this.closed = true
  }

  /** A frame arrives. */
  give(frame: Uint8Array): void {
    this.receive(this.clock.now(), frame, 0, frame.length)
  }
  /** The frames that were sent since the last call. */
  take(): ReadonlyArray<Uint8Array> {
    return this.sent.splice(0)
  }
}

/** A device at 10.0.0.2/24 and fd00::2/64, and its cable. */
export const openTapped = async (
  ethernet: { readonly vlan?: number; readonly gateways?: ReadonlyArray<string>; readonly mtuBytes?: number } = {},
  common: Omit<SoftnicOptions, "link"> = {},
): Promise<{ readonly softnic: Softnic; readonly tap: Tap }> => {
  let tap: Tap | undefined
  const softnic = await openSoftnic({
    ...common,
    link: {
      cable: (clock) => {
        tap = new Tap(clock)
        return tap
      },
      ethernet: { mac: "52:54:00:00:00:02", addresses: ["10.0.0.2/24", "fd00::2/64"], ...ethernet },
    },
  })
  return { softnic, tap: tap! }
}

/** Octets from hexadecimal digits; spaces are for people. */
export const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"))

export const textOf = (octets: Uint8Array): string => Buffer.from(octets).toString("hex")
