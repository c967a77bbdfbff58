import type { Time } from "@rdmakit/protocol"

const UNIT_PS = 4_096_000

/** The time that a code of five bits stands for, 4.096 µs · 2^n, in ps (IBTA 1.7 §12.7). */
export const timeoutPs = (code: number): Time => UNIT_PS * 2 ** code

/**
 * The code of the local ACK timeout of a path: twice its packet lifetime and the delay of the one who acknowledges, both
 * codes, rounded up to a power of two as Linux does it (IBTA 1.7 §12.7, cm_ack_timeout of cm.c).
 */
export const ackTimeoutCode = (ackDelay: number, packetLifetime: number): number => {
  const twice = packetLifetime + 1
  const sum = twice >= ackDelay ? twice + (ackDelay >= twice - 1 ? 1 : 0) : ackDelay + (twice >= ackDelay - 1 ? 1 : 0)
  return Math.min(31, sum)
}
