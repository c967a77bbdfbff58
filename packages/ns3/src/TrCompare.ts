import { readTr, TR_PORT_OCTETS, TR_RECORD_OCTETS, type TrHeader, TrRecord, trProtocols } from "./Tr.ts"
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
}

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
 * Compares two whole traces record by record, field by field: the fields that the original fills for the record's kind
 * of packet, and nothing else, since all other octets are garbage there. Headers are compared as maps.
 *
 * Throws {@link Ns3FormatError} for what is no trace.
 */
export const compareTr = (a: Uint8Array, b: Uint8Array, fileA = "a", fileB = "b"): TrComparison => {
  let countA = 0
  let countB = 0
  const headerA = readTr(a, fileA, () => countA++)
  const headerB = readTr(b, fileB, () => countB++)
  const recordA = new TrRecord()
  const recordB = new TrRecord()
  const startA = recordsStart(headerA)
  const startB = recordsStart(headerB)
  const shared = Math.min(countA, countB)
  let differing = 0
  let first: TrDifference | undefined
  for (let index = 0; index < shared; index++) {
    recordA.seek(a, startA + index * TR_RECORD_OCTETS)
    recordB.seek(b, startB + index * TR_RECORD_OCTETS)
    if (sameRecord(recordA, recordB)) continue
    differing++
    first ??= {
      index,
      fields: differences(recordA, recordB),
      a: formatRecord(recordA),
      b: formatRecord(recordB),
    }
  }
  const header = compareHeaders(headerA, headerB)
  const same = header.length === 0 && differing === 0 && countA === countB
  return { same, header, countA, countB, identical: shared - differing, differing, first }
}

const recordsStart = (header: TrHeader): number => 8 + TR_PORT_OCTETS * header.ports.length

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
