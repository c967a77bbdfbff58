import type { PathInfo, Time } from "@rdmakit/protocol"
import { serializationPs } from "@rdmakit/units"
import type { SrdConfig, SrdTimeout } from "./SrdConfig.ts"

/**
 * Base RTTs of a path that a timeout has at least, and full packets: these count where a packet takes most of a round
 * trip, so that a few in front of it double that. With 5 and 16 an incast of eight is left alone. Model: AWS publishes none.
 */
const INITIAL_RTTS = 5
const MOST_RTTS = 32
const UNRESPONSIVE_RTTS = 256
const LEAST_PACKETS = 16

/** The timeouts of one context, ps: what a config says, and longer where it follows a slow path. */
export type Timeouts = Readonly<Record<SrdTimeout, Time>>

/** @param path undefined: an end that sends nothing of its own */
export const timeoutsOn = (config: SrdConfig, path: PathInfo | undefined): Timeouts => {
  if (path === undefined) return config
  const { baseRttPs, lineRateBps, mtuBytes } = path
  const atLeast = (option: SrdTimeout, leastPs: Time): Time =>
    config.followsPath.includes(option) ? Math.max(config[option], leastPs) : config[option]
  const packetPs = serializationPs(mtuBytes + config.framing.dataBytes, lineRateBps)
  return {
    initialTimeoutPs: atLeast("initialTimeoutPs", INITIAL_RTTS * baseRttPs),
    leastTimeoutPs: atLeast("leastTimeoutPs", LEAST_PACKETS * packetPs),
    mostTimeoutPs: atLeast("mostTimeoutPs", MOST_RTTS * baseRttPs),
    unresponsiveAfterPs: atLeast("unresponsiveAfterPs", UNRESPONSIVE_RTTS * baseRttPs),
  }
}
