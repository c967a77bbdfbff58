import type { QpType } from "@rdmakit/protocol"
import { Data } from "effect"
import { ITERATIONS_LEAST } from "./Latency.ts"

/** What is measured: an operation, and its bandwidth or its latency. */
export const perfTests = [
  "send-bw",
  "send-lat",
  "write-bw",
  "write-lat",
  "read-bw",
  "read-lat",
  "atomic-bw",
  "atomic-lat",
] as const
export type PerfTest = (typeof perfTests)[number]
/** Services that perftest measures. */
export type PerfService = Exclude<QpType, "srd">
export type PerfVerb = "send" | "write" | "read" | "atomic"

/** What a measurement is asked to be. What is left out is perftest's default. */
export interface PerfOptions {
  readonly test: PerfTest
  /** Default "rc". READs and atomics are of RC, WRITEs of RC and UC. */
  readonly connection?: PerfService | undefined
  /** Of a message. Default 65,536 for bandwidth, 2 for latency; atomics are of 8. */
  readonly bytes?: number | undefined
  /** All powers of two from 2 to 2^23, of UD to the path MTU, in place of one size. */
  readonly all?: boolean | undefined
  /** Of one queue pair, from 5 on. Default 1,000; 5,000 for the bandwidth of WRITEs. */
  readonly iterations?: number | undefined
  /** Default 1; latency is measured with one. */
  readonly queuePairs?: number | undefined
  /** Both sides send: of bandwidth. */
  readonly bidirectional?: boolean | undefined
  /** 256, 512, 1,024, 2,048 or 4,096. Default: the port's. */
  readonly mtuBytes?: number | undefined
  /** Requests that a queue pair may have outstanding. Default 128; latency is measured with 1. */
  readonly txDepth?: number | undefined
  /** Requests that one completion stands for. Default 100 up to 8,192 bytes, above them 1. */
  readonly moderation?: number | undefined
  /** Messages up to so many bytes are inline. Default 0 for bandwidth; 236, of UD 188, of WRITEs 220 for latency. */
  readonly inlineBytes?: number | undefined
  /** Which of the port's GIDs. Default: one of IPv4, RoCE v2. */
  readonly gidIndex?: number | undefined
}

/** The same with every default in place. */
export interface PerfSettings {
  readonly test: PerfTest
  readonly verb: PerfVerb
  readonly kind: "bw" | "lat"
  readonly connection: PerfService
  readonly bytes: number
  readonly all: boolean
  readonly iterations: number
  readonly queuePairs: number
  readonly bidirectional: boolean
  readonly mtuBytes: number | undefined
  readonly txDepth: number
  /** Receives that a queue pair has posted. */
  readonly rxDepth: number
  readonly moderation: number | undefined
  readonly inlineBytes: number
  readonly gidIndex: number | undefined
}

/** A measurement that there is none of. */
export class PerfSettingError extends Data.TaggedError("PerfSettingError")<{
  readonly option: keyof PerfOptions
  readonly found: string
  readonly expected: string
}> {
  override get message(): string {
    return `${this.option}: found ${this.found}, expected ${this.expected}`
  }
}

const SIZE_BANDWIDTH = 65_536
const SIZE_LATENCY = 2
const SIZE_ATOMIC = 8
/** Of all sizes the largest: 2^23. */
const SIZE_ALL_POWER = 23
const SIZE_MAX = 2 ** 31 - 1
const ITERATIONS = 1000
const ITERATIONS_WRITE_BANDWIDTH = 5000
const ITERATIONS_MAX = 100_000_000
const TX_DEPTH = 128
const TX_DEPTH_MAX = 15_000
const RX_DEPTH = 512
const MODERATION = 100
const MODERATION_MAX = 1024
/** Above it every request is signalled. */
const MODERATED_BYTES_MAX = 8192
const QUEUE_PAIRS_MAX = 16_384
const INLINE = { send: { rc: 236, uc: 236, ud: 188 }, write: { rc: 220, uc: 220, ud: 0 } } as const
const INLINE_MAX = 912
const MTUS: ReadonlyArray<number> = [256, 512, 1024, 2048, 4096]

/** Defaults and limits as perftest 6.06 has them (perftest_parameters.c). @throws PerfSettingError */
export const perfSettings = (options: PerfOptions): PerfSettings => {
  const [verb, kind] = options.test.split("-") as [PerfVerb, "bw" | "lat"]
  const { connection = "rc", bidirectional = false, mtuBytes, moderation } = options
  const isOneSided = verb === "read" || verb === "atomic"
  if (isOneSided && connection !== "rc") throw refuse("connection", connection, `rc, for ${verb}s`)
  if (verb === "write" && connection === "ud") throw refuse("connection", "ud", "rc or uc, for writes")
  if (kind === "lat" && bidirectional) throw refuse("bidirectional", "it with latency", "it with bandwidth")
  const whole = (option: keyof PerfOptions, least: number, most: number, otherwise: number): number => {
    const value = (options[option] as number | undefined) ?? otherwise
    if (Number.isInteger(value) && value >= least && value <= most) return value
    throw refuse(option, String(value), `a whole number ${least}..${most}`)
  }
  const isAtomic = verb === "atomic"
  if (isAtomic && options.all) throw refuse("all", "it with atomics", "another test: atomics are of 8 bytes")
  if (options.all && options.bytes !== undefined) throw refuse("bytes", "it with all sizes", "one of the two")
  if (mtuBytes !== undefined && !MTUS.includes(mtuBytes)) throw refuse("mtuBytes", String(mtuBytes), MTUS.join(", "))
  const size = isAtomic ? SIZE_ATOMIC : kind === "bw" ? SIZE_BANDWIDTH : SIZE_LATENCY
  const bytes = isAtomic ? whole("bytes", SIZE_ATOMIC, SIZE_ATOMIC, size) : whole("bytes", 0, SIZE_MAX, size)
  const usual = options.test === "write-bw" ? ITERATIONS_WRITE_BANDWIDTH : ITERATIONS
  const iterations = whole("iterations", ITERATIONS_LEAST, ITERATIONS_MAX, usual)
  const queuePairs = whole("queuePairs", 1, kind === "bw" ? QUEUE_PAIRS_MAX : 1, 1)
  const txDepth = whole("txDepth", 1, TX_DEPTH_MAX, TX_DEPTH)
  const inline = kind === "lat" && !isOneSided ? INLINE[verb][connection] : 0
  return {
    ...{ test: options.test, verb, kind, connection, bytes, all: options.all ?? false, iterations, queuePairs },
    ...{ bidirectional, mtuBytes, gidIndex: options.gidIndex },
    txDepth: kind === "lat" ? 1 : Math.min(txDepth, iterations),
    rxDepth: Math.min(RX_DEPTH, iterations),
    moderation: moderation === undefined ? undefined : whole("moderation", 1, MODERATION_MAX, MODERATION),
    inlineBytes: whole("inlineBytes", 0, INLINE_MAX, inline),
  }
}

const refuse = (option: keyof PerfOptions, found: string, expected: string): PerfSettingError =>
  new PerfSettingError({ option, found, expected })

/** The sizes that are measured, one after the other. A datagram is no longer than the path MTU. @throws PerfSettingError */
export const sizesOf = (settings: PerfSettings, mtuBytes: number): ReadonlyArray<number> => {
  const { all, bytes, connection, kind } = settings
  const isDatagram = connection === "ud"
  if (all) {
    const most = isDatagram ? Math.log2(mtuBytes) : SIZE_ALL_POWER
    return Array.from({ length: most }, (_, index) => 2 ** (index + 1))
  }
  if (!isDatagram || bytes <= mtuBytes) return [bytes]
  // The default is more than a datagram holds: it becomes the most that one does.
  if (kind === "bw" && bytes === SIZE_BANDWIDTH) return [mtuBytes]
  throw refuse("bytes", String(bytes), `at most ${mtuBytes}, the path MTU, for datagrams`)
}

/** Most completions of one queue pair that may wait at once, on either side. */
export const completionsOf = ({ verb, kind, bidirectional, txDepth, rxDepth }: PerfSettings): number => {
  if (verb !== "send") return txDepth
  return kind === "lat" || bidirectional ? txDepth + rxDepth : Math.max(txDepth, rxDepth)
}

/** Requests that one completion stands for, for messages of a size. */
export const moderationOf = ({ kind, moderation, txDepth }: PerfSettings, bytes: number): number => {
  if (kind === "lat") return 1
  return Math.min(moderation ?? (bytes <= MODERATED_BYTES_MAX ? MODERATION : 1), txDepth)
}
