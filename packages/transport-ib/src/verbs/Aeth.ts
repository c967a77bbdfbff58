import { type Time, WcStatus } from "@rdmakit/protocol"

/*
 * The ACK extended transport header: a syndrome of eight bits and a message sequence number (IBTA 1.7 §9.7.5).
 */

/** Bits 7 to 5 of a syndrome. */
export const SYNDROME_TYPE = 0xe0
export const Syndrome = {
  /** An acknowledgement; the lower bits are end-to-end credits. */
  Ack: 0x00,
  /** Receiver not ready; the lower bits are a timer's code. */
  Rnr: 0x20,
  /** NAK; the lower bits say why. */
  Nak: 0x60,
  NakSequence: 0x60,
  NakInvalidRequest: 0x61,
  NakRemoteAccess: 0x62,
  NakRemoteOperational: 0x63,
} as const

/** No end-to-end credits are told: the requester does not go by them (IBTA 1.7 §9.7.7.2). */
export const CREDITS_INVALID = 0x1f

/** End-to-end credits by code, 0 to 30 (IBTA 1.7 §9.7.7.2). */
const credits = [
  0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
  8192, 12288, 16384, 24576, 32768,
] as const

/** Credits that a code stands for. @param code 0 to 30 */
export const creditsOf = (code: number): number => credits[code]!

/** The code of the most credits that are no more than these. */
export const creditCode = (count: number): number => {
  let code = credits.length - 1
  while (credits[code]! > count) code--
  return code
}

/** RNR NAK timers by code, in units of 10 µs (IBTA 1.7 §9.7.5.2.8, table 45): code 0 is the longest. */
const rnrTimers = [
  65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
  8192, 12288, 16384, 24576, 32768, 49152,
] as const
const RNR_UNIT_PS = 1e7

/** How long a requester waits after an RNR NAK, ps: 10 µs to 655.36 ms. @param code 5 bits */
export const rnrTimerPs = (code: number): Time => rnrTimers[code & 31]! * RNR_UNIT_PS

/** What a NAK makes of the work it names (IBTA 1.7 §9.9.2). */
export const nakStatus = (syndrome: number): WcStatus => {
  if (syndrome === Syndrome.NakInvalidRequest) return WcStatus.RemInvReqErr
  if (syndrome === Syndrome.NakRemoteAccess) return WcStatus.RemAccessErr
  return WcStatus.RemOpErr
}
