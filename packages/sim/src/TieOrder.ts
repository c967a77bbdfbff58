/**
 * How events at one time take turns.
 *
 * "canonical": by what they are, whenever they were made: ends of serializations by port, then arrivals by the port that
 * sent, wake-ups by port, timers by endpoint and number, calls by target and argument. Two that are the same in all that
 * cannot be told apart. One that is made for the present goes next to those that are left.
 *
 * "insertion": in the order in which they were scheduled, a transmission's two when it starts (the ns-3 model).
 */
export type TieOrder = "canonical" | "insertion"

// Where the order numbers of each kind begin, all of them in 31 bits, so that no two are too far apart to be compared.
// Ports take 20 bits (`Layout.PORTS_MAX`), and the ends of their serializations are numbered from 0.

/** Before every event of a moment. */
export const BEFORE_ALL = -1
export const ARRIVALS = 1 << 20
export const WAKES = 2 << 20
export const TIMERS = 4 << 20
export const CALLS = 1 << 30

/** A timer: its endpoint (more than can call at all) · 16 + its number. */
export const TIMER_BITS = 4
/** A call: its target, 6 bits · its argument. */
export const ARGUMENT_BITS = 24
export const TARGETS_MAX = 64
