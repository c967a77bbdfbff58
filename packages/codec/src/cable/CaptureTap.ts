import type { Time } from "@rdmakit/units"
import { type Cable, Middleware } from "./Contract.ts"

/** What takes the packets: a `PcapngWriter` of `@rdmakit/pcap` whose interface counts nanoseconds. */
export interface PacketSink {
  packet(
    interfaceId: number,
    ticks: bigint,
    data: Uint8Array,
    originalOctets?: number,
    options?: ReadonlyArray<{ readonly code: number; readonly value: Uint8Array }>,
  ): void
}

export interface CaptureTapOptions {
  /** The number that `PcapngWriter.interface` gave. Default 0. */
  readonly interfaceId?: number
  /** Nanoseconds since 1970 of time 0. Default 0. */
  readonly startNs?: bigint
}

/** Link types of capture files: Ethernet, and IP alone (https://www.tcpdump.org/linktypes.html). */
export const captureLinkTypes = { ethernet: 1, ip: 101 } as const

const PS_PER_NS = 1000
/** epb_flags: inbound and outbound (pcapng §4.3.1). */
const FLAGS = 2
const INBOUND = [{ code: FLAGS, value: new Uint8Array([1, 0, 0, 0]) }]
const OUTBOUND = [{ code: FLAGS, value: new Uint8Array([2, 0, 0, 0]) }]

/** Writes what passes a cable to a capture file, with its direction, in whole nanoseconds. */
export class CaptureTap extends Middleware {
  private readonly sink: PacketSink
  private readonly interfaceId: number
  private readonly startNs: bigint

  constructor(inner: Cable, sink: PacketSink, { interfaceId = 0, startNs = 0n }: CaptureTapOptions = {}) {
    super(inner)
    this.sink = sink
    this.interfaceId = interfaceId
    this.startNs = startNs
  }

  protected override arrived(now: Time, octets: Uint8Array, start: number, end: number): void {
    this.sink.packet(this.interfaceId, this.ticks(now), octets.subarray(start, end), end - start, INBOUND)
    super.arrived(now, octets, start, end)
  }

  override send(now: Time, octets: Uint8Array, start: number, end: number): boolean {
    this.sink.packet(this.interfaceId, this.ticks(now), octets.subarray(start, end), end - start, OUTBOUND)
    return super.send(now, octets, start, end)
  }

  private ticks(now: Time): bigint {
    return this.startNs + BigInt(Math.floor(now / PS_PER_NS))
  }
}
