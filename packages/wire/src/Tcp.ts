import { layout } from "./Layout.ts"
import { EmitError, put16, put32, space, u16, u32, uint } from "./Octets.ts"
import { parseOptions } from "./Options.ts"
import { failed, NO_FAULTS, type Parse, parsed, type Result, shortage, wrong } from "./Result.ts"

/** TCP (RFC 9293). */
export interface Tcp {
  readonly sourcePort: number
  readonly destinationPort: number
  readonly sequence: number
  readonly acknowledgement: number
  /** Bits of `TcpFlag`. */
  readonly flags: number
  readonly window: number
  /** As it is on the wire; it covers the payload and a pseudo-header. */
  readonly checksum: number
  readonly urgentPointer: number
  /** 0 to 40 octets, a multiple of four: `parseTcpOptions` reads them. */
  readonly options: Uint8Array
}

export const TcpFlag = {
  Fin: 0x01,
  Syn: 0x02,
  Reset: 0x04,
  Push: 0x08,
  Acknowledge: 0x10,
  Urgent: 0x20,
  /** ECN echo (RFC 3168), or a bit of the AccECN counter. */
  EcnEcho: 0x40,
  CongestionWindowReduced: 0x80,
  /** RFC 9768; before it the ECN nonce. */
  AccurateEcn: 0x100,
} as const

export const TCP_BYTES = 20
const OPTIONS_BYTES_MAX = 40

export const TCP = /* @__PURE__ */ layout(
  "tcp",
  "sourcePort:16 destinationPort:16 sequence:32 acknowledgement:32 headerWords:4 _:3 flags:9 window:16 checksum:16 urgentPointer:16",
)

export const tcpBytes = (value: Tcp): number => TCP_BYTES + value.options.length

/** Fails for a header below 20 octets or past `end`. Reserved bits are a fault. */
export const parseTcp = (octets: Uint8Array, start = 0, end = octets.length): Parse<Tcp> => {
  const short = shortage("tcp", octets, start, end, TCP_BYTES)
  if (short !== undefined) return short
  const word = u16(octets, start + 12)
  const bytes = (word >> 12) * 4
  if (bytes < TCP_BYTES) return failed("length", "tcp", "headerWords", start + 12, word >> 12, "5 to 15")
  const cut = shortage("tcp", octets, start, end, bytes)
  if (cut !== undefined) return cut
  const value: Tcp = {
    sourcePort: u16(octets, start),
    destinationPort: u16(octets, start + 2),
    sequence: u32(octets, start + 4),
    acknowledgement: u32(octets, start + 8),
    flags: word & 0x1ff,
    window: u16(octets, start + 14),
    checksum: u16(octets, start + 16),
    urgentPointer: u16(octets, start + 18),
    options: octets.subarray(start + TCP_BYTES, start + bytes),
  }
  const reserved = (word >> 9) & 7
  const faults = reserved === 0 ? NO_FAULTS : [wrong("ignored", "tcp", "reserved", start + 12, reserved, "0")]
  return parsed(value, start + bytes, end, faults)
}

export const emitTcp = (value: Tcp, octets: Uint8Array, start = 0): number => {
  const bytes = tcpBytes(value)
  if (value.options.length > OPTIONS_BYTES_MAX || value.options.length % 4 !== 0)
    throw new EmitError("tcp", "options", value.options.length, "0 to 40 octets, a multiple of four")
  space(octets, start, bytes, "tcp")
  put16(octets, start, uint(value.sourcePort, 16, "tcp", "sourcePort"))
  put16(octets, start + 2, uint(value.destinationPort, 16, "tcp", "destinationPort"))
  put32(octets, start + 4, uint(value.sequence, 32, "tcp", "sequence"))
  put32(octets, start + 8, uint(value.acknowledgement, 32, "tcp", "acknowledgement"))
  put16(octets, start + 12, (bytes << 10) | uint(value.flags, 9, "tcp", "flags"))
  put16(octets, start + 14, uint(value.window, 16, "tcp", "window"))
  put16(octets, start + 16, uint(value.checksum, 16, "tcp", "checksum"))
  put16(octets, start + 18, uint(value.urgentPointer, 16, "tcp", "urgentPointer"))
  octets.set(value.options, start + TCP_BYTES)
  return start + bytes
}

/** One option; what is malformed or not known is `other`. */
export type TcpOption =
  | { readonly kind: "padding" }
  | { readonly kind: "maximumSegment"; readonly bytes: number }
  /** Shift count, 0 to 14 (RFC 7323 §2). */
  | { readonly kind: "windowScale"; readonly shift: number }
  | { readonly kind: "sackPermitted" }
  /** Left and right edges, one to four blocks (RFC 2018). */
  | { readonly kind: "sack"; readonly blocks: ReadonlyArray<readonly [left: number, right: number]> }
  | { readonly kind: "timestamps"; readonly value: number; readonly echo: number }
  | { readonly kind: "other"; readonly code: number; readonly data: Uint8Array }

/** The options one by one; offsets in an error count from their start. */
export const parseTcpOptions = (octets: Uint8Array): Result<ReadonlyArray<TcpOption>> => {
  const options = parseOptions("tcp", octets)
  return options.ok ? { ok: true, value: options.value.map(({ code, data }) => readOption(code, data)) } : options
}

const readOption = (code: number, data: Uint8Array): TcpOption => {
  const { length } = data
  if (code === 1) return { kind: "padding" }
  if (code === 2 && length === 2) return { kind: "maximumSegment", bytes: u16(data, 0) }
  if (code === 3 && length === 1 && data[0]! <= 14) return { kind: "windowScale", shift: data[0]! }
  if (code === 4 && length === 0) return { kind: "sackPermitted" }
  if (code === 5 && length > 0 && length % 8 === 0) {
    const blocks = Array.from({ length: length / 8 }, (_, n) => [u32(data, 8 * n), u32(data, 8 * n + 4)] as const)
    return { kind: "sack", blocks }
  }
  if (code === 8 && length === 8) return { kind: "timestamps", value: u32(data, 0), echo: u32(data, 4) }
  return { kind: "other", code, data }
}
