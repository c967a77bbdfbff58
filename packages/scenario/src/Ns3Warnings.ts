import { type ConfigFile, idleEntries, type Ns3Config, type Ns3Note, type Ns3Topology, switchFlags } from "@rdmakit/ns3"
import type { InputNote } from "./InputsRefused.ts"
import { ns3HeadroomBytes } from "./Ns3Checks.ts"

/** Keys that change something in the original and not yet here: when they ask for something, and what happens instead. */
const waiting: ReadonlyArray<readonly [key: string, asks: (config: Ns3Config) => boolean, why: string]> = [
  ["LINK_DOWN", (config) => config.linkDown !== undefined, "links stay up"],
  ["L2_BACK_TO_ZERO", (config) => config.l2BackToZero, "a loss goes back to the lost packet, as with 0"],
]

/** One warning for each key of the config that changes nothing, with the reason. */
export const effectWarnings = (configFile: ConfigFile): ReadonlyArray<InputNote> => {
  const warnings: Array<InputNote> = []
  for (const { entry, why } of idleEntries(configFile)) {
    const { file, line, column } = entry
    warnings.push({ file, line, column, kind: "warning", text: `${entry.key}: ${why}`, idleKey: entry.key })
  }
  for (const [key, asks, why] of waiting) {
    const entry = configFile.entries.get(key)
    if (entry === undefined || !asks(configFile.config)) continue
    const { file, line, column } = entry
    warnings.push({ file, line, column, kind: "warning", text: `${key}: no effect in rdmakit yet: ${why}` })
  }
  return warnings.sort((a, b) => a.line - b.line)
}

/** What a topology may not do as meant. */
export const topologyWarnings = (
  configFile: ConfigFile,
  topology: Ns3Topology,
  topologyFile: string,
): ReadonlyArray<Ns3Note> => {
  const { payloadBytes } = configFile.config
  const isSwitch = switchFlags(topology)
  const linked = new Uint8Array(topology.nodes)
  const short: Array<Ns3Topology["links"][number]> = []
  for (const link of topology.links) {
    linked[link.a] = linked[link.b] = 1
    const atSwitch = isSwitch[link.a] === 1 || isSwitch[link.b] === 1
    if (atSwitch && ns3HeadroomBytes(link.rateBps, link.delayPs) < payloadBytes) short.push(link)
  }
  const warnings: Array<Ns3Note> = []
  const [first] = short
  if (first !== undefined) {
    const headroomBytes = ns3HeadroomBytes(first.rateBps, first.delayPs)
    const others = short.length === 1 ? "" : `, and so it is with ${short.length - 1} more`
    const text = `link ${first.a}–${first.b} has a headroom of ${headroomBytes} bytes, less than one packet${others}: switches may drop although PFC pauses; the simulator keeps three times delay · rate`
    warnings.push({ file: topologyFile, line: first.line, column: 1, text })
  }
  const alone = linked.findIndex((flag, node) => flag === 0 && isSwitch[node] === 0)
  if (alone >= 0) {
    warnings.push({ file: topologyFile, line: 1, column: 1, text: `host ${alone} has no link` })
  }
  return warnings
}
