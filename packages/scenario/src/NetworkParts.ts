/** The sections of a scenario that say what its network is made of: controller, transport, switches. */
import {
  bufferDemand,
  type NativeOptions,
  nativeTransport,
  type SwitchSettings,
  type TransportSettings,
  unmetNeeds,
} from "@rdmakit/fabric"
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { ControllerFactory } from "@rdmakit/protocol"
import type { Graph, Ports, Routes } from "@rdmakit/topology"
import { rcFlows } from "@rdmakit/transport-ib"
import { bufferFaults, frameFaults, headroomNotes } from "./BufferChecks.ts"
import type { NamedController } from "./Controllers.ts"
import { type InputNote, warningAt } from "./InputsRefused.ts"
import { controllerOf } from "./ScenarioControllers.ts"
import type { ScenarioDocument } from "./ScenarioDocument.ts"
import type { ScenarioController, ScenarioSwitch, ScenarioTransport } from "./ScenarioSchema.ts"
import { switchSettings, transportSettings, withMarking } from "./ScenarioSettings.ts"
import { disciplineOf, ecnRuleFaults, orderNotes, switchFaults } from "./SwitchChecks.ts"
import { type ChosenTransport, chosenTransport, transportFaults } from "./TransportChecks.ts"

/** Of a switch whose buffer nobody gives, as `fabric` has it. */
const BUFFER_BYTES = 32 * 1024 * 1024

interface Sections {
  readonly controller?: ScenarioController
  readonly transport?: ScenarioTransport
  readonly switch?: ScenarioSwitch
}

/** What the parts are made for. */
interface PartsContext {
  readonly graph: Graph
  readonly ports: Ports
  readonly routes: Routes
  readonly document: ScenarioDocument
  /** The controllers that a scenario can name. */
  readonly registry: ReadonlyMap<string, NamedController>
  /** In place of the controller that it names. */
  readonly own: ControllerFactory | undefined
}

export interface NetworkParts {
  /** Undefined where the sections name none that can be made. */
  readonly controller: ControllerFactory | undefined
  /** The transport by its name; undefined for reliable connections, and for one that cannot be made. */
  readonly carrier: ChosenTransport | undefined
  /** Of reliable connections. */
  readonly transport: TransportSettings
  readonly switches: SwitchSettings
  readonly discipline: NativeOptions["discipline"]
  readonly faults: ReadonlyArray<Ns3FormatError>
  readonly notes: ReadonlyArray<InputNote>
}

/** The parts that the sections name, and everything that is wrong with them. */
export const networkParts = (
  { controller: controllerSection, transport: transportSection = {}, switch: switchSection = {} }: Sections,
  { graph, ports, routes, document, registry, own }: PartsContext,
): NetworkParts => {
  const faults: Array<Ns3FormatError> = []
  const chosen = chosenTransport(transportSection, document)
  const carrier = isFaults(chosen) ? undefined : chosen
  if (isFaults(chosen)) faults.push(...chosen)
  const made =
    own ??
    (controllerSection === undefined && carrier !== undefined
      ? carrier.named.controller
      : controllerOf(controllerSection, registry, document))
  const controller = isFaults(made) ? undefined : made
  if (isFaults(made)) faults.push(...made)

  const marking = own === undefined ? registry.get(controllerSection?.name ?? "")?.marking : undefined
  const loadBalancer = switchSection.loadBalancer ?? carrier?.named.loadBalancer
  const switches: SwitchSettings = {
    ...withMarking(switchSettings(switchSection), marking, ports),
    ...(loadBalancer === undefined ? {} : { loadBalancer }),
  }
  const { discipline, faults: weightFaults } = disciplineOf(switchSection, graph, ports, document)
  const wrongTransport = transportFaults(transportSection, document)
  faults.push(...switchFaults(switchSection, document), ...weightFaults, ...wrongTransport)
  faults.push(...ecnRuleFaults(switchSection, ports, document))

  const transport = transportSettings(transportSection)
  const notes: Array<InputNote> = []
  if (controller !== undefined && wrongTransport.length === 0 && !isFaults(chosen)) {
    const hops = Math.max(1, routes.maxHops)
    const flows = carrier?.make(controller, hops) ?? rcFlows(nativeTransport(transport, controller, hops))
    for (const text of unmetNeeds(controller, flows)) notes.push(warningAt(["controller"], text, document))
    const demand = bufferDemand(graph, ports, switches, flows)
    const context = { section: switchSection, transport: transportSection, ports, frames: flows, document }
    const small = bufferFaults(switches.bufferBytes ?? BUFFER_BYTES, demand, context)
    faults.push(...(small.length > 0 ? small : frameFaults(context)))
    notes.push(...headroomNotes(graph, context))
  }
  const recovery = carrier === undefined ? (transportSection.recovery ?? "go-back-n") : undefined
  notes.push(...orderNotes(switchSection, recovery, controller, { graph, routes }, document))
  return { controller, carrier, transport, switches, discipline, faults, notes }
}

const isFaults = (value: unknown): value is ReadonlyArray<Ns3FormatError> => Array.isArray(value)
