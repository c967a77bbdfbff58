/** Whether a switch's buffer holds what is kept aside of it, and a network has room for packets so large. */
import { BUFFER_BYTES_MAX, type BufferDemand, FRAME_BYTES_MAX, frameBytesOf, portHeadroomBytes } from "@rdmakit/fabric"
import type { Ns3FormatError } from "@rdmakit/ns3"
import type { Graph, Ports } from "@rdmakit/topology"
import { formatRate, formatSize, formatTime } from "@rdmakit/units"
import { type InputNote, warningAt } from "./InputsRefused.ts"
import type { FieldPath, FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioSwitch, ScenarioTransport } from "./ScenarioSchema.ts"

export interface BufferContext {
  readonly section: ScenarioSwitch
  readonly transport: ScenarioTransport
  readonly ports: Ports
  /** Of the packets that the switches carry. */
  readonly frames: Parameters<typeof portHeadroomBytes>[2]
  readonly document: FieldSource
}

const NO_BUFFER = "a switch has below 2GiB"

/** A buffer that does not hold what is kept aside of it; or, where none could, what asks for so much. */
export const bufferFaults = (
  bufferBytes: number,
  demand: BufferDemand | undefined,
  context: BufferContext,
): ReadonlyArray<Ns3FormatError> => {
  if (demand === undefined) return []
  const { section, document } = context
  const { node, headroomBytes, reserveBytes } = demand
  const neededBytes = headroomBytes + reserveBytes
  if (neededBytes <= bufferBytes) return []
  const hint = `switch ${node} keeps ${headroomBytes} bytes of headroom and ${reserveBytes} of reserve aside`
  if (neededBytes <= BUFFER_BYTES_MAX) {
    const expected = `at least ${formatSize(Math.ceil(neededBytes / 1024) * 1024)}`
    return [document.fault(["switch", "buffer"], { found: formatSize(bufferBytes), expected, hint })]
  }
  const larger = headroomBytes > reserveBytes ? "headroom" : "reserve"
  if (larger === "headroom" && section.headroom === undefined) return [linkFault(node, hint, context)]
  const found = section[larger] === undefined ? { found: "" } : {}
  return [document.fault(["switch", larger], { ...found, expected: `less: ${NO_BUFFER}`, hint })]
}

/** Packets so large that no network has room for them. */
export const frameFaults = ({ transport, frames, document }: BufferContext): ReadonlyArray<Ns3FormatError> => {
  if (frames.mtuBytes <= FRAME_BYTES_MAX) return []
  return [document.fault(packetPath(transport), { expected: `packets of at most ${formatSize(FRAME_BYTES_MAX)}` })]
}

/** A warning where the headroom that is asked for is less than what still comes after a pause: see `portHeadroomBytes`. */
export const headroomNotes = (
  { isSwitch }: Graph,
  { section, ports, frames, document }: BufferContext,
): ReadonlyArray<InputNote> => {
  const { headroom, lossless = true } = section
  if (headroom === undefined || !lossless) return []
  const needOf = (port: number): number => portHeadroomBytes(ports, port, frames)
  const atSwitches = [...isSwitch.keys()].flatMap((node) => (isSwitch[node] === 0 ? [] : [...ports.portsOf(node)]))
  const [first] = atSwitches
  if (first === undefined) return []
  const most = atSwitches.reduce((worst, port) => (needOf(port) > needOf(worst) ? port : worst), first)
  if (needOf(most) <= headroom) return []
  const link = `${formatRate(ports.rateBps[most]!)} and ${formatTime(ports.delayPs[most]!)}`
  const text = `a link of ${link} brings ${needOf(most)} bytes after a pause, more than the headroom: switches may drop although PFC pauses`
  return [warningAt(["switch", "headroom"], text, document)]
}

/** What makes a switch's headroom so large that no buffer holds it: the longest of its links, or the packets. */
const linkFault = (node: number, hint: string, { transport, ports, frames, document }: BufferContext) => {
  const ways = [...ports.portsOf(node)].map((port) => {
    const [rateBps, delayPs] = [ports.rateBps[port]!, ports.delayPs[port]!]
    return { rateBps, delayPs, bytes: (2 * rateBps * delayPs) / 8e12 }
  })
  const { rateBps, delayPs, bytes } = ways.reduce((most, way) => (way.bytes > most.bytes ? way : most))
  if (bytes >= frameBytesOf(frames)) {
    const found = `a link of ${formatRate(rateBps)} and ${formatTime(delayPs)}`
    return document.fault(["topology"], { found, expected: `a shorter delay or a lower rate: ${NO_BUFFER}`, hint })
  }
  return document.fault(packetPath(transport), { expected: `smaller packets: ${NO_BUFFER}`, hint })
}

/** The field that says how large packets are. */
const packetPath = ({ mtu, options = {} }: ScenarioTransport): FieldPath => {
  if (mtu !== undefined) return ["transport", "mtu"]
  const option = Object.keys(options).find((name) => /mtuBytes$/i.test(name))
  return option === undefined ? ["transport"] : ["transport", "options", option]
}
