import { Data } from "effect"

export const pingpongTypes = ["rc", "uc", "ud", "srq"] as const
/** `srq` is RC over a shared receive queue. */
export type PingpongType = (typeof pingpongTypes)[number]

/** What is sent to and fro. What is left out is as in libibverbs/examples. */
export interface PingpongOptions {
  readonly type: PingpongType
  /** Default 4,096; of UD 2,048, and no more than the port's MTU. */
  readonly bytes?: number | undefined
  /** Exchanges, of srq those of all queue pairs together. Default 1,000. */
  readonly iterations?: number | undefined
  /** srq: 1 to 256. Default 16. */
  readonly queuePairs?: number | undefined
  /** 256 to 4,096. Default 1,024. */
  readonly mtuBytes?: number | undefined
  /** Receives that are posted at a time. Default 500; fewer where they would take more than 64 MiB. */
  readonly rxDepth?: number | undefined
  /** Every octet of every message is checked. */
  readonly check?: boolean | undefined
  readonly gidIndex?: number | undefined
}

/** The same with every default in place. */
export interface PingpongSettings {
  readonly type: PingpongType
  readonly bytes: number
  readonly iterations: number
  readonly queuePairs: number
  readonly mtuBytes: number
  readonly rxDepth: number
  readonly check: boolean
  readonly gidIndex: number | undefined
}

/** Messages that cannot be sent so. */
export class PingpongSettingError extends Data.TaggedError("PingpongSettingError")<{
  readonly option: keyof PingpongOptions
  readonly found: string
  readonly expected: string
}> {
  override get message(): string {
    return `${this.option}: found ${this.found}, expected ${this.expected}`
  }
}

/** Messages of srq_pingpong, whatever the number of queue pairs (MAX_QP). */
export const SRQ_ADDRESSES = 256
const QUEUE_PAIRS = 16
const BYTES = 4096
const DATAGRAM_BYTES = 2048
const BYTES_MAX = 2 ** 31 - 1
const ITERATIONS = 1000
const ITERATIONS_MAX = 2 ** 31 - 1
const MTU = 1024
const RX_DEPTH = 500
const RX_DEPTH_MAX = 16_384
/** Of all receives together. */
const RECEIVE_BYTES_MAX = 2 ** 26
const MTUS: ReadonlyArray<number> = [256, 512, 1024, 2048, 4096]

/** @throws PingpongSettingError */
export const pingpongSettings = (options: PingpongOptions): PingpongSettings => {
  const { type, mtuBytes = MTU, check = false, gidIndex } = options
  const whole = (option: keyof PingpongOptions, least: number, most: number, otherwise: number): number => {
    const value = (options[option] as number | undefined) ?? otherwise
    if (Number.isInteger(value) && value >= least && value <= most) return value
    throw refusal(option, String(value), `a whole number ${least}..${most}`)
  }
  if (!MTUS.includes(mtuBytes)) throw refusal("mtuBytes", String(mtuBytes), MTUS.join(", "))
  const bytes = whole("bytes", 0, BYTES_MAX, type === "ud" ? DATAGRAM_BYTES : BYTES)
  const iterations = whole("iterations", 1, ITERATIONS_MAX, ITERATIONS)
  const isShared = type === "srq"
  const queuePairs = whole("queuePairs", 1, isShared ? SRQ_ADDRESSES : 1, isShared ? QUEUE_PAIRS : 1)
  const rxDepth = whole("rxDepth", 1, RX_DEPTH_MAX, RX_DEPTH)
  // Two for each queue pair there have to be: srq_pingpong posts again when no more are left than queue pairs.
  const room = Math.max(2 * queuePairs, Math.floor(RECEIVE_BYTES_MAX / Math.max(1, bytes)))
  return { type, bytes, iterations, queuePairs, mtuBytes, rxDepth: Math.min(rxDepth, room), check, gidIndex }
}

export const refusal = (option: keyof PingpongOptions, found: string, expected: string): PingpongSettingError =>
  new PingpongSettingError({ option, found, expected })
