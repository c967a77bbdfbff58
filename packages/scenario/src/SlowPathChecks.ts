/** Delays that a scenario's controller or transport is set to, against what its paths take. */
import { frameBytesOf } from "@rdmakit/fabric"
import { exactTelemetry } from "@rdmakit/packet"
import { type ControllerFactory, type FlowTransport, makeAck, type Time } from "@rdmakit/protocol"
import { ExactDelays, NODES_MAX, type Ports, type Routes } from "@rdmakit/topology"
import { formatRate, formatTime } from "@rdmakit/units"
import { type InputNote, warningAt } from "./InputsRefused.ts"
import type { FieldSource } from "./ScenarioDocument.ts"
import type { ScenarioTransport } from "./ScenarioSchema.ts"

/** Round trips in which a controller comes to rest, and as many in which what it does then is averaged. */
const ROUND_TRIPS = 500
/** A flow alone that has less of its line is held back by its controller. */
const SHARE_EXPECTED = 0.5
/** A round trip below all targets; 0 would be none. */
const NO_DELAY_PS: Time = 1

/** The longest way of any flow. */
export interface LongestWay {
  /** Round trip on an idle network, ps. */
  readonly rttPs: Time
  /** Of the source's link, bit/s. */
  readonly lineRateBps: number
  readonly mtuBytes: number
}

/** The longest way that a flow takes; undefined where none leaves its host. */
export const longestWay = (
  { routes, ports }: { readonly routes: Routes; readonly ports: Ports },
  flows: Iterable<{ readonly source: number; readonly destination: number }>,
  transport: Pick<FlowTransport, "framing" | "mtuBytes" | "telemetry">,
): LongestWay | undefined => {
  const wire = { dataBytes: frameBytesOf(transport), ackBytes: transport.framing.ackBytes }
  const delays = new ExactDelays(routes, ports, wire)
  let longest: LongestWay | undefined
  const seen = new Set<number>()
  for (const { source, destination } of flows) {
    const pair = source * NODES_MAX + destination
    if (seen.has(pair)) continue
    seen.add(pair)
    const { rttPs } = delays.pair(source, destination)
    if (rttPs <= (longest?.rttPs ?? 0)) continue
    const [port] = ports.portsOf(source)
    longest = { rttPs, lineRateBps: ports.rateBps[port!]!, mtuBytes: transport.mtuBytes }
  }
  return longest
}

/** A warning where a controller that goes by delay takes an idle network for a congested one. */
export const delayNotes = (
  controller: ControllerFactory,
  way: LongestWay,
  document: FieldSource,
): ReadonlyArray<InputNote> => {
  if (!controller.needs.includes("rtt")) return []
  const { rttPs, lineRateBps } = way
  const leastBps = SHARE_EXPECTED * lineRateBps
  const rateBps = rateAlone(controller, way, rttPs)
  // One that has no more without any delay (a TCP window grows with what is acknowledged) is not held back by it.
  if (rateBps >= leastBps || rateAlone(controller, way, NO_DELAY_PS) < leastBps) return []
  const text = `${controller.name} takes an idle network for a congested one: packets and their acknowledgements take ${formatTime(rttPs)}, more than the delay that it aims at, and a flow alone falls to ${formatRate(Number(rateBps.toPrecision(2)))} of ${formatRate(lineRateBps)}; give it a longer target`
  return [warningAt(["controller"], text, document)]
}

/**
 * What a flow comes to send, bit/s on average, that has an acknowledgement in each round trip of an idle network.
 * @param measuredPs what it is told that each of them took, ps
 */
const rateAlone = (controller: ControllerFactory, way: LongestWay, measuredPs: Time): number => {
  const { rttPs, lineRateBps, mtuBytes } = way
  const flow = controller.make(0, {
    lineRateBps,
    baseRttPs: rttPs,
    windowBytes: Math.max(1, Math.floor((lineRateBps * rttPs) / 8e12)),
    mtuBytes,
    timeModulusPs: exactTelemetry.timeModulusPs,
    bytesModulus: exactTelemetry.bytesModulus,
    flow: 0,
    seed: 0,
  })
  const ack = makeAck(0)
  ack.bytes = mtuBytes
  ack.rttPs = measuredPs
  let sumBps = 0
  for (let trip = 1; trip <= 2 * ROUND_TRIPS; trip++) {
    flow.onSent((trip - 1) * rttPs, mtuBytes)
    ack.sequence += mtuBytes
    ack.sent = ack.sequence
    flow.onAck(trip * rttPs, ack)
    // One packet is let out however small the window is; the rate keeps it from the next.
    const windowBps = (Math.max(flow.window, mtuBytes) * 8e12) / rttPs
    if (trip > ROUND_TRIPS) sumBps += Math.min(flow.rate, windowBps)
  }
  return sumBps / ROUND_TRIPS
}

/** A warning for each timeout of a reliable connection that is over before an acknowledgement can have come. */
export const timeoutNotes = (
  section: ScenarioTransport,
  { rttPs }: LongestWay,
  document: FieldSource,
): ReadonlyArray<InputNote> =>
  (["ackTimeout", "ackTimeoutHigh"] as const).flatMap((key): ReadonlyArray<InputNote> => {
    const timeoutPs = section[key]
    if (timeoutPs === undefined || timeoutPs >= rttPs) return []
    const text = `${formatTime(timeoutPs)} are over before a packet and its acknowledgement have crossed an idle network, which takes ${formatTime(rttPs)}: packets are sent again that are only on their way`
    return [warningAt(["transport", key], text, document)]
  })
