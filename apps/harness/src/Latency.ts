import { tcp } from "@rdmakit/cc-cubic"
import { hpccFamily } from "@rdmakit/cc-erdma"
import type { FlowTransport } from "@rdmakit/protocol"
import { erdmaFlows, throughVxlan, vxlanFraming } from "@rdmakit/transport-erdma"
import { tcpConfig, tcpFlows, tcpFraming } from "@rdmakit/transport-tcp"
import { log, NEVER, parseTime, SECOND, type Time, uniform } from "@rdmakit/units"
import type { Scale } from "./Claim.ts"
import { type Departure, type Host, TwoHosts } from "./TwoHosts.ts"

/** A line between two hosts, and what goes over it. */
export interface LatencySetting {
  readonly messageBytes: number
  readonly messages: Readonly<Record<Scale, number>>
  readonly rateBps: number
  /** One way, what a packet waits on top of it, exponential, and the share that is lost. */
  readonly delay: string
  readonly jitter: string
  readonly loss: number
}

/** What carries the messages, and what each stage of a host takes of the time of a message, by name. */
export interface HostStages {
  readonly transport: "tcp" | "erdma"
  readonly send: Readonly<Record<string, string>>
  readonly receive: Readonly<Record<string, string>>
}

/** One way, s: what the application waits for, and what of it is the network's and the transport's. */
export interface Latencies {
  /** Ascending. */
  readonly whole: Float64Array
  readonly network: Float64Array
}

const transports: Readonly<Record<HostStages["transport"], () => FlowTransport>> = {
  tcp: () =>
    throughVxlan(tcpFlows(tcpConfig({ controller: tcp({ variant: "cubic" }), framing: vxlanFraming(tcpFraming) }))),
  erdma: () => erdmaFlows({ controller: hpccFamily({ variant: "rtt" }) }),
}

/** A connection goes on for so many messages, then comes another with draws of its own. */
const MESSAGES_A_CONNECTION = 10_000

/**
 * Messages go to and fro between two hosts, one at a time; a latency is half of a round trip, as in pingpongs. Messages of
 * a connection follow each other, so that its round trip is known when one is lost.
 */
export const latenciesOf = (setting: LatencySetting, host: HostStages, scale: Scale): Latencies => {
  const messages = setting.messages[scale]
  const whole = new Float64Array(messages)
  const hostPs = stagesPs(host.send) + stagesPs(host.receive)
  for (let first = 0; first < messages; first += MESSAGES_A_CONNECTION) {
    const count = Math.min(MESSAGES_A_CONNECTION, messages - first)
    whole.set(pingpong(setting, host, count, first / MESSAGES_A_CONNECTION), first)
  }
  whole.sort()
  return { whole, network: whole.map((latency) => latency - hostPs / SECOND) }
}

const stagesPs = (stages: Readonly<Record<string, string>>): Time =>
  Object.values(stages).reduce((sum, time) => sum + parseTime(time), 0)

const pingpong = (setting: LatencySetting, host: HostStages, messages: number, seed: number): Float64Array => {
  const delayPs = parseTime(setting.delay)
  const [sendPs, receivePs] = [stagesPs(host.send), stagesPs(host.receive)]
  const latencies = new Float64Array(messages)
  const received = [0, 0]
  let done = 0
  let started = 0
  const hosts = new TwoHosts({
    transport: transports[host.transport](),
    rateBps: setting.rateBps,
    baseRttPs: 2 * delayPs,
    seed,
    arrival: way(setting, seed),
    onHandled: (now, at) => {
      const bytes = (hosts.engines[at] as unknown as { readonly bytesReceived: number }).bytesReceived
      if (bytes === received[at]) return
      received[at] = bytes
      hosts.at(now + receivePs, () => reached(at))
    },
  })
  /** The application's call, and what follows before the packet is on the line. */
  const send = (from: Host): void => hosts.at(hosts.now + sendPs, () => hosts.send(from, done, setting.messageBytes))
  const start = (): void => {
    started = hosts.now
    send(0)
  }
  const reached = (at: Host): void => {
    if (at === 1) send(1)
    else {
      latencies[done++] = (hosts.now - started) / 2 / SECOND
      if (done < messages) start()
    }
  }
  start()
  hosts.run()
  return latencies
}

/** Draws of one packet: whether it is lost, and how long it waits. */
const DRAWS = 2

/** One path, without overtaking: the delay, an exponential wait on top of it, and losses by chance. */
const way = ({ delay, jitter, loss }: LatencySetting, seed: number) => {
  const [delayPs, jitterPs] = [parseTime(delay), parseTime(jitter)]
  const last: [Time, Time] = [0, 0]
  return ({ time, from, ordinal }: Departure): Time => {
    const draw = (index: number): number => uniform(seed, from, DRAWS * ordinal + index)
    if (draw(0) < loss) return NEVER
    const arrival = Math.max(last[from], Math.round(time + delayPs - jitterPs * log(1 - draw(1))))
    last[from] = arrival
    return arrival
  }
}
