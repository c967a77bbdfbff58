import { layout } from "../Layout.ts"
import { EmitError, put24, space, u24, uint } from "../Octets.ts"
import { failed, type Parse, parsed, shortage } from "../Result.ts"

/** Why a request was refused (IBTA 1.7 §9.7.5.2.8). */
export type Nak =
  /** A gap: the requester sends again from the PSN of the NAK. */
  | { readonly kind: "nak"; readonly code: 0; readonly meaning: "psnSequenceError" }
  | { readonly kind: "nak"; readonly code: 1; readonly meaning: "invalidRequest" }
  /** Key, range or right are not those of the memory region. */
  | { readonly kind: "nak"; readonly code: 2; readonly meaning: "remoteAccessError" }
  | { readonly kind: "nak"; readonly code: 3; readonly meaning: "remoteOperationalError" }
  | { readonly kind: "nak"; readonly code: 4; readonly meaning: "invalidRdRequest" }

export interface Acknowledgement {
  readonly kind: "ack"
  /** 0 to 31. */
  readonly code: number
  /** Messages that may still be sent beyond `msn` (§9.7.7.2); undefined, code 31: no end-to-end flow control. */
  readonly credits: number | undefined
}

/** Receiver not ready. */
export interface RnrNak {
  readonly kind: "rnrNak"
  /** 0 to 31. Code 0 is the longest, not the shortest. */
  readonly code: number
  /** How long the requester waits at least, in microseconds (§9.7.5.2.8, table 45). */
  readonly delayUs: number
}

export type Syndrome = Acknowledgement | RnrNak | Nak

/** ACK extended transport header (IBTA 1.7 §9.2.9). */
export interface Aeth {
  readonly syndrome: Syndrome
  /** Message sequence number: how many the responder has completed, 24 bits. */
  readonly msn: number
}

export const AETH_BYTES = 4

export const AETH = /* @__PURE__ */ layout("aeth", "syndrome:8 msn:24")

const CREDITS = [
  0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
  8192, 12_288, 16_384, 24_576, 32_768,
]
const RNR_DELAYS_US = [
  655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10_240,
  15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760, 327_680, 491_520,
]
const NAKS: ReadonlyArray<Nak> = [
  { kind: "nak", code: 0, meaning: "psnSequenceError" },
  { kind: "nak", code: 1, meaning: "invalidRequest" },
  { kind: "nak", code: 2, meaning: "remoteAccessError" },
  { kind: "nak", code: 3, meaning: "remoteOperationalError" },
  { kind: "nak", code: 4, meaning: "invalidRdRequest" },
]

/** A positive acknowledgement with a credit code, 0 to 31; by default without end-to-end flow control. */
export const acknowledgement = (code = 31): Acknowledgement => ({
  kind: "ack",
  code: uint(code, 5, "aeth", "code"),
  credits: CREDITS[code],
})

/** A receiver-not-ready NAK with a timer code, 0 to 31. */
export const rnrNak = (code: number): RnrNak => ({
  kind: "rnrNak",
  code: uint(code, 5, "aeth", "code"),
  delayUs: RNR_DELAYS_US[code]!,
})

export const nak = (meaning: Nak["meaning"]): Nak => NAKS.find((each) => each.meaning === meaning)!

/** What the octet says; undefined when it is reserved. */
export const syndromeOf = (octet: number): Syndrome | undefined => {
  const code = octet & 31
  if (octet >> 5 === 0) return acknowledgement(code)
  if (octet >> 5 === 1) return rnrNak(code)
  return octet >> 5 === 3 ? NAKS[code] : undefined
}

/** The octet of a syndrome. Throws an `EmitError` when its code and its meaning contradict each other. */
export const syndromeOctet = (syndrome: Syndrome): number => {
  const { kind, code } = syndrome
  const octet = (kind === "ack" ? 0 : kind === "rnrNak" ? 0x20 : 0x60) | uint(code, 5, "aeth", "code")
  const right = syndromeOf(octet)
  const agrees =
    (kind === "ack" && right?.kind === "ack" && right.credits === syndrome.credits) ||
    (kind === "rnrNak" && right?.kind === "rnrNak" && right.delayUs === syndrome.delayUs) ||
    (kind === "nak" && right?.kind === "nak" && right.meaning === syndrome.meaning)
  if (!agrees) throw new EmitError("aeth", "syndrome", code, "a code that means what the syndrome says")
  return octet
}

/** Fails for a reserved syndrome. */
export const parseAeth = (octets: Uint8Array, start = 0, end = octets.length): Parse<Aeth> => {
  const short = shortage("aeth", octets, start, end, AETH_BYTES)
  if (short !== undefined) return short
  const octet = octets[start]!
  const syndrome = syndromeOf(octet)
  if (syndrome === undefined) return failed("reserved", "aeth", "syndrome", start, octet)
  return parsed({ syndrome, msn: u24(octets, start + 1) }, start + AETH_BYTES, end)
}

export const emitAeth = (value: Aeth, octets: Uint8Array, start = 0): number => {
  space(octets, start, AETH_BYTES, "aeth")
  octets[start] = syndromeOctet(value.syndrome)
  put24(octets, start + 1, uint(value.msn, 24, "aeth", "msn"))
  return start + AETH_BYTES
}
