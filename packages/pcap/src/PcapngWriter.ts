import { type CaptureError, unwritable } from "./CaptureError.ts"
import { type CaptureInterface, resolutionCode, timeOptions } from "./Interface.ts"
import { type CaptureOption, NO_OPTIONS, numberOption, type OptionBlock, optionCodes, swapOption } from "./Option.ts"
import { type CaptureSink, fits, Output } from "./Output.ts"
import { BYTE_ORDER_MAGIC, blockTypes } from "./Pcapng.ts"
import type { CaptureRecord, PacketRecord, ResolvedName } from "./Record.ts"

export interface PcapngWriterOptions {
  /** By default little-endian. */
  readonly littleEndian?: boolean | undefined
}

export interface PcapngInterface {
  readonly linkType: number
  /** 0, the default, is no limit. */
  readonly snapLength?: number | undefined
  /** 10^9 by default, a power of ten or two. Unless `options` have an `if_tsresol`, which then decides. */
  readonly ticksPerSecond?: bigint | undefined
  /** 0 by default; `options` may have an `if_tsoffset` instead. */
  readonly offsetSeconds?: bigint | undefined
  readonly fcsOctets?: number | undefined
  readonly options?: ReadonlyArray<CaptureOption> | undefined
}

const TICKS_END = 1n << 64n
const codes = optionCodes.interface

/**
 * Writes a pcapng file, one block a call, handed on in chunks. A section header without options is written first
 * unless {@link section} was called. Call {@link flush} at the end. Throws a {@link CaptureError} with the reason
 * `unwritable` for what the format has no room for.
 */
export class PcapngWriter {
  readonly #output: Output
  /** Snap lengths of the interfaces of this section. */
  #snapLengths: Array<number> = []
  #known = new Map<CaptureInterface, number>()
  #open = false
  /** Blocks written. */
  count = 0

  constructor(options: PcapngWriterOptions, sink: CaptureSink) {
    this.#output = new Output(options.littleEndian ?? true, sink)
  }

  /** Starts a section: its interfaces are described anew. */
  section(options: ReadonlyArray<CaptureOption> = NO_OPTIONS): void {
    const output = this.#output
    this.#snapLengths = []
    this.#known = new Map()
    this.#open = true
    const length = this.#head(blockTypes.section, 16, options)
    output.u32(BYTE_ORDER_MAGIC)
    output.u16(1)
    output.u16(0)
    output.u64(-1n)
    this.#options("section", options)
    output.u32(length)
  }

  /** Describes an interface; answers its number in this section. */
  interface(described: PcapngInterface): number {
    this.#begin()
    const output = this.#output
    const { linkType, snapLength = 0 } = described
    const options = this.#interfaceOptions(described)
    const length = this.#head(blockTypes.interface, 8, options)
    output.u16(linkType)
    output.u16(0)
    output.u32(snapLength)
    this.#options("interface", options)
    output.u32(length)
    this.#snapLengths.push(snapLength)
    return this.#snapLengths.length - 1
  }

  /** Writes one packet. `ticks` are in the resolution of the interface and do not include its `offsetSeconds`. */
  packet(
    interfaceId: number,
    ticks: bigint,
    data: Uint8Array,
    originalOctets: number = data.length,
    options: ReadonlyArray<CaptureOption> = NO_OPTIONS,
  ): void {
    const output = this.#output
    this.#check(interfaceId, ticks)
    this.#checkOctets(originalOctets)
    const length = this.#head(blockTypes.enhancedPacket, 20 + paddedOctets(data.length), options)
    output.u32(interfaceId)
    output.halves(ticks)
    output.u32(data.length)
    output.u32(originalOctets)
    output.padded(data)
    this.#options("packet", options)
    output.u32(length)
  }

  /** Writes a packet without a time, of the first interface. Its length must follow from that one's snap length. */
  simplePacket(data: Uint8Array, originalOctets: number = data.length): void {
    this.#check(0, 0n)
    this.#checkOctets(originalOctets)
    const snapLength = this.#snapLengths[0]!
    const captured = snapLength === 0 ? originalOctets : Math.min(originalOctets, snapLength)
    if (captured !== data.length) {
      throw this.#unwritable("packet without a time", `${data.length} octets`, `${captured}, by the snap length`)
    }
    const length = this.#head(blockTypes.simplePacket, 4 + paddedOctets(data.length))
    this.#output.u32(originalOctets)
    this.#output.padded(data)
    this.#output.u32(length)
  }

  /** Writes names of addresses. */
  names(entries: ReadonlyArray<ResolvedName>, options: ReadonlyArray<CaptureOption> = NO_OPTIONS): void {
    this.#begin()
    const output = this.#output
    const values = entries.map(nameValue)
    const size = values.reduce((sum, value) => sum + this.#valueOctets(value, "names of an address"), 4)
    const length = this.#head(blockTypes.names, size, options)
    values.forEach((value, index) => {
      output.u16(entries[index]!.type)
      output.u16(value.length)
      output.padded(value)
    })
    output.u32(0)
    this.#options("names", options)
    output.u32(length)
  }

  /** Writes counters of an interface. */
  statistics(interfaceId: number, ticks: bigint, options: ReadonlyArray<CaptureOption> = NO_OPTIONS): void {
    this.#check(interfaceId, ticks)
    const length = this.#head(blockTypes.statistics, 12, options)
    this.#output.u32(interfaceId)
    this.#output.halves(ticks)
    this.#options("statistics", options)
    this.#output.u32(length)
  }

  /** Writes keys for decryption. */
  secrets(secretsType: number, data: Uint8Array, options: ReadonlyArray<CaptureOption> = NO_OPTIONS): void {
    this.#begin()
    const length = this.#head(blockTypes.secrets, 8 + paddedOctets(data.length), options)
    this.#output.u32(secretsType)
    this.#output.u32(data.length)
    this.#output.padded(data)
    this.#options("secrets", options)
    this.#output.u32(length)
  }

  /** Writes a custom block; octets missing to a multiple of four are zero. */
  custom(enterprise: number, copyable: boolean, data: Uint8Array): void {
    this.#begin()
    const length = this.#head(copyable ? blockTypes.custom : blockTypes.customLocal, 4 + paddedOctets(data.length))
    this.#output.u32(enterprise)
    this.#output.padded(data)
    this.#output.u32(length)
  }

  /**
   * Writes a record that was read from any capture. An interface is described before its first packet when its own
   * record was not written in this section. A section record starts a section: leave those out to join captures.
   */
  record(record: CaptureRecord): void {
    if (record.kind === "packet") this.#packetRecord(record)
    else if (record.kind === "section") this.section(record.options)
    else if (record.kind === "interface") this.#interfaceId(record.interface)
    else if (record.kind === "names") this.names(record.entries, record.options)
    else if (record.kind === "statistics") {
      this.statistics(this.#interfaceId(record.interface), record.ticks, record.options)
    } else if (record.kind === "secrets") this.secrets(record.secretsType, record.data, record.options)
    else if (record.kind === "custom") this.custom(record.enterprise, record.copyable, record.data)
    else this.#block(record.type, record.littleEndian, record.body)
  }

  /** Hands on what is written so far. */
  flush(): void {
    this.#begin()
    this.#output.flush()
  }

  #packetRecord(packet: PacketRecord): void {
    const id = this.#interfaceId(packet.interface)
    const { ticks } = packet
    if (ticks !== undefined) this.packet(id, ticks, packet.data, packet.originalOctets, packet.options)
    else if (id === 0) this.simplePacket(packet.data, packet.originalOctets)
    else throw this.#unwritable("packet without a time", `interface ${id}`, "interface 0")
  }

  #interfaceId(from: CaptureInterface): number {
    const known = this.#known.get(from)
    if (known !== undefined) return known
    const id = this.interface(from)
    this.#known.set(from, id)
    return id
  }

  /** A block whose meaning is unknown keeps its octets, so it fits a section of its own byte order alone. */
  #block(type: number, littleEndian: boolean, body: Uint8Array): void {
    this.#begin()
    if (littleEndian !== this.#output.littleEndian) {
      throw this.#unwritable(`block ${type}`, littleEndian ? "little-endian" : "big-endian", "the byte order written")
    }
    const length = this.#head(type, paddedOctets(body.length))
    this.#output.padded(body)
    this.#output.u32(length)
  }

  #interfaceOptions(described: PcapngInterface): ReadonlyArray<CaptureOption> {
    const given = described.options ?? NO_OPTIONS
    const options = [...given]
    const has = (code: number): boolean => given.some((option) => option.code === code)
    const { offsetSeconds = 0n, fcsOctets, linkType } = described
    if (!fits(linkType, 16)) throw this.#unwritable("link type", linkType, "0..65535")
    if (!has(codes.resolution)) {
      const ticksPerSecond = described.ticksPerSecond ?? 1_000_000_000n
      const code = resolutionCode(ticksPerSecond)
      if (code === undefined) throw this.#unwritable("ticks in a second", ticksPerSecond, "a power of 10 or 2")
      // Microseconds are what an interface has that says nothing.
      if (ticksPerSecond !== timeOptions(NO_OPTIONS).ticksPerSecond)
        options.push(numberOption(codes.resolution, code, 1))
    }
    if (!has(codes.timeOffset) && offsetSeconds !== 0n) options.push(numberOption(codes.timeOffset, offsetSeconds, 8))
    // The draft counts bits.
    if (!has(codes.fcsLength) && fcsOctets !== undefined) options.push(numberOption(codes.fcsLength, fcsOctets * 8, 1))
    return options
  }

  #begin(): void {
    if (!this.#open) this.section()
  }

  #checkOctets(originalOctets: number): void {
    if (!fits(originalOctets, 32)) throw this.#unwritable("original octets", originalOctets, "0 up to 2^32")
  }

  #check(interfaceId: number, ticks: bigint): void {
    this.#begin()
    if (interfaceId < 0 || interfaceId >= this.#snapLengths.length) {
      throw this.#unwritable("interface", interfaceId, `below ${this.#snapLengths.length}, those described`)
    }
    if (ticks < 0n || ticks >= TICKS_END) throw this.#unwritable("ticks", ticks, "0 up to 2^64")
  }

  /** Type and total length of a block with a body of so many octets before its options. */
  #head(type: number, octets: number, options: ReadonlyArray<CaptureOption> = NO_OPTIONS): number {
    const end = options.length === 0 ? 0 : 4
    const length = options.reduce((sum, { value }) => sum + this.#valueOctets(value, "option"), 12 + octets + end)
    this.#output.u32(type)
    this.#output.u32(length)
    this.count++
    return length
  }

  /** Octets of a value with its code and length, which has 16 bits. */
  #valueOctets({ length }: Uint8Array, field: string): number {
    if (length > 0xffff) throw this.#unwritable(field, `${length} octets`, "at most 65535")
    return 4 + paddedOctets(length)
  }

  #options(block: OptionBlock, options: ReadonlyArray<CaptureOption>): void {
    if (options.length === 0) return
    const output = this.#output
    for (const option of options) {
      output.u16(option.code)
      output.u16(option.value.length)
      output.padded(output.littleEndian ? option.value : swapOption(block, option))
    }
    output.u32(0)
  }

  #unwritable(field: string, found: string | number | bigint, expected: string): CaptureError {
    return unwritable(this.count + 1, field, found, expected)
  }
}

const paddedOctets = (octets: number): number => octets + (-octets & 3)

const nameValue = ({ address, names }: ResolvedName): Uint8Array => {
  const texts = names.map((name) => new TextEncoder().encode(`${name}\0`))
  const value = new Uint8Array(address.length + texts.reduce((sum, text) => sum + text.length, 0))
  value.set(address)
  let at = address.length
  for (const text of texts) {
    value.set(text, at)
    at += text.length
  }
  return value
}
