import {
  type ConfigEntry,
  type ConfigFile,
  idleEntries,
  linkDelayNs,
  type Ns3Config,
  type Ns3Flows,
  type Ns3Note,
  type Ns3Topology,
  type OtherController,
  switchFlags,
} from "@rdmakit/ns3"
import { type Graph, Ports, Routes } from "@rdmakit/topology"
import { formatRate } from "@rdmakit/units"
import type { InputNote } from "./InputsRefused.ts"
import { ns3HeadroomBytes } from "./Ns3Checks.ts"
import { LINK_DOWN_FROM_PS, linkBetween, ns3Routes } from "./Ns3Mode.ts"

/** One warning for each key of the config that changes nothing, with the reason. */
export const effectWarnings = (configFile: ConfigFile, other?: OtherController): ReadonlyArray<InputNote> => {
  const warnings: Array<InputNote> = []
  for (const { entry, why } of idleEntries(configFile, other)) {
    const { file, line, column } = entry
    warnings.push({ file, line, column, kind: "warning", text: `${entry.key}: ${why}`, idleKey: entry.key })
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
    if (atSwitch && ns3HeadroomBytes(link.rateBps, linkDelayNs(link) * 1000) < payloadBytes) short.push(link)
  }
  const warnings: Array<Ns3Note> = []
  const [first] = short
  if (first !== undefined) {
    const headroomBytes = ns3HeadroomBytes(first.rateBps, linkDelayNs(first) * 1000)
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

/** What happens to flows because of a key of the config, as in the simulator. */
export const flowWarnings = (
  configFile: ConfigFile,
  graph: Graph,
  flows: Ns3Flows,
  before: Routes,
): ReadonlyArray<Ns3Note> => {
  const { config, entries } = configFile
  const warnings: Array<Ns3Note> = []
  const warn = (entry: ConfigEntry | undefined, text: string): void => {
    if (entry === undefined) return
    const { key, file, line, column } = entry
    warnings.push({ file, line, column, text: `${key}: ${text}` })
  }
  const indices = Array.from({ length: flows.count }, (_, flow) => flow)
  if (config.l2AckIntervalBytes === 0) {
    const { file, line, column } = entries.get("L2_ACK_INTERVAL") ?? { file: configFile.file, line: 1, column: 1 }
    const text =
      "L2_ACK_INTERVAL: with 0, its default, the simulator takes no acknowledgement, and no flow ends there; here they are taken: write 1"
    warnings.push({ file, line, column, text })
  } else {
    const late = indices.filter((flow) => isNeverAcknowledged(config, flows.sizeBytes[flow]!)).length
    const text = `the last packet of ${flowsText(late)} is not acknowledged: the simulator never ends such a flow, here it ends by TAIL_LOSS_TIMEOUT`
    if (late > 0) warn(entries.get("L2_ACK_INTERVAL"), text)
  }
  if (config.ccMode === 3) {
    const text =
      "with HPCC the simulator divides by the window, 0, and so does this: rates are then the least or the line's"
    if (!config.hasWindow) warn(entries.get("HAS_WIN"), text)
    const far = indices.filter((flow) => before.distance(flows.src[flow]!, flows.dst[flow]!) > INT_HOPS_MAX + 1).length
    const room = `INT has room for ${INT_HOPS_MAX} switches, and ${flowsText(far)} would need more: their rates stay as they are, as in the simulator`
    if (far > 0) warn(entries.get("CC_MODE"), room)
  }
  if (config.l2BackToZero) {
    const endless = indices.filter((flow) => flows.sizeBytes[flow]! % config.l2ChunkBytes !== 0).length
    const text = `a flow whose size is no multiple of L2_CHUNK_SIZE, ${config.l2ChunkBytes}, never ends, as in the simulator: ${flowsText(endless)}`
    if (endless > 0) warn(entries.get("L2_BACK_TO_ZERO"), text)
    const stuck = `acknowledgements count whole chunks of ${config.l2ChunkBytes} bytes: a flow whose window (HAS_WIN) falls below one waits for ever, as in the simulator`
    if (config.hasWindow) warn(entries.get("L2_BACK_TO_ZERO"), stuck)
  }
  const crossed = [...config.kminBytes].find(([rate, kmin]) => kmin > (config.kmaxBytes.get(rate) ?? Infinity))
  if (crossed !== undefined && config.ecnEnabled) {
    const text = `at ${formatRate(crossed[0])} Kmin is above Kmax: all is marked above Kmax and nothing below, as in the simulator`
    warn(entries.get("KMIN_MAP"), text)
  }
  if (config.linkDown !== undefined && LINK_DOWN_FROM_PS + config.linkDown.afterPs >= config.stopNs * 1000) {
    warn(entries.get("LINK_DOWN"), "no effect: the run has ended by then, see SIMULATOR_STOP_TIME")
  } else if (config.linkDown !== undefined) {
    const routes = new Routes(graph, new Ports(graph), ns3Routes)
    routes.setLink(linkBetween(graph, config.linkDown.a, config.linkDown.b), false)
    const cut = indices.filter((flow) => !routes.reachable(flows.src[flow]!, flows.dst[flow]!)).length
    const text = `it leaves ${flowsText(cut)} without a path: with such a flow under way the simulator fails, here it does not end`
    if (cut > 0) warn(entries.get("LINK_DOWN"), text)
  }
  return warnings
}

/** Hops of IntHeader. */
const INT_HOPS_MAX = 5

/** Whether too little comes of a flow for its last packet to be acknowledged (RdmaHw::ReceiverCheckSeq). */
const isNeverAcknowledged = ({ l2AckIntervalBytes, l2ChunkBytes }: Ns3Config, bytes: number): boolean =>
  bytes > 0 && bytes < l2AckIntervalBytes && (l2ChunkBytes === 0 || bytes % l2ChunkBytes !== 0)

const flowsText = (count: number): string => `${count} ${count === 1 ? "flow" : "flows"}`
