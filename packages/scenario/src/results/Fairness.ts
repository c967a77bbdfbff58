import type { World } from "@rdmakit/fabric"
import { convergenceTime, jainIndex } from "@rdmakit/metrics"
import { NEVER, type Time } from "@rdmakit/protocol"
import { lastPortOf } from "./lastLinks.ts"
import type { Recorder } from "./Recorder.ts"

/** Links that are told of: those where flows met at most samples. */
const LINKS_MAX = 20
/** How far from the mean a rate may be, as a part of it, when flows are said to have converged. */
const TOLERANCE = 0.1
const PRIORITIES = 8

/** How flows to one host shared its link: at the samples at which two or more of them were under way. */
export interface HostFairness {
  readonly host: number
  /** Of a host with several links: the one that the flows came by, as `interface` in `links.csv`, from 1. Null: it has one. */
  readonly interface: number | null
  /** Of the flows: those of another are no rivals of theirs, but served before, after or by weights. */
  readonly priority: number
  /** Most flows at a time. */
  readonly flows: number
  readonly samples: number
  /** Jain's index of the rates that controllers were set to (Jain, Chiu and Hawe 1984), its mean and its least, 1/n to 1. */
  readonly meanIndex: number
  readonly leastIndex: number
  /**
   * From the last start of one of them, while others were under way (of one that admission control held back: when it was
   * let go, as far as samples tell), to the first sample from which on each rate stays within a tenth of the mean of all,
   * until one of them ends; ps. Null: they had no such sample before that.
   */
  readonly convergencePs: Time | null
}

/**
 * Fairness where it can be told from outside: flows to one host share its link, and each should have as much of it. Flows
 * that met elsewhere may have different shares and be fair, so there is no index of a whole fabric. Each link of a host
 * with several is by itself, each priority too, and flows of which it is not known by which they came are left out.
 * Where controllers have no rate their windows are compared. Most samples first, at most twenty links; none where no
 * flows met.
 */
export const fairnessByHost = (recorder: Recorder): ReadonlyArray<HostFairness> => {
  const { flows, world } = recorder
  const receivers = new Map<number, Receiver>()
  for (const seen of sharesByLink(recorder)) {
    let receiver = receivers.get(seen.key)
    if (receiver === undefined) {
      if (seen.shares.size < 2) continue
      receiver = new Receiver(world, seen)
      receivers.set(seen.key, receiver)
    }
    receiver.see(seen, seen.sample > 0 ? flows.timeOf(seen.sample - 1) : 0)
  }
  return [...receivers.values()]
    .sort((a, b) => b.samples - a.samples || a.key - b.key)
    .slice(0, LINKS_MAX)
    .map((receiver) => receiver.fairness())
}

/** What each of some flows has: bit/s, or bytes of window. */
type Shares = ReadonlyMap<number, number>
const NOBODY: Shares = new Map()

/** What flows of one priority that came by one link had at one sample. */
export interface LinkShares {
  readonly sample: number
  /** ps. */
  readonly time: Time
  /** The destination's own port at the link. */
  readonly port: number
  readonly priority: number
  /** Of both, in order. */
  readonly key: number
  readonly shares: Shares
}

/** Every link by which flows came to their hosts, at each sample at which one was under way; those of a sample by port. */
export function* sharesByLink({ flows: series, world }: Recorder): Generator<LinkShares> {
  const keys = new Map<number, number | undefined>()
  const keyOf = (flow: number): number | undefined => {
    if (!keys.has(flow)) {
      const port = lastPortOf(world, flow)
      keys.set(flow, port === undefined ? undefined : port * PRIORITIES + world.flows.priority[flow]!)
    }
    return keys.get(flow)
  }
  for (let sample = 0; sample < series.samples; sample++) {
    const links = new Map<number, Map<number, number>>()
    const end = series.endOf(sample)
    for (let row = series.firstOf(sample); row < end; row++) {
      const flow = series.keyOf(row)
      const share = [series.valueOf(row, 0), series.valueOf(row, 1)].find(Number.isFinite)
      const key = keyOf(flow)
      if (share === undefined || key === undefined) continue
      const own = links.get(key)
      if (own === undefined) links.set(key, new Map([[flow, share]]))
      else own.set(flow, share)
    }
    const time = series.timeOf(sample)
    for (const [key, shares] of [...links].sort(([a], [b]) => a - b)) {
      yield { sample, time, port: Math.floor(key / PRIORITIES), priority: key % PRIORITIES, key, shares }
    }
  }
}

/** Jain's index at each sample of the recorder, of the flows that each of these is about; NaN where no two were under way. */
export const indexSeries = (
  recorder: Recorder,
  told: ReadonlyArray<HostFairness>,
): ReadonlyArray<Float64Array<ArrayBuffer>> => {
  const { ports } = recorder.world
  const keys = told.map((of) => ports.portsOf(of.host)[(of.interface ?? 1) - 1]! * PRIORITIES + of.priority)
  const series = told.map(() => new Float64Array(recorder.flows.samples).fill(Number.NaN))
  for (const { sample, key, shares } of sharesByLink(recorder)) {
    const own = series[keys.indexOf(key)]
    if (own !== undefined && shares.size > 1) own[sample] = jainIndex([...shares.values()])
  }
  return series
}

/** The number of a port's link at a host that has several; null where it has one. */
export const interfaceOf = ({ ports }: World, port: number): number | null =>
  ports.portsOf(ports.node[port]!).length === 1 ? null : ports.iface[port]!

type Receiving = Pick<HostFairness, "host" | "interface" | "priority">

/**
 * `4`, or of a host with several links `4:2`, its port 2 as `run --pcap` names it; and where they are of several
 * priorities `4 priority 1`.
 */
export const receiverNames = (told: ReadonlyArray<Receiving>): ReadonlyArray<string> => {
  const hasOthers = told.some(({ priority }) => priority !== told[0]!.priority)
  return told.map(({ host, interface: number, priority }) => {
    const name = number === null ? String(host) : `${host}:${number}`
    return hasOthers ? `${name} priority ${priority}` : name
  })
}

/** One link to a host, sample by sample. */
class Receiver {
  readonly key: number
  private readonly port: number
  private readonly priority: number
  private readonly world: World
  samples = 0
  private flows = 0
  private sum = 0
  private least = 1
  private last = NOBODY
  /** Since the last start: its time, and what there was at each sample until a flow ended. */
  private since: Time = 0
  private isWhole = false
  private times: Array<Time> = []
  private seen: Array<Shares> = []

  constructor(world: World, { key, port, priority }: LinkShares) {
    this.world = world
    this.key = key
    this.port = port
    this.priority = priority
  }

  /** @param previous time of the sample before, ps */
  see({ time, shares }: LinkShares, previous: Time): void {
    const { created } = this.world.flows
    const started = [...shares.keys()].filter((flow) => !this.last.has(flow))
    const isOneGone = [...this.last.keys()].some((flow) => !shares.has(flow))
    this.last = shares
    if (shares.size < 2) {
      this.isWhole = false
      return
    }
    const index = jainIndex([...shares.values()])
    this.samples++
    this.sum += index
    this.least = Math.min(this.least, index)
    this.flows = Math.max(this.flows, shares.size)
    if (started.length > 0) {
      // One that is new here and had begun before the last sample was held back since.
      this.since = started.reduce((latest, flow) => Math.max(latest, created[flow]!), previous)
      this.times = []
      this.seen = []
      this.isWhole = true
    } else if (isOneGone) this.isWhole = false
    if (!this.isWhole) return
    this.times.push(time)
    this.seen.push(shares)
  }

  fairness(): HostFairness {
    const { flows, port, priority, samples, sum, world } = this
    const converged = this.convergence()
    return {
      host: world.ports.node[port]!,
      interface: interfaceOf(world, port),
      priority,
      flows,
      samples,
      meanIndex: sum / samples,
      leastIndex: this.least,
      convergencePs: converged === NEVER ? null : converged,
    }
  }

  private convergence(): Time {
    const { seen, since, times } = this
    const means = seen.map((shares) => [...shares.values()].reduce((sum, share) => sum + share, 0) / shares.size)
    const flows = [...(seen[0] ?? NOBODY).keys()]
    const parts = flows.map((flow) => seen.map((shares, sample) => shares.get(flow)! / means[sample]!))
    const alike = flows.map(() => 1)
    return convergenceTime(times, parts, alike, { tolerance: TOLERANCE, from: since })
  }
}
