/**
 * Why a capture could not be read or written.
 *
 * - `unknown-format`: the first octets are those of no capture file.
 * - `unsupported`: a capture file of a kind this package does not read.
 * - `truncated`: the file ends inside a record. Every record before it was delivered.
 * - `too-long`: a length or a number beyond the limit, which is refused before anything is allocated.
 * - `malformed`: fields that contradict each other or the format.
 * - `compression`: the compressed octets around the capture are damaged, or nothing here can unpack them.
 * - `unwritable`: a value that the format to be written has no room for.
 */
export type CaptureErrorReason =
  | "unknown-format"
  | "unsupported"
  | "truncated"
  | "too-long"
  | "malformed"
  | "compression"
  | "unwritable"

export interface CaptureFault {
  readonly reason: CaptureErrorReason
  /** The name of the file, "" when nobody gave one. */
  readonly file: string
  /** Octets from the start of the (unpacked) file to the record at fault. */
  readonly offset: number
  /** Ordinal of the record at fault, from 1; a file header is record 0. */
  readonly record: number
  /** What was being read: "captured length". */
  readonly field: string
  readonly found: string
  readonly expected: string
  readonly hint?: string | undefined
}

/**
 * The one error of this package. Its message says what and where:
 * `a.pcap@24: record 1: captured length: found 4294967295, expected at most 16777216; the file is damaged`.
 */
export class CaptureError extends Error {
  readonly _tag = "CaptureError"
  readonly reason: CaptureErrorReason
  readonly file: string
  readonly offset: number
  readonly record: number
  readonly field: string
  readonly found: string
  readonly expected: string
  readonly hint: string | undefined

  constructor(fault: CaptureFault) {
    const place = `${fault.file === "" ? "capture" : fault.file}@${fault.offset}: record ${fault.record}`
    const hint = fault.hint === undefined ? "" : `; ${fault.hint}`
    super(`${place}: ${fault.field}: found ${fault.found}, expected ${fault.expected}${hint}`)
    this.name = "CaptureError"
    this.reason = fault.reason
    this.file = fault.file
    this.offset = fault.offset
    this.record = fault.record
    this.field = fault.field
    this.found = fault.found
    this.expected = fault.expected
    this.hint = fault.hint
  }
}

/** What a writer refuses, and of which record, from 1; a file header is record 0. */
export const unwritable = (
  record: number,
  field: string,
  found: string | number | bigint,
  expected: string,
): CaptureError =>
  new CaptureError({ reason: "unwritable", file: "", offset: 0, record, field, found: String(found), expected })

/** What a decoder says of the record in its hands; the reader adds file, offset and record number. */
export type Complaint = Pick<CaptureFault, "reason" | "field" | "found" | "expected" | "hint">

/** Thrown inside the reader only, which turns it into a {@link CaptureError}. */
export class ComplaintError extends Error {
  readonly complaint: Complaint

  constructor(complaint: Complaint) {
    super(complaint.field)
    this.complaint = complaint
  }
}

export const malformed = (field: string, found: string | number, expected: string): ComplaintError =>
  new ComplaintError({ reason: "malformed", field, found: String(found), expected })

const DAMAGED_OR_LONG = "the file is damaged, or maxRecordOctets is too small for it"

export const tooLong = (field: string, found: number, most: number, hint = DAMAGED_OR_LONG): ComplaintError =>
  new ComplaintError({
    reason: "too-long",
    field,
    found: String(found),
    expected: `at most ${most}`,
    hint,
  })
