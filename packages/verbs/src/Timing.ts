import { hasFields } from "@rdmakit/protocol"
import { formatTime, MICROSECOND, NANOSECOND, NEVER, type Time, tryParseTime, UnitError } from "@rdmakit/units"
import { VerbsError, wrongType } from "./VerbsError.ts"

/**
 * A span of time as queue pairs are told it: a text with its unit, such as "640us", which is rounded up to the next span that
 * has a code, or the code itself. The local ACK timeout takes "never" too.
 */
export type TimeSetting = string | { readonly code: number }

/** A span of time that has a code of five bits. */
export interface TimeCode {
  /** What goes into `ibv_qp_attr`, and on the wire. 0 to 31. */
  readonly code: number
  /** What the code means, ps; `NEVER` for an ACK timeout of code 0. */
  readonly delayPs: Time
  /** The same in words: "640us". */
  readonly text: string
}

const CODES = 32

/** In units of 10 µs, by code (IBTA 1.7 table 45). Code 0 is the longest of all. */
const RNR_TIMERS = [
  65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
  8192, 12288, 16384, 24576, 32768, 49152,
]

/** The ACK timeout is 4.096 µs · 2^code (IBTA 1.7 §9.7.6.1.3). */
const TIMEOUT_UNIT: Time = 4_096 * NANOSECOND

const timeCode = (code: number, delayPs: Time): TimeCode => ({ code, delayPs, text: formatTime(delayPs) })

const rnrTimers: ReadonlyArray<TimeCode> = RNR_TIMERS.map((tens, code) => timeCode(code, tens * 10 * MICROSECOND))

const timeouts: ReadonlyArray<TimeCode> = Array.from({ length: CODES }, (_, code) =>
  timeCode(code, code === 0 ? NEVER : TIMEOUT_UNIT * 2 ** code),
)

const refuse = (attribute: string, found: string, remedy: string): VerbsError =>
  new VerbsError({ errno: "EINVAL", verb: "modify_qp", attribute, problem: `found ${found}`, remedy })

/** The shortest span of a table that is no shorter than what is asked for. */
const choose = (attribute: string, table: ReadonlyArray<TimeCode>, setting: TimeSetting): TimeCode => {
  const spans = [...table].sort((a, b) => a.delayPs - b.delayPs)
  const longest = spans.findLast((entry) => entry.delayPs !== NEVER)!
  const range = `${spans[0]!.text} to ${longest.text}`
  if (typeof setting !== "string") {
    if (!hasFields(setting))
      throw wrongType("modify_qp", attribute, setting, 'give a time, as "640us", or { code: 12 }')
    const entry = table[setting.code]
    if (entry === undefined) throw refuse(attribute, `code ${setting.code}`, "give a code from 0 to 31")
    return entry
  }
  if (setting === "never" && table[0]!.delayPs === NEVER) return table[0]!
  const asked = tryParseTime(setting)
  if (asked instanceof UnitError) throw refuse(attribute, `"${setting}"`, `give a time with its unit, ${range}`)
  const entry = spans.find((each) => each.delayPs >= asked)
  if (entry === undefined || entry.delayPs === NEVER)
    throw refuse(attribute, `"${setting}"`, `give at most ${longest.text}`)
  return entry
}

/**
 * The RNR timer of a time or a code: how long a peer waits, at least, before it tries again where no receive was posted
 * (`min_rnr_timer`, IBTA 1.7 table 45).
 *
 * `rnrTimer("640us").code` is 12; `rnrTimer("650us")` is 960 µs, code 13; `rnrTimer({ code: 0 })` is 655.36 ms, the longest.
 *
 * @param setting 10us to 655.36ms, rounded up to the next span that has a code
 * @throws VerbsError EINVAL for a text that is no time, a time that is too long, a code outside 0 to 31
 */
export const rnrTimer = (setting: TimeSetting): TimeCode => choose("minRnrTimer", rnrTimers, setting)

/**
 * The local ACK timeout of a time or a code: 4.096 µs · 2^code (IBTA 1.7 §9.7.6.1.3). A requester waits as long for an
 * acknowledgement, and between that and four times as long is allowed, before it sends again.
 *
 * `ackTimeout("67.1ms").code` is 14, 67.108864 ms; `ackTimeout("never").code` is 0.
 *
 * @param setting "never", or 8.192us to 8796.093022208s, rounded up to the next span that has a code
 * @throws VerbsError EINVAL for a text that is no time, a time that is too long, a code outside 0 to 31
 */
export const ackTimeout = (setting: TimeSetting): TimeCode => choose("timeout", timeouts, setting)
