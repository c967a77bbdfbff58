import { TR_RECORD_OCTETS, type TrHeader, TrReader, TrRecord, trProtocols } from "./Tr.ts"
import { formatRecord } from "./TrText.ts"

/** One field that differs. */
export interface TrFieldDifference {
  readonly field: string
  readonly a: number
  readonly b: number
}

export interface TrDifference {
  /** The record, from 0. */
  readonly index: number
  readonly fields: ReadonlyArray<TrFieldDifference>
  /** Both records as trace_reader prints them. */
  readonly a: string
  readonly b: string
}

export interface TrComparison {
  /** Whether headers and all records agree. */
  readonly same: boolean
  /** One line for each port, or the window, on which the headers disagree. */
  readonly header: ReadonlyArray<string>
  readonly countA: number
  readonly countB: number
  /** Records that agree, and that do not, of those at an index both have. */
  readonly identical: number
  readonly differing: number
  readonly first: TrDifference | undefined
  /** The first record that only the longer one has, as trace_reader prints it. */
  readonly rest: string | undefined
}

/** One of two traces. */
export type TrSide = "a" | "b"

const CHUNK_OCTETS = 1 << 20

type Field = keyof TrRecord & string

const QP_HEAD = ["time", "node", "intf", "qidx", "sip", "dip", "l3Prot", "event", "nodeType"] as const
const HEAD = [...QP_HEAD, "qlen", "size", "ecn"] as const
const DATA = [...HEAD, "sport", "dport", "dataSeq", "dataTs", "dataPg", "payload"] as const
const ACK = [...HEAD, "sport", "dport", "ackFlags", "ackPg", "ackSeq", "ackTs"] as const

const FIELDS: ReadonlyMap<number, ReadonlyArray<Field>> = new Map<number, ReadonlyArray<Field>>([
  [trProtocols.tcp, [...HEAD, "sport", "dport"]],
  [trProtocols.data, DATA],
  [trProtocols.ack, ACK],
  [trProtocols.nack, ACK],
  [trProtocols.pfc, [...HEAD, "pfcTime", "pfcQlen", "pfcQueue"]],
  [trProtocols.cnp, [...HEAD, "cnpFid", "cnpQueue", "cnpEcn", "cnpSeq"]],
  [trProtocols.qp, [...QP_HEAD, "sport", "dport"]],
])

/**
 * Compares two traces record by record, field by field: the fields that the original fills for the record's kind of
 * packet, and nothing else, since all other octets are garbage there. Headers are compared as maps.
 *
 * Both traces come in chunks: {@link push} those of either in its order, then {@link end}. Records wait for their
 * partners, so push turn by turn to hold little.
 */
export class TrComparer {
  readonly #readers: Readonly<Record<TrSide, TrReader>>
  readonly #waiting = new RecordQueue()
  readonly #partner = new TrRecord()
  #ahead: TrSide = "a"
  #shared = 0
  #differing = 0
  #first: TrDifference | undefined

  constructor(fileA = "a", fileB = "b") {
    this.#readers = { a: new TrReader(fileA), b: new TrReader(fileB) }
  }

  /** Reads a chunk of one of the traces. Throws {@link Ns3FormatError} for what is no trace. */
  push(side: TrSide, chunk: Uint8Array): void {
    this.#readers[side].push(chunk, (record) => this.#take(side, record))
  }

  /** Both traces end here. Throws {@link Ns3FormatError} for one that was cut off. */
  end(): TrComparison {
    const header = compareHeaders(this.#readers.a.end(), this.#readers.b.end())
    const countA = this.#readers.a.count
    const countB = this.#readers.b.count
    const same = header.length === 0 && this.#differing === 0 && countA === countB
    const rest = this.#waiting.next(this.#partner) ? formatRecord(this.#partner) : undefined
    const identical = this.#shared - this.#differing
    return { same, header, countA, countB, identical, differing: this.#differing, first: this.#first, rest }
  }

  #take(side: TrSide, record: TrRecord): void {
    if (this.#ahead === side || !this.#waiting.next(this.#partner)) {
      this.#ahead = side
      this.#waiting.add(record)
      return
    }
    if (side === "a") this.#compare(record, this.#partner)
    else this.#compare(this.#partner, record)
  }

  #compare(a: TrRecord, b: TrRecord): void {
    const index = this.#shared++
    if (a.sameOctets(b) || sameRecord(a, b)) return
    this.#differing++
    this.#first ??= { index, fields: differences(a, b), a: formatRecord(a), b: formatRecord(b) }
  }
}

/** Compares two whole traces, as {@link TrComparer} does. */
export const compareTr = (a: Uint8Array, b: Uint8Array, fileA = "a", fileB = "b"): TrComparison => {
  const comparer = new TrComparer(fileA, fileB)
  for (let at = 0; at < a.length || at < b.length; at += CHUNK_OCTETS) {
    comparer.push("a", a.subarray(at, at + CHUNK_OCTETS))
    comparer.push("b", b.subarray(at, at + CHUNK_OCTETS))
  }
  return comparer.end()
}

/** Copies of records, first in, first out. */
class RecordQueue {
  #octets = new Uint8Array(TR_RECORD_OCTETS * 64)
  #head = 0
  #tail = 0

  add(record: TrRecord): void {
    if (this.#tail === this.#octets.length) this.#makeRoom()
    record.copyTo(this.#octets, this.#tail)
    this.#tail += TR_RECORD_OCTETS
  }

  /** Moves the cursor to the next record, which stays as it is until the next add; false when there is none. */
  next(record: TrRecord): boolean {
    if (this.#head === this.#tail) return false
    record.seek(this.#octets, this.#head)
    this.#head += TR_RECORD_OCTETS
    return true
  }

  #makeRoom(): void {
    const used = this.#octets.subarray(this.#head, this.#tail)
    if (this.#head * 2 < this.#octets.length) {
      const larger = new Uint8Array(this.#octets.length * 2)
      larger.set(used)
      this.#octets = larger
    } else this.#octets.copyWithin(0, this.#head, this.#tail)
    this.#tail = used.length
    this.#head = 0
  }
}

const fieldsOf = (record: TrRecord): ReadonlyArray<Field> => FIELDS.get(record.l3Prot) ?? HEAD

const sameRecord = (a: TrRecord, b: TrRecord): boolean => {
  if (a.l3Prot !== b.l3Prot) return false
  for (const field of fieldsOf(a)) if (a[field] !== b[field]) return false
  return true
}

// Records of two kinds share the fields of their head only.
const differences = (a: TrRecord, b: TrRecord): ReadonlyArray<TrFieldDifference> => {
  const fields = a.l3Prot === b.l3Prot ? fieldsOf(a) : HEAD
  return fields
    .map((field) => ({ field, a: a[field] as number, b: b[field] as number }))
    .filter((difference) => difference.a !== difference.b)
}

const compareHeaders = (a: TrHeader, b: TrHeader): ReadonlyArray<string> => {
  const lines: Array<string> = []
  if (a.windowBytes !== b.windowBytes) lines.push(`window: ${a.windowBytes} and ${b.windowBytes} bytes`)
  const speedsA = speedsOf(a)
  const speedsB = speedsOf(b)
  for (const [port, bps] of speedsA) {
    const other = speedsB.get(port)
    if (other !== bps) lines.push(`port ${port}: ${bps} and ${other ?? "no"} bits/s`)
  }
  for (const [port, bps] of speedsB) if (!speedsA.has(port)) lines.push(`port ${port}: no and ${bps} bits/s`)
  return lines
}

const speedsOf = (header: TrHeader): ReadonlyMap<string, number> =>
  new Map(header.ports.map(({ node, intf, bps }) => [`${node}.${intf}`, bps]))
