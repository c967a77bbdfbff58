import type { ConfigFile, Ns3FormatError } from "@rdmakit/ns3"
import { OptionError } from "@rdmakit/protocol"
import type { Graph } from "@rdmakit/topology"
import { keyFault } from "./ConfigFault.ts"
import { ns3Parts } from "./Ns3Mode.ts"

/** Which key an option of a controller comes from. */
const keys: Readonly<Record<string, string>> = {
  ewmaGain: "EWMA_GAIN",
  alphaResumeIntervalPs: "ALPHA_RESUME_INTERVAL",
  rateDecreaseIntervalPs: "RATE_DECREASE_INTERVAL",
  rpTimerPs: "RP_TIMER",
  fastRecoveryTimes: "FAST_RECOVERY_TIMES",
  eta: "U_TARGET",
  maxStage: "MI_THRESH",
  additiveIncreaseBps: "RATE_AI",
  hyperIncreaseBps: "RATE_HAI",
  minRateBps: "MIN_RATE",
  g: "EWMA_GAIN",
  logBase: "PINT_LOG_BASE",
  probability: "PINT_PROB",
}

/** The same where a mode has a key of its own. */
const keysByMode: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  8: { additiveIncreaseBps: "DCTCP_RATE_AI" },
}

/** The controller of the config takes the values it is given. */
export const checkController = (configFile: ConfigFile, graph: Graph): Ns3FormatError | undefined => {
  try {
    const path = { rttNs: 0, bdpBytes: 0 }
    // Of the transport's keys, L2_BACK_TO_ZERO has a check of its own.
    const config = { ...configFile.config, l2BackToZero: false }
    ns3Parts(config, graph, { maxRttNs: 0, maxBdpBytes: 0, pair: () => path })
    return undefined
  } catch (error) {
    if (!(error instanceof OptionError)) throw error
    const key = keysByMode[configFile.config.ccMode]?.[error.option] ?? keys[error.option] ?? error.option
    const rate = error.option.endsWith("Bps") ? " bit/s" : ""
    return keyFault(configFile, key, { expected: `${error.expected}${rate}` })
  }
}
