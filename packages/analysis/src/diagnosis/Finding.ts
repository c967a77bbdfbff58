/** How sure a cause is, best first. */
export type Likelihood = "certain" | "likely" | "possible" | "unlikely"

export interface Cause {
  readonly likelihood: Likelihood
  readonly text: string
}

/** Whom a finding is about. */
export interface Subject {
  readonly source: string
  readonly destination: string
  /** The queue pair at the destination, where it is about one. */
  readonly qp?: number
  /** The one at the source, where it is known. */
  readonly sourceQp?: number
}

export type FindingKind =
  | "loss"
  | "reordering"
  | "duplicates"
  | "timeout"
  | "retryExceeded"
  | "lateAck"
  | "repeats"
  | "rnr"
  | "rnrRetryExceeded"
  | "invalidRequest"
  | "remoteAccessError"
  | "remoteOperationalError"
  | "invalidRdRequest"
  | "readResponseLoss"
  | "unreliableLoss"
  | "connectionRejected"
  | "connectionUnanswered"
  | "congestion"
  | "noReaction"
  | "alwaysMarked"
  | "nativeCnp"
  | "damaged"
  | "pause"
  | "psnWrap"
  | "mpaCrc"
  | "tcpRepeats"
  | "mpaRejected"
  | "terminate"

/** A symptom, and what probably causes it. */
export interface Finding {
  readonly kind: FindingKind
  /** `error`: an operation failed; `warning`: it works, slower; `info`: good to know. */
  readonly severity: "error" | "warning" | "info"
  /** The symptom in words, with its numbers. */
  readonly text: string
  readonly subject: Subject | undefined
  /** Ranked, the likeliest first. */
  readonly causes: ReadonlyArray<Cause>
  /** The first frames that show it. */
  readonly frames: ReadonlyArray<number>
  /** How often it happened. */
  readonly count: number
}

export const likely = (text: string): Cause => ({ likelihood: "likely", text })
export const possible = (text: string): Cause => ({ likelihood: "possible", text })
export const unlikely = (text: string): Cause => ({ likelihood: "unlikely", text })
export const certain = (text: string): Cause => ({ likelihood: "certain", text })

/** "1 packet", "3 packets". */
export const counted = (count: number, singular: string, plural = `${singular}s`): string =>
  `${count} ${count === 1 ? singular : plural}`

/** A duration in the unit that fits: 67 ms. */
export const duration = (ns: number): string => {
  const size = Math.abs(ns)
  if (size >= 1e9) return `${Number((ns / 1e9).toPrecision(3))} s`
  if (size >= 1e6) return `${Number((ns / 1e6).toPrecision(3))} ms`
  if (size >= 1e3) return `${Number((ns / 1e3).toPrecision(3))} us`
  return `${Math.round(ns)} ns`
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  return sorted.length === 0 ? Number.NaN : sorted[sorted.length >> 1]!
}

/** The base of local ACK timeouts: 4.096 us · 2^n (IBTA 1.7 §9.7.6.1.3). */
const TIMEOUT_BASE_NS = 4096

/** The local ACK timeout that a step between repeats means: a NIC waits at least that, and at most four times as long. */
export const ackTimeoutOf = (stepNs: number): number => {
  let code = 1
  // Timers are a little coarse.
  while (code < 31 && TIMEOUT_BASE_NS * 2 ** (code + 1) <= stepNs * 1.02) code++
  return code
}
