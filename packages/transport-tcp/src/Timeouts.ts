import type { PathInfo, Time } from "@rdmakit/protocol"
import { serializationPs } from "@rdmakit/units"
import type { TcpConfig, TcpTimeout } from "./TcpConfig.ts"

/**
 * Base RTTs of a path that a timeout has at least, and full segments: these count where a segment takes most of a round
 * trip, so that a few in front of it double that. With 8 and 16 an incast of eight is left alone. CUBIC fills whatever
 * buffer there is: the longest timeout is not to be below the round trips that come of it.
 */
const INITIAL_RTTS = 8
const MOST_RTTS = 256
const QUEUE_SEGMENTS = 16

/** The times of one connection, ps: what a config says, and longer where it follows a slow path. */
export interface Timeouts extends Readonly<Record<TcpTimeout, Time>> {
  /** A tail is probed no sooner, as Linux has two ticks of its clock (tcp_schedule_loss_probe, TCP_TIMEOUT_MIN). */
  readonly leastProbePs: Time
}

/** @param path undefined: an end that sends nothing of its own */
export const timeoutsOn = (config: TcpConfig, path: PathInfo | undefined): Timeouts => {
  const { framing, granularityPs, initialTimeoutPs, mostTimeoutPs, mtuBytes } = config
  if (path === undefined) return { granularityPs, initialTimeoutPs, mostTimeoutPs, leastProbePs: 0 }
  const { baseRttPs, lineRateBps } = path
  const atLeast = (option: TcpTimeout, leastPs: Time): Time =>
    config.followsPath.includes(option) ? Math.max(config[option], leastPs) : config[option]
  const queuePs = QUEUE_SEGMENTS * serializationPs(mtuBytes + framing.dataBytes, lineRateBps)
  return {
    granularityPs: atLeast("granularityPs", queuePs),
    initialTimeoutPs: atLeast("initialTimeoutPs", INITIAL_RTTS * baseRttPs),
    mostTimeoutPs: atLeast("mostTimeoutPs", MOST_RTTS * baseRttPs),
    leastProbePs: queuePs,
  }
}
