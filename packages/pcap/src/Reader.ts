import { CaptureError, type Complaint, ComplaintError } from "./CaptureError.ts"
import { isPcap, PCAP_HEADER_OCTETS, PcapDecoder } from "./Pcap.ts"
import { blockTypes, PcapngDecoder } from "./Pcapng.ts"
import type { CaptureRecord } from "./Record.ts"
import { Window } from "./Window.ts"

/** Wireshark's limit for a pcapng block; real packets are a thousand times smaller. */
const MOST_OCTETS = 16 * 1024 * 1024
/** Sums of lengths below stay within 32 bits. */
const LIMIT_OCTETS = 0x40000000

export interface CaptureReaderOptions {
  /** The name that errors give. */
  readonly file?: string | undefined
  /** The longest packet or block that is accepted, in octets; 16 MiB by default, 1 GiB at most. */
  readonly maxRecordOctets?: number | undefined
  /** Records are looked at one by one: their memory is used again. False by default. */
  readonly reuseMemory?: boolean | undefined
}

/**
 * Reads pcap and pcapng from octets that arrive in chunks of any size:
 *
 * ```ts
 * reader.push(octets)
 * for (let record = reader.next(); record !== undefined; record = reader.next()) { … }
 * ```
 *
 * When {@link next} has nothing more, the reader keeps nothing of the chunks that were pushed; the records it gave may
 * be views of them. Memory is bounded by the chunks not yet read and one record.
 */
export class CaptureReader {
  readonly file: string
  readonly #mostOctets: number
  readonly #window: Window
  #decoder: PcapDecoder | PcapngDecoder | undefined
  #introduced = false
  #ended = false
  #fault: CaptureError | undefined
  #records = 0
  #packets = 0

  constructor(options: CaptureReaderOptions = {}) {
    this.file = options.file ?? ""
    this.#window = new Window(options.reuseMemory)
    this.#mostOctets = Math.min(options.maxRecordOctets ?? MOST_OCTETS, LIMIT_OCTETS)
  }

  /** Octets read, from the start of the file to the end of the last record. */
  get offset(): number {
    return this.#window.offset
  }

  /** Packets read. */
  get packets(): number {
    return this.#packets
  }

  /** Takes the next octets of the file; they may not change before {@link next} has read them. */
  push(octets: Uint8Array): void {
    this.#window.push(octets)
  }

  /** Says that no more octets come. What is incomplete then is an error of {@link next}. */
  end(): void {
    this.#ended = true
  }

  /**
   * The next record, or undefined when more octets are needed or, after {@link end}, nothing is left. Throws a
   * {@link CaptureError}, and the same one at each further call.
   */
  next(): CaptureRecord | undefined {
    if (this.#fault !== undefined) throw this.#fault
    try {
      const record = this.#read()
      if (record === undefined && this.#ended) this.#checkEnd()
      return record
    } catch (error) {
      if (!(error instanceof ComplaintError)) throw error
      this.#fault = this.#error(error.complaint)
      throw this.#fault
    }
  }

  #read(): CaptureRecord | undefined {
    const decoder = this.#decoder
    if (decoder === undefined) return this.#start()
    if (!this.#introduced && decoder instanceof PcapDecoder) {
      this.#introduced = true
      return { kind: "interface", offset: 0, interface: decoder.interface }
    }
    const record = decoder.next(this.#window, this.#packets + 1)
    if (record === undefined) return undefined
    this.#records++
    if (record.kind === "packet") this.#packets++
    return record
  }

  #start(): CaptureRecord | undefined {
    const window = this.#window
    if (!window.holds(4)) return undefined
    const magic = window.view.getUint32(window.at)
    if (magic === blockTypes.section) {
      this.#decoder = new PcapngDecoder(this.#mostOctets)
      return this.#read()
    }
    if (!isPcap(magic)) throw new ComplaintError(strange(magic))
    if (!window.holds(PCAP_HEADER_OCTETS)) return undefined
    const decoder = new PcapDecoder(window, this.#mostOctets)
    window.advance(PCAP_HEADER_OCTETS)
    this.#decoder = decoder
    return decoder.section
  }

  #checkEnd(): void {
    const left = this.#window.left(this.#mostOctets)
    if (this.#decoder !== undefined && this.offset > 0 && left === 0) return
    const inside = this.#decoder === undefined ? "file header" : "record"
    throw new ComplaintError({
      reason: "truncated",
      field: `end of file in a ${inside}`,
      found: `${left} octets`,
      expected: "all of it",
      hint: left === 0 ? "the file is empty" : "the file was cut short, or is still being written",
    })
  }

  #error(complaint: Complaint): CaptureError {
    const record = this.offset === 0 && !(this.#decoder instanceof PcapngDecoder) ? 0 : this.#records + 1
    return new CaptureError({ ...complaint, file: this.file, offset: this.offset, record })
  }
}

const GZIP = 0x1f8b
const ZSTD = 0x28b52ffd
const PATCHED_PCAP = new Set([0xa1b2cd34, 0x34cdb2a1])

const strange = (magic: number): Complaint => {
  const found = `0x${magic.toString(16).padStart(8, "0")}`
  const expected = "pcap or pcapng"
  if (magic >>> 16 === GZIP || magic === ZSTD) {
    return { reason: "unknown-format", field: "magic", found, expected, hint: "it is compressed: unpack it first" }
  }
  if (PATCHED_PCAP.has(magic)) {
    const hint = "convert this patched form of pcap with `editcap -F pcap`"
    return { reason: "unsupported", field: "magic", found, expected, hint }
  }
  return { reason: "unknown-format", field: "magic", found, expected }
}

/** Every record of a capture whose octets come from anywhere: a `ReadableStream`, an array of chunks. */
export async function* readCapture(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  options: CaptureReaderOptions = {},
): AsyncGenerator<CaptureRecord, void, undefined> {
  const reader = new CaptureReader(options)
  for await (const octets of chunks) {
    reader.push(octets)
    for (let record = reader.next(); record !== undefined; record = reader.next()) yield record
  }
  reader.end()
  for (let record = reader.next(); record !== undefined; record = reader.next()) yield record
}
