import { unwritable } from "./CaptureError.ts"
import { joinLinkType } from "./Interface.ts"
import { type CaptureSink, fits, Output } from "./Output.ts"
import { pcapMagics } from "./Pcap.ts"

const SECONDS_END = 0x100000000
const NANOSECONDS = 1_000_000_000n

export interface PcapWriterOptions {
  /** LINKTYPE_ number: 1 Ethernet, 247 InfiniBand. */
  readonly linkType: number
  /** Of the written times; nanoseconds by default. Finer times are rounded down to it. */
  readonly resolution?: "microseconds" | "nanoseconds" | undefined
  /** 262,144 octets by default, as tcpdump has it. A longer packet is cut to it. */
  readonly snapLength?: number | undefined
  /** By default little-endian, as all common machines write it. */
  readonly littleEndian?: boolean | undefined
  /** Octets of frame check sequence at the end of each packet: even, up to 30. Not said by default. */
  readonly fcsOctets?: number | undefined
}

/**
 * Writes a pcap file: its header at once, then a packet a call, handed on in chunks. Call {@link flush} at the end.
 * Throws a `CaptureError` with the reason `unwritable` for what pcap has no room for.
 */
export class PcapWriter {
  readonly #output: Output
  readonly #snapLength: number
  readonly #tickNs: bigint
  /** Packets written. */
  count = 0

  constructor(options: PcapWriterOptions, sink: CaptureSink) {
    const { linkType, resolution = "nanoseconds", snapLength = 262144, littleEndian = true, fcsOctets } = options
    if (!fits(snapLength, 32)) throw unwritable(0, "snap length", snapLength, "0 up to 2^32")
    const output = new Output(littleEndian, sink)
    const field = joinLinkType(linkType, fcsOctets)
    output.u32(pcapMagics[resolution])
    output.u16(2)
    output.u16(4)
    output.u32(0)
    output.u32(0)
    output.u32(snapLength)
    output.u32(field)
    this.#output = output
    this.#snapLength = snapLength
    this.#tickNs = resolution === "nanoseconds" ? 1n : 1000n
  }

  /** Writes one packet, `timeNs` nanoseconds after the epoch: 0 up to 2^32 seconds. */
  packet(timeNs: bigint, data: Uint8Array, originalOctets: number = data.length): void {
    const seconds = Number(timeNs / NANOSECONDS)
    if (timeNs < 0n || seconds >= SECONDS_END) {
      throw unwritable(this.count + 1, "time", `${timeNs} ns`, "0 up to 2^32 seconds; pcapng has more")
    }
    if (!fits(originalOctets, 32)) throw unwritable(this.count + 1, "original octets", originalOctets, "0 up to 2^32")
    const captured = Math.min(data.length, this.#snapLength)
    this.#output.u32(seconds)
    this.#output.u32(Number((timeNs % NANOSECONDS) / this.#tickNs))
    this.#output.u32(captured)
    this.#output.u32(originalOctets)
    this.#output.octets(captured === data.length ? data : data.subarray(0, captured))
    this.count++
  }

  /** Hands on what is written so far. */
  flush(): void {
    this.#output.flush()
  }
}
