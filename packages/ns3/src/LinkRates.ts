import { formatRate } from "@rdmakit/units"
import type { ConfigFile } from "./Config.ts"
import { Ns3FormatError } from "./FormatError.ts"
import { type Ns3Topology, switchFlags } from "./Topology.ts"

/** The line rates that HPCC's INT can name, in bits/s: its field has three bits. */
export const intRatesBps: ReadonlyArray<number> = [25e9, 50e9, 100e9, 200e9, 400e9]

/**
 * Checks that a config has what the links of a topology need: a threshold in KMIN_MAP, KMAX_MAP and PMAX_MAP for the
 * rate of every link at a switch while switches mark ECN (an optimised build of the original takes 0 and marks
 * everything), and with HPCC a rate that INT can name.
 *
 * Throws {@link Ns3FormatError} at the first link that fails.
 */
export const checkLinkRates = (config: ConfigFile, topology: Ns3Topology, topologyFile: string): void => {
  const { ccMode, ecnEnabled, kminBytes, kmaxBytes, pmax } = config.config
  const flags = switchFlags(topology)
  const maps = [
    ["KMIN_MAP", kminBytes],
    ["KMAX_MAP", kmaxBytes],
    ["PMAX_MAP", pmax],
  ] as const
  for (const { a, b, rateBps, line } of topology.links) {
    if (flags[a] === 0 && flags[b] === 0) continue
    const refuse = (expected: string, hint: string): never => {
      const found = formatRate(rateBps)
      throw new Ns3FormatError({ file: topologyFile, line, column: 1, field: "rate", found, expected, hint })
    }
    for (const [key, map] of maps) {
      if (!ecnEnabled || map.has(rateBps)) continue
      const rates = map.size === 0 ? "none" : Array.from(map.keys(), formatRate).join(", ")
      refuse(`a rate in ${key} of ${config.file}`, `the map has ${rates}; add ${rateBps} or switch ENABLE_QCN off`)
    }
    if (ccMode === 3 && !intRatesBps.includes(rateBps)) {
      refuse(intRatesBps.map(formatRate).join(", "), "HPCC's telemetry has no code for any other rate")
    }
  }
}
