import { tcp } from "@rdmakit/cc-cubic"
import { srd } from "@rdmakit/cc-srd"
import { type ControllerFactory, type FlowTransport, unpaced } from "@rdmakit/protocol"
import { localAckTimeoutPs, rcConfig, rcFlows } from "@rdmakit/transport-ib"
import { srdConfig, srdFlows } from "@rdmakit/transport-srd"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { NEVER, SECOND, type Time, uniform } from "@rdmakit/units"
import type { ScenarioPart } from "./Claim.ts"
import { simulationOf } from "./Experiment.ts"
import { statistic } from "./Measure.ts"
import { Samples } from "./Samples.ts"
import { type Departure, TwoHosts, type TwoHostsOptions } from "./TwoHosts.ts"

/** Transports whose traits are set side by side. */
export type TraitTransport = "tcp" | "rc" | "srd"

/** A NIC without congestion control. */
const lineRate: ControllerFactory = {
  name: "line rate",
  needs: [],
  make: (_now, { lineRateBps }) => ({ ...unpaced, rate: lineRateBps }),
}

const make: Readonly<Record<TraitTransport, () => FlowTransport>> = {
  // Without the probes of RACK, which are younger than the table.
  tcp: () => tcpFlows(tcpConfig({ controller: tcp({ variant: "cubic" }), lossDetection: "sack" })),
  rc: () => rcFlows(rcConfig({ controller: lineRate, ackTimeoutPs: localAckTimeoutPs(14) })),
  srd: () => srdFlows(srdConfig({ controller: srd() })),
}

const RATE_BPS = 100e9
const SEED = 1

const hostsOf = (
  transport: TraitTransport,
  rttPs: Time,
  rest: Pick<TwoHostsOptions, "arrival" | "onEvent">,
): TwoHosts => new TwoHosts({ transport: make[transport](), rateBps: RATE_BPS, baseRttPs: rttPs, seed: SEED, ...rest })

/**
 * A thousand messages of one packet over ways of 10 to 30 µs, so that packets overtake each other: the share of messages
 * that ended after one that had been sent later.
 */
export const overtaken = (transport: TraitTransport): number => {
  const messages = 1000
  let [latest, late] = [-1, 0]
  const hosts = hostsOf(transport, 40e6, {
    arrival: ({ time, from, ordinal }) => time + 10e6 + Math.floor(uniform(SEED, from, ordinal) * 20e6),
    onEvent: ({ message }) => {
      if (message < latest) late++
      else latest = message
    },
  })
  for (let message = 0; message < messages; message++) hosts.send(0, message, 1000)
  hosts.run()
  if (latest !== messages - 1) throw new Error(`${transport}: message ${latest + 1} has not ended`)
  return late / messages
}

/**
 * 200 messages, one at a time, then one that is lost: how long after it had left it is sent again, s.
 * @param rttPs round trip of the way, ps
 */
export const timeoutOf = (transport: TraitTransport, rttPs: Time): number => {
  const answered = 200
  let sentAt = NEVER
  let resentAt = NEVER
  let isLost = false
  const hosts = hostsOf(transport, rttPs, {
    arrival: ({ time, from, isData }: Departure) => {
      if (!isLost || from === 1 || !isData) return time + rttPs / 2
      if (sentAt === NEVER) sentAt = time
      else if (resentAt === NEVER) resentAt = time
      return sentAt === time ? NEVER : time + rttPs / 2
    },
    onEvent: ({ message }) => {
      if (message === answered) return
      isLost = message === answered - 1
      hosts.send(0, message + 1, 1000)
    },
  })
  hosts.send(0, 0, 1000)
  hosts.run()
  return (resentAt - sentAt) / SECOND
}

/**
 * What the sending host's software has to do with one message: of TCP, which is software without offload, each packet that
 * leaves or comes; where a NIC has the transport, requests and completions.
 */
export const handled = (transport: TraitTransport, bytes: number): number => {
  let [packets, requests, completions] = [0, 0, 0]
  const hosts = hostsOf(transport, 20e6, {
    arrival: ({ time }) => {
      packets++
      return time + 10e6
    },
    onEvent: () => completions++,
  })
  hosts.send(0, requests++, bytes)
  hosts.run()
  return transport === "tcp" ? packets : requests + completions
}

/** What carries the flows of a scenario, and the switches that it is meant for. */
const scenarios: Readonly<Record<TraitTransport, ScenarioPart>> = {
  tcp: { transport: { name: "tcp" }, switch: { lossless: false, ecn: false, buffer: "2MiB" } },
  rc: { controller: { name: "dcqcn", preset: "simulation" }, switch: { ecn: false, buffer: "2MiB" } },
  srd: { transport: { name: "srd" }, switch: { lossless: false, ecn: false, buffer: "2MiB" } },
}
const BATCH = 1 << 20
const SPINES = 16

/** Of the sixteen ways between two racks, those over which one flow of 10 MB sent data. */
export const linksUsed = async (transport: TraitTransport): Promise<number> => {
  const bytes = 10e6
  const run = await simulationOf("paths", {
    ...scenarios[transport],
    topology: { builder: "leaf-spine", leaves: 2, spines: SPINES, hostsPerLeaf: 1 },
    flows: [{ from: 0, to: 1, size: bytes }],
  })
  while (run.step(BATCH)) {}
  const { ports, kernel } = run.world
  const [uplink] = ports.portsOf(0)
  const leaf = ports.peerNode(uplink!)
  const isWay = (port: number): boolean => ports.peerNode(port) !== 0
  // Acknowledgements of the other direction arrive there; they do not leave.
  return [...ports.portsOf(leaf)].filter((port) => isWay(port) && kernel.sentBytes(port) > bytes / SPINES / 10).length
}

/** What eight flows do at the port that they share, without marks. */
export interface Sharing {
  /** Median of the bytes that wait at the port in the second half. */
  readonly queueBytes: number
  /** Times that senders set their rates or windows. */
  readonly actions: number
}

export const sharingOf = async (transport: TraitTransport): Promise<Sharing> => {
  const [senders, until] = [8, "6ms"]
  const run = await simulationOf("sharing", {
    ...scenarios[transport],
    topology: { builder: "star", hosts: senders + 1, link: { rate: "100Gbps", delay: "5us" } },
    flows: [{ from: `0..${senders - 1}`, to: senders, size: "20MB" }],
    stop: until,
  })
  const samples = new Samples(run, { every: "10us", port: [senders + 1, senders], until }, undefined)
  while (run.step(BATCH)) {}
  samples.finish()
  return {
    queueBytes: statistic(samples.queueBytes.slice(samples.queueBytes.length / 2), 0.5),
    actions: run.outcome(false).controllerActions,
  }
}
