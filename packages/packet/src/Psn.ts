/** Packet sequence numbers are 24 bits (IBTA 1.7 §9.2) and are compared modulo 2^24. */
export const PSN_MASK = 0xffffff

/** Most packets a requester has unacknowledged: less than half of the numbers there are, so that a comparison holds. */
export const PSN_WINDOW = 2 ** 23 - 1

/** How far `a` is after `b`: the signed 24-bit difference, -2^23 to 2^23 - 1. */
export const psnDistance = (a: number, b: number): number => ((a - b) << 8) >> 8
