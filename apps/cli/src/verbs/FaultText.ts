/** `--faults loss=2%,dup=2%,reorder=5%`: what becomes of packets on their way. */
import { tryParseRate, tryParseShare, tryParseTime } from "@rdmakit/units"

/** Probabilities from 0 to 1, times in ps. The names are those of `FaultInjector`. */
export interface Faults {
  readonly loss?: number
  readonly corruption?: number
  readonly duplication?: number
  readonly reordering?: number
  readonly reorderPs?: number
  readonly delayPs?: readonly [least: number, most: number]
  /** Of a simulated network alone: the share of flows that vanish, and the rate at which the server takes packets, bit/s. */
  readonly blackHole?: number
  readonly serverBps?: number
}

/** What a simulated network alone can have, as it is written. */
export const fabricFaults = { blackHole: "hole", serverBps: "slow" } as const

const CHANCES = {
  ...{ loss: "loss", corrupt: "corruption", dup: "duplication", reorder: "reordering", hole: "blackHole" },
} as const

const EXPECTED =
  "loss, dup, reorder, corrupt, hole with a share such as 2 %, hold with a time, delay with one or two, slow with a rate"

/** @returns what is wrong, in words, where it is no such text */
export const parseFaults = (text: string): Faults | string => {
  const faults: Record<string, unknown> = {}
  for (const word of text.split(",").map((each) => each.trim())) {
    const [name = "", value] = word.split("=", 2)
    if (value === undefined) return `found "${word}", expected NAME=VALUE: ${EXPECTED}`
    const chance = CHANCES[name as keyof typeof CHANCES]
    if (chance !== undefined) {
      const share = shareOf(value)
      if (share === undefined) return `${name}: found "${value}", expected a share such as 2% or 0.02, at most 100%`
      faults[chance] = share
    } else if (name === "hold" || name === "delay") {
      const times = value.split("..").map(tryParseTime)
      const fault = times.find((time) => typeof time !== "number")
      if (fault !== undefined) return `${name}: ${(fault as Error).message}`
      const [least = 0, most = least] = times as Array<number>
      if (name === "hold") faults.reorderPs = least
      else if (least > most) return `delay: found "${value}", expected the shorter time first`
      else faults.delayPs = [least, most]
    } else if (name === "slow") {
      const rate = tryParseRate(value)
      if (typeof rate !== "number") return `slow: ${rate.message}`
      faults.serverBps = rate
    } else return `found "${name}", expected ${EXPECTED}`
  }
  return faults
}

const shareOf = (text: string): number | undefined => {
  const share = tryParseShare(text)
  return share !== undefined && share <= 1 ? share : undefined
}
