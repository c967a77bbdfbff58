/** What two fields of a scenario's `switch` say together. */
import { type NativeOptions, reorders, usesFlowlets } from "@rdmakit/fabric"
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { ControllerFactory } from "@rdmakit/protocol"
import type { Graph, Ports, Routes } from "@rdmakit/topology"
import { type InputNote, warningAt } from "./InputsRefused.ts"
import type { FieldPath, FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioSwitch, ScenarioTransport } from "./ScenarioSchema.ts"

/** A turn lets through the largest frame times this at most, which has to be counted. */
const WEIGHT_RATIO_MAX = 10_000

/** Fields that contradict each other, or that others leave without effect. */
export const switchFaults = (section: ScenarioSwitch, document: FieldSource): ReadonlyArray<Ns3FormatError> => {
  const faults: Array<Ns3FormatError> = []
  const given = (key: keyof ScenarioSwitch): boolean => section[key] !== undefined
  const refuse = (key: keyof ScenarioSwitch, expected: string, hint: string): void => {
    faults.push(document.fault(["switch", key], { expected, hint }))
  }
  const lossless = section.lossless ?? true
  for (const key of ["pauseThreshold", "pauseAlpha"] as const) {
    if (given(key) && !lossless) refuse(key, "lossless: true", "without PFC nobody is paused: see egressThreshold")
  }
  for (const key of ["egressThreshold", "egressAlpha"] as const) {
    if (given(key) && lossless) refuse(key, "lossless: false", "a lossless switch pauses instead: see pauseThreshold")
  }
  for (const [bytes, alpha] of [
    ["pauseThreshold", "pauseAlpha"],
    ["egressThreshold", "egressAlpha"],
  ] as const) {
    if (given(bytes) && given(alpha)) refuse(alpha, `either ${bytes} or ${alpha}`, "one is static, one dynamic")
  }
  if (given("watchdog") && !lossless) refuse("watchdog", "lossless: true", "without PFC nothing is paused")
  if (given("flowletGap") && !usesFlowlets(section.loadBalancer)) {
    refuse("flowletGap", "loadBalancer: flowlet or adaptive-flowlet", "others do not look for gaps")
  }
  for (const key of ["weights", "portWeights"] as const) {
    if (given(key) && section.scheduler !== "weighted") {
      refuse(key, "scheduler: weighted", "other schedulers have no weights")
    }
  }
  return faults
}

/** Marking rules that contradict themselves, or are for rates that no link has. */
export const ecnRuleFaults = (
  { ecnRules = [] }: ScenarioSwitch,
  ports: Ports,
  document: FieldSource,
): ReadonlyArray<Ns3FormatError> => {
  const faults: Array<Ns3FormatError> = []
  for (const [index, { rate, kmin, kmax }] of ecnRules.entries()) {
    const refuse = (key: "kmin" | "rate", expected: string): void => {
      faults.push(document.fault(["switch", "ecnRules", index, key], { expected }))
    }
    if (kmin > kmax) refuse("kmin", "at most kmax")
    if (!ports.rateBps.includes(rate)) refuse("rate", "the rate of a link")
  }
  return faults
}

/** The port of `from` on a link to `to`, the `link`-th of several; or a fault's hint. */
export const portBetween = (graph: Graph, ports: Ports, from: number, to: number, link: number): number | string => {
  const own = from < graph.nodes ? [...ports.portsOf(from)].filter((port) => ports.peerNode(port) === to) : []
  return own[link] ?? `the topology has ${own.length === 0 ? "no link" : `only ${own.length}`} from ${from} to ${to}`
}

/** How ports choose among their queues, and what is wrong with the weights. */
export const disciplineOf = (
  { scheduler, weights, portWeights = [] }: ScenarioSwitch,
  graph: Graph,
  ports: Ports,
  document: FieldSource,
): { readonly discipline: NativeOptions["discipline"]; readonly faults: ReadonlyArray<Ns3FormatError> } => {
  if (scheduler !== "weighted") return { discipline: scheduler, faults: [] }
  const faults: Array<Ns3FormatError> = []
  const table = new Float64Array(8 * ports.count).fill(1)
  const set = (port: number, of: ReadonlyArray<number>): void => table.set(of, 8 * port + 1)
  const refuseFar = (path: FieldPath, of: ReadonlyArray<number>): void => {
    if (Math.max(...of) / Math.min(...of) <= WEIGHT_RATIO_MAX) return
    const expected = `weights of which none is more than ${WEIGHT_RATIO_MAX} times another`
    faults.push(document.fault(path, { expected }))
  }
  if (weights !== undefined) {
    refuseFar(["switch", "weights"], weights)
    for (let port = 0; port < ports.count; port++) set(port, weights)
  }
  for (const [index, { from, to, link = 0, weights: own }] of portWeights.entries()) {
    refuseFar(["switch", "portWeights", index, "weights"], own)
    const port = portBetween(graph, ports, from, to, link)
    if (typeof port === "number") set(port, own)
    else {
      const expected = "two nodes that a link joins"
      faults.push(document.fault(["switch", "portWeights", index], { expected, hint: port }))
    }
  }
  return { discipline: { weights: table }, faults }
}

/** Whether any switch has more than one way to any host. */
const hasChoice = ({ graph, routes }: { readonly graph: Graph; readonly routes: Routes }): boolean => {
  const hosts = [...graph.isSwitch.keys()].filter((node) => graph.isSwitch[node] === 0)
  return graph.isSwitch.some((kind, node) => kind !== 0 && hosts.some((host) => routes.nextHopCount(node, host) > 1))
}

/**
 * Warnings where each packet of a flow may go another way: of those that overtake each other a reliable connection takes
 * some for lost (go-back-N, and IRN §3.1 alike), and telemetry of one way says nothing of the one before (HPCC, Figure 7:
 * pathID).
 *
 * @param recovery of a reliable connection; undefined for another transport, which bears it
 */
export const orderNotes = (
  section: ScenarioSwitch,
  recovery: ScenarioTransport["recovery"],
  controller: ControllerFactory | undefined,
  network: { readonly graph: Graph; readonly routes: Routes },
  document: FieldSource,
): ReadonlyArray<InputNote> => {
  const { loadBalancer } = section
  // By the packet's own UDP ports those of a connection go one way.
  if (!reorders(loadBalancer) || usesFlowlets(loadBalancer) || loadBalancer === "entropy") return []
  if (!hasChoice(network)) return []
  const warn = (text: string): InputNote => warningAt(["switch", "loadBalancer"], `${loadBalancer} ${text}`, document)
  const notes: Array<InputNote> = []
  if (recovery === "selective-repeat") {
    const taken = "each gap is taken for a loss, and the packet sent again that is only late"
    notes.push(warn(`lets packets of a flow overtake each other, and the transport repeats selectively: ${taken}`))
  } else if (recovery !== undefined) {
    const taken = "each gap is taken for a loss, and what is under way is sent again"
    notes.push(warn(`lets packets of a flow overtake each other, and the transport goes back N: ${taken}`))
  }
  if (controller?.needs.includes("int") === true) {
    const blind = `${controller.name} compares the telemetry of packets that went one way: it rarely measures, and its flows stay as fast as they were`
    notes.push(warn(`sends packets of a flow by different ways, and ${blind}`))
  }
  return notes
}
