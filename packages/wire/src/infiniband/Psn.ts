import { uint } from "../Octets.ts"

/** Packet sequence numbers count modulo this (IBTA 1.7 §9.7.2). */
export const PSNS = 0x100_0000

/** The packet `count` after `psn`; `count` may be negative. */
export const psnPlus = (psn: number, count: number): number => (((psn + count) % PSNS) + PSNS) % PSNS

/**
 * How far `psn` is after `reference`, −2^23 to 2^23 − 1: negative when it is before it. The order of numbers that wrap is
 * only that of those within half the circle.
 */
export const psnDistance = (psn: number, reference: number): number => ((psn - reference) << 8) >> 8

/** How many packets, and sequence numbers, a message takes: one when it is empty. */
export const packetsOf = (messageBytes: number, mtuBytes: number): number =>
  Math.max(1, Math.ceil(uint(messageBytes, 53, "bth", "messageBytes") / mtuBytes))
