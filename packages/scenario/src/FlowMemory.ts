/** How many flows the memory of a process has room for. */
import type { FieldFault } from "./ScenarioDocument.ts"

/**
 * Heap of a flow of reliable connections from its start to its end, bytes: measured with HPCC, 1,950, and 600 while the
 * results of one that has not finished are written.
 */
const UNDER_WAY_BYTES = 2600
/** Heap of a flow before and after that, bytes: measured while a list of them is made, checked and written. */
const FLOW_BYTES = 300

/** What there is room for. */
export interface FlowRoom {
  /** Flows in all. */
  readonly inAll: number
  /** Flows that begin at the same moment: whatever becomes of them, they are all under way together. */
  readonly atOnce: number
  /** Of each of those, bytes. */
  readonly flowBytes: number
}

/**
 * @param memoryBytes what the process may use
 * @param flowBytes heap of a flow under way; default that of reliable connections
 */
export const flowRoom = (memoryBytes: number, flowBytes = UNDER_WAY_BYTES): FlowRoom => ({
  inAll: Math.floor(memoryBytes / FLOW_BYTES),
  atOnce: Math.floor(memoryBytes / flowBytes),
  flowBytes,
})

const ADVICE = "spread their starts, or give the process more memory"

/** What is wrong with so many flows that begin at the same moment; undefined: nothing. */
export const tooManyAtOnce = (count: number, { atOnce, flowBytes }: FlowRoom): FieldFault | undefined => {
  if (count <= atOnce) return undefined
  const expected = `at most ${atOnce}, for each takes ${flowBytes} bytes of memory or more`
  return { found: `${count} flows that begin at the same moment`, expected, hint: ADVICE }
}

/** The most flows that begin at the same moment. @param starts one for each flow; equal ones stand together */
export const mostAtOnce = (starts: Iterable<number>): number => {
  let most = 0
  let count = 0
  let before = Number.NaN
  for (const start of starts) {
    count = start === before ? count + 1 : 1
    before = start
    if (count > most) most = count
  }
  return most
}
