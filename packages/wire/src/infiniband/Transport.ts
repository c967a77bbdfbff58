import { EmitError, space } from "../Octets.ts"
import { type Failed, failed, NO_FAULTS, type Parse, parsed, shortage, type WireError, wrong } from "../Result.ts"
import { type Aeth, emitAeth, parseAeth } from "./Aeth.ts"
import { BTH_BYTES, type Bth, emitBth, parseBth } from "./Bth.ts"
import {
  type Deth,
  emitDeth,
  emitRdeth,
  emitXrceth,
  parseDeth,
  parseRdeth,
  parseXrceth,
  type Rdeth,
  type Xrceth,
} from "./Datagram.ts"
import {
  type AtomicAckEth,
  type AtomicEth,
  emitAtomicAckEth,
  emitAtomicEth,
  emitFeth,
  emitIeth,
  emitImmDt,
  emitReth,
  type Feth,
  type Ieth,
  type ImmDt,
  parseAtomicAckEth,
  parseAtomicEth,
  parseFeth,
  parseIeth,
  parseImmDt,
  parseReth,
  type Reth,
} from "./Memory.ts"
import { type ExtendedHeader, opcodeOf } from "./Opcode.ts"

/** Sixteen octets of 0 that a congestion notification carries (IBTA 1.7 §A17.9.3). */
export type Cnp = Readonly<Record<never, never>>

/** The headers that may follow a BTH, by name. */
export interface ExtendedHeaders {
  readonly rdeth: Rdeth
  readonly deth: Deth
  readonly xrceth: Xrceth
  readonly reth: Reth
  readonly atomicEth: AtomicEth
  readonly aeth: Aeth
  readonly atomicAckEth: AtomicAckEth
  readonly immDt: ImmDt
  readonly ieth: Ieth
  readonly feth: Feth
  readonly cnp: Cnp
}

/** A BTH, and exactly the headers that its opcode has. */
export interface Transport {
  readonly bth: Bth
  readonly headers: Partial<ExtendedHeaders>
}

/** The invariant CRC after the payload and its padding. */
export const ICRC_BYTES = 4
export const CNP_BYTES = 16

export const parseCnp = (octets: Uint8Array, start = 0, end = octets.length): Parse<Cnp> => {
  const short = shortage("cnp", octets, start, end, CNP_BYTES)
  if (short !== undefined) return short
  const at = octets.subarray(start, start + CNP_BYTES).findIndex((octet) => octet !== 0)
  const faults = at < 0 ? NO_FAULTS : [wrong("ignored", "cnp", "reserved", start + at, octets[start + at]!, "0")]
  return parsed({}, start + CNP_BYTES, end, faults)
}

export const emitCnp = (_: Cnp, octets: Uint8Array, start = 0): number => {
  space(octets, start, CNP_BYTES, "cnp")
  octets.fill(0, start, start + CNP_BYTES)
  return start + CNP_BYTES
}

interface Codec<A> {
  readonly bytes: number
  readonly parse: (octets: Uint8Array, start?: number, end?: number) => Parse<A>
  readonly emit: (value: A, octets: Uint8Array, start?: number) => number
}

const codecs: { readonly [K in ExtendedHeader]: Codec<ExtendedHeaders[K]> } = {
  rdeth: { bytes: 4, parse: parseRdeth, emit: emitRdeth },
  deth: { bytes: 8, parse: parseDeth, emit: emitDeth },
  xrceth: { bytes: 4, parse: parseXrceth, emit: emitXrceth },
  reth: { bytes: 16, parse: parseReth, emit: emitReth },
  atomicEth: { bytes: 28, parse: parseAtomicEth, emit: emitAtomicEth },
  aeth: { bytes: 4, parse: parseAeth, emit: emitAeth },
  atomicAckEth: { bytes: 8, parse: parseAtomicAckEth, emit: emitAtomicAckEth },
  immDt: { bytes: 4, parse: parseImmDt, emit: emitImmDt },
  ieth: { bytes: 4, parse: parseIeth, emit: emitIeth },
  feth: { bytes: 4, parse: parseFeth, emit: emitFeth },
  cnp: { bytes: CNP_BYTES, parse: parseCnp, emit: emitCnp },
}

/** Reads one of the headers after a BTH. */
export const parseExtended = <K extends ExtendedHeader>(
  name: K,
  octets: Uint8Array,
  start: number,
  end: number,
): Parse<ExtendedHeaders[K]> => codecs[name].parse(octets, start, end)

/** Writes one of the headers after a BTH. */
export const emitExtended = <K extends ExtendedHeader>(
  name: K,
  value: ExtendedHeaders[K],
  octets: Uint8Array,
  start: number,
): number => codecs[name].emit(value, octets, start)

/**
 * Reads BTH and headers of a packet that ends at `end`, ICRC included. The payload ends before padding and ICRC; what an
 * opcode without payload has there is wrong.
 */
export const parseTransport = (octets: Uint8Array, start = 0, end = octets.length): Parse<Transport> => {
  const first = parseBth(octets, start, end)
  if (!first.ok) return first
  const bth = first.value
  const opcode = opcodeOf(bth.opcode)!
  const headers: Partial<Record<ExtendedHeader, unknown>> = {}
  let faults: ReadonlyArray<WireError> = first.faults
  let at = first.payloadStart
  for (const name of opcode.headers) {
    const next = codecs[name].parse(octets, at, end - ICRC_BYTES)
    if (!next.ok) return next
    headers[name] = next.value
    if (next.faults.length > 0) faults = [...faults, ...next.faults]
    at = next.payloadStart
  }
  const payloadEnd = end - ICRC_BYTES - bth.padBytes
  const lie = payloadLie(at, payloadEnd, opcode.payload, start + 1, bth.padBytes)
  return lie ?? parsed({ bth, headers: headers as Partial<ExtendedHeaders> }, at, payloadEnd, faults)
}

/** A failure when what is between headers and ICRC cannot be. */
export const payloadLie = (
  payloadStart: number,
  payloadEnd: number,
  payload: boolean,
  padAt: number,
  padBytes: number,
): Failed | undefined => {
  if (payloadEnd < payloadStart)
    return failed("length", "bth", "padBytes", padAt, padBytes, `room for headers, padding and ICRC`)
  return !payload && payloadEnd > payloadStart
    ? failed("length", "bth", "payload", payloadStart, payloadEnd - payloadStart, "0 octets for this opcode")
    : undefined
}

export const transportBytes = ({ bth }: { readonly bth: Pick<Bth, "opcode"> }): number =>
  (opcodeOf(bth.opcode)?.headers ?? []).reduce((bytes, name) => bytes + codecs[name].bytes, BTH_BYTES)

/** Writes BTH and headers. Throws an `EmitError` when a header is missing or is none of the opcode's. */
export const emitTransport = (value: Transport, octets: Uint8Array, start = 0): number => {
  space(octets, start, transportBytes(value), "bth")
  let at = emitBth(value.bth, octets, start)
  const names = opcodeOf(value.bth.opcode)!.headers
  for (const name of Object.keys(value.headers))
    if (!names.includes(name as ExtendedHeader)) throw new EmitError("bth", "headers", names.length, `no ${name}`)
  for (const name of names) {
    const header = value.headers[name]
    if (header === undefined) throw new EmitError("bth", "headers", names.length, `a ${name}`)
    at = (codecs[name] as Codec<unknown>).emit(header, octets, at)
  }
  return at
}
