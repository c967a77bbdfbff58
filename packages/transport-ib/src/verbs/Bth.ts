/*
 * Opcodes of the base transport header (IBTA 1.7 §9.2) and what each of them says, for RC, UC and UD.
 */

/** Opcodes of a reliable connection; those of UC are the same with `UC` added, as far as UC has them. */
export const Bth = {
  SendFirst: 0x00,
  SendMiddle: 0x01,
  SendLast: 0x02,
  SendLastImmediate: 0x03,
  SendOnly: 0x04,
  SendOnlyImmediate: 0x05,
  WriteFirst: 0x06,
  WriteMiddle: 0x07,
  WriteLast: 0x08,
  WriteLastImmediate: 0x09,
  WriteOnly: 0x0a,
  WriteOnlyImmediate: 0x0b,
  ReadRequest: 0x0c,
  ReadResponseFirst: 0x0d,
  ReadResponseMiddle: 0x0e,
  ReadResponseLast: 0x0f,
  ReadResponseOnly: 0x10,
  Acknowledge: 0x11,
  AtomicAcknowledge: 0x12,
  CompareSwap: 0x13,
  FetchAdd: 0x14,
  SendLastInvalidate: 0x16,
  SendOnlyInvalidate: 0x17,
  AtomicWrite: 0x1d,
  UdSendOnly: 0x64,
  UdSendOnlyImmediate: 0x65,
  Cnp: 0x81,
} as const

/** What is added to an opcode of RC to have that of UC. */
export const UC = 0x20

/** What an opcode says, a bit each. */
export const Part = {
  /** It begins a message, it ends one. */
  Start: 1,
  End: 2,
  Send: 4,
  Write: 8,
  Read: 16,
  Atomic: 32,
  AtomicWrite: 64,
  Immediate: 128,
  Invalidate: 256,
  /** It comes from a responder. */
  Response: 512,
} as const

const send = Part.Send
const write = Part.Write
const { Start, End, Immediate, Invalidate, Response } = Part

const meanings: ReadonlyArray<readonly [opcode: number, parts: number]> = [
  [Bth.SendFirst, send | Start],
  [Bth.SendMiddle, send],
  [Bth.SendLast, send | End],
  [Bth.SendLastImmediate, send | End | Immediate],
  [Bth.SendOnly, send | Start | End],
  [Bth.SendOnlyImmediate, send | Start | End | Immediate],
  [Bth.WriteFirst, write | Start],
  [Bth.WriteMiddle, write],
  [Bth.WriteLast, write | End],
  [Bth.WriteLastImmediate, write | End | Immediate],
  [Bth.WriteOnly, write | Start | End],
  [Bth.WriteOnlyImmediate, write | Start | End | Immediate],
  [Bth.ReadRequest, Part.Read | Start | End],
  [Bth.ReadResponseFirst, Response | Part.Read | Start],
  [Bth.ReadResponseMiddle, Response | Part.Read],
  [Bth.ReadResponseLast, Response | Part.Read | End],
  [Bth.ReadResponseOnly, Response | Part.Read | Start | End],
  [Bth.Acknowledge, Response | Start | End],
  [Bth.AtomicAcknowledge, Response | Part.Atomic | Start | End],
  [Bth.CompareSwap, Part.Atomic | Start | End],
  [Bth.FetchAdd, Part.Atomic | Start | End],
  [Bth.SendLastInvalidate, send | End | Invalidate],
  [Bth.SendOnlyInvalidate, send | Start | End | Invalidate],
  [Bth.AtomicWrite, Part.AtomicWrite | Start | End],
]

/** What opcodes 0 to 31 say on a reliable connection; 0: reserved, or not served. */
export const rcParts: Int32Array = /* @__PURE__ */ Int32Array.from(
  { length: 32 },
  (_, code) => meanings.find(([opcode]) => opcode === code)?.[1] ?? 0,
)

/** The same for UC, without `UC` added: SEND and WRITE alone, and no invalidation (IBTA 1.7 §9.8.3). */
export const ucParts: Int32Array = /* @__PURE__ */ rcParts.map((parts, code) =>
  code <= Bth.WriteOnlyImmediate ? parts : 0,
)

const RETH = 16
const AETH = 4
const IMMEDIATE = 4
const ATOMIC_ETH = 28
const ATOMIC_ACK_ETH = 8
const DETH = 8
const CNP_RESERVED = 16

/** Octets of the headers after the BTH. */
const headerBytes: Int32Array = /* @__PURE__ */ Int32Array.from({ length: 256 }, (_, code) => {
  if (code === Bth.Cnp) return CNP_RESERVED
  if (code === Bth.UdSendOnly) return DETH
  if (code === Bth.UdSendOnlyImmediate) return DETH + IMMEDIATE
  const parts = rcParts[code & 31]!
  const immediate = (parts & (Immediate | Invalidate)) !== 0 ? IMMEDIATE : 0
  if ((parts & Response) !== 0) {
    if ((parts & Part.Atomic) !== 0) return AETH + ATOMIC_ACK_ETH
    return (parts & (Start | End)) !== 0 ? AETH : 0
  }
  if ((parts & Part.Atomic) !== 0) return ATOMIC_ETH
  if ((parts & (Part.Read | Part.AtomicWrite)) !== 0) return RETH
  return ((parts & write) !== 0 && (parts & Start) !== 0 ? RETH : 0) + immediate
})

/** Ethernet 14, UDP 8, BTH 12, ICRC 4, FCS 4, preamble and gap 20. */
const AROUND_BYTES = 62
const IPV4_BYTES = 20
const IPV6_BYTES = 40
/** The least Ethernet frame, with preamble and gap. */
const LEAST_BYTES = 84

/** What a packet takes of a link, bytes: its frame with preamble and gap, payload padded to whole words. */
export const frameBytes = (opcode: number, payloadBytes: number, ipv6: boolean): number => {
  const padded = (payloadBytes + 3) & ~3
  const bytes = AROUND_BYTES + (ipv6 ? IPV6_BYTES : IPV4_BYTES) + headerBytes[opcode]! + padded
  return bytes < LEAST_BYTES ? LEAST_BYTES : bytes
}
