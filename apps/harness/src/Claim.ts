import type { Bench } from "./Bench.ts"
import type { WireFormat } from "./Octets.ts"

/** What a claim is: data. Nothing here or in `claims/` is made from a measurement. */

/**
 * How a published number was come by, which fixes its tolerance before any run: read in the text or a table of the source,
 * digitised from a picture of it, or remembered, which is good for an order and a shape only. A bar is nobody's: ours, where
 * sources have words alone.
 */
export type Mark = "read" | "digitised" | "remembered" | "bar"

/** A published number, in the unit of its claim; or bounds, where the source gives a range or one side of it. */
export type Published = number | { readonly atLeast?: number; readonly atMost?: number }

/** A share from 0 to 1, or the largest, the least, the mean of all. */
export type Statistic = number | "max" | "min" | "mean"

/** Which flows: by traffic and by size in bytes, above the first and up to the second. */
export interface FlowFilter {
  readonly traffic?: "ordinary" | "incast"
  readonly sizes?: readonly [above: number, upTo: number]
}

/** What is measured of one run. Times are texts ("75us") from the start of the first flow. */
export type Metric =
  /** Slowdown of flows, against their time alone in the network. */
  | ({ readonly kind: "slowdown"; readonly at: Statistic } & FlowFilter)
  /** Completion time of flows, s. */
  | ({ readonly kind: "completion"; readonly at: Statistic } & FlowFilter)
  /** How much later than alone in the network flows complete, s. */
  | ({ readonly kind: "delay"; readonly at: Statistic } & FlowFilter)
  /** Bytes waiting at the ports that the figure samples. */
  | { readonly kind: "queue"; readonly at: Statistic; readonly from?: string; readonly to?: string }
  /** Time from the longest queue until it is shorter than so many bytes, s; without `below` until the longest itself. */
  | { readonly kind: "drained"; readonly below: number }
  /** Rate of the sampled port, bit/s: mean, or the least or most of any stretch of `every`. */
  | {
      readonly kind: "throughput"
      readonly at: "mean" | "min" | "max"
      readonly from: string
      readonly to: string
      readonly every?: string
    }
  /** Acknowledged payload of the sampled flows, bit/s: of the flow of that place. */
  | { readonly kind: "goodput"; readonly flow: number; readonly from: string; readonly to: string }
  /** Acknowledged payload of all sampled flows together, bit/s. */
  | { readonly kind: "total-goodput"; readonly from: string; readonly to: string }
  /** Acknowledged payload of each sampled flow in each stretch of `every`, bit/s; or their standard deviation, a share of the mean. */
  | {
      readonly kind: "rates"
      readonly at: "min" | "max" | "mean" | "deviation"
      readonly from: string
      readonly to: string
      readonly every: string
    }
  /** Bytes that the busiest, or the idlest, of the figure's links carried, a share of their mean. */
  | { readonly kind: "link-loads"; readonly at: "min" | "max" }
  /** Jain's index of the goodputs of the sampled flows of those places. */
  | { readonly kind: "fairness"; readonly flows: ReadonlyArray<number>; readonly from: string; readonly to: string }
  /** Share of all ports' time that was paused while flows arrived. */
  | { readonly kind: "paused" }
  /** Flows that finished, a share of all. */
  | { readonly kind: "finished" }
  /** Payload of the flows that have ended by then, bit/s. */
  | { readonly kind: "delivered"; readonly to: string }
  /** Acknowledged payload of all flows, from the first start to the last end or the stop, as a share of this rate. */
  | { readonly kind: "carried"; readonly of: string }
  /** Numbers by which the controller's preset and, where it needs marks, the switches are set. */
  | { readonly kind: "parameters" }
  /**
   * Octets beside the payload: of the packet of a long WRITE that is neither its first nor its last, or of all packets of
   * a WRITE of so many bytes; `share`, of all its octets. Of frames, check sequence and padding included, or of the line,
   * with preamble and gap. Of figures of formats alone.
   */
  | {
      readonly kind: "octets"
      readonly message: number | "middle"
      readonly of: "frame" | "line"
      readonly as?: "share"
    }

  /** A number that the figure's bench gives, by its name there. */
  | { readonly kind: "bench"; readonly number: string }

export type Unit = "" | "B" | "s" | "bit/s" | "share"

/** Something that a source says of one or several systems. */
export interface Claim {
  /** Within its figure: `hpcc-13/peak` is the claim "peak" of the figure "hpcc-13". */
  readonly id: string
  readonly what: string
  readonly metric: Metric
  /** Of a figure with a sweep: the point at which it is measured. */
  readonly point?: string
  readonly unit: Unit
  readonly mark: Mark
  /** By system. Systems whose published numbers differ by more than the tolerance must come in the same order. */
  readonly published: Readonly<Record<string, Published>>
  /** Systems from least to most, where the source says so in words; further apart than equal. */
  readonly order?: ReadonlyArray<ReadonlyArray<string>>
  /** The number is of this system's measure: a share of it, or a reduction from it (0.95: down by 95 %). */
  readonly against?: { readonly system: string; readonly as: "ratio" | "reduction" }
  /** Why numbers come out outside, where that is known: by system, or of all; at each scale where it depends on it. */
  readonly reasons?: Readonly<Record<string, string | Readonly<Partial<Record<Scale, string>>>>>
  /** Pairs of systems whose order comes out other than published, and why; "quick" where only the short run is to blame. */
  readonly exceptions?: ReadonlyArray<{
    readonly systems: readonly [string, string]
    readonly scale?: Scale
    readonly reason: string
  }>
  /** Set so as to give this number: declared, and counted nowhere. */
  readonly calibrated?: string
}

export type Scale = "quick" | "full"

/** A part of a scenario document, as `rdmakit run` reads it. */
export type ScenarioPart = Readonly<Record<string, unknown>>

/** One of the systems that a figure compares: what its scenario has in place of the figure's. */
export interface System {
  readonly name: string
  readonly scenario: ScenarioPart
  /** Of a figure of formats: which one. */
  readonly format?: WireFormat
}

/** How long a run is. */
export interface Extent {
  readonly scenario: ScenarioPart
  /** Time in which flows arrive; pauses are counted in it. */
  readonly window?: string
  /** Flows that start in this time at the beginning are not counted: the network has yet to fill. */
  readonly warmup?: string
  /** What is less than in the source, in words. */
  readonly less?: string
}

export interface Probe {
  readonly every: string
  /** One directed port, from a node to its neighbour; or every port of a switch to a host. */
  readonly port?: readonly [node: number, neighbour: number] | "to-hosts"
  /** Flows by their place, by start. */
  readonly flows?: ReadonlyArray<number>
  /** What each link of a switch to other switches carries. */
  readonly uplinksOf?: number
  readonly until?: string
}

/** One thing that changes from run to run: every system runs at each of the points. */
export interface Sweep {
  readonly what: string
  /** `full`: of the full set alone; these come last. */
  readonly points: ReadonlyArray<{ readonly name: string; readonly scenario: ScenarioPart; readonly full?: boolean }>
}

/** A row of a figure's table, with a cell for each system. */
export interface TableRow {
  readonly name: string
  /** The claims whose numbers are in the cells, each in words: `#` is the number. */
  readonly numbers: ReadonlyArray<readonly [claim: string, words: string]>
  /** What is published of each system, in words. */
  readonly published: Readonly<Record<string, string>>
  /** The run that shows it. */
  readonly run: string
}

export type Picture =
  | {
      readonly kind: "queue" | "throughput" | "goodput"
      readonly title: string
      readonly from?: string
      readonly to?: string
    }
  | { readonly kind: "queue-distribution"; readonly title: string; readonly from?: string }
  /** Completion times, by the share of flows that are as quick. */
  | { readonly kind: "completion-distribution"; readonly title: string }
  /** Rate of each sampled flow of one system, over stretches of time. */
  | {
      readonly kind: "goodputs"
      readonly title: string
      readonly every: string
      readonly to: string
      readonly systems: readonly [string]
    }
  /** What each of the figure's links carried. */
  | { readonly kind: "link-loads"; readonly title: string }
  | { readonly kind: "slowdown-by-size"; readonly title: string; readonly at: "p50" | "p95" | "p99" }
  /** Of figures with a sweep: a metric at each of the points, of these systems or of all. */
  | {
      readonly kind: "by-point"
      readonly title: string
      readonly metric: Metric
      readonly unit: Unit
      readonly logarithmic?: boolean
      readonly systems?: ReadonlyArray<string>
    }
  /** Of figures with a bench: a line that it gives, by its name there. */
  | {
      readonly kind: "bench"
      readonly title: string
      readonly line: string
      readonly x: { readonly label: string; readonly places: ReadonlyArray<string> }
      readonly y: { readonly unit: Unit; readonly logarithmic?: boolean }
    }
  /** Of figures of formats: the share of a message's octets that is no payload, by its size. */
  | { readonly kind: "overhead-by-size"; readonly title: string }

/** A figure of a source, or a statement: one scenario, several systems, claims about them. */
export interface Figure {
  readonly id: string
  readonly title: string
  readonly source: string
  readonly section: string
  /** What is run, in a sentence or two, with what differs from the source. */
  readonly about: string
  readonly scenario: ScenarioPart
  readonly extents: Readonly<Record<Scale, Extent>>
  /** What is compared are formats, octet by octet: nothing is simulated. */
  readonly octets?: { readonly ethernetMtuBytes: number }
  readonly systems: ReadonlyArray<System>
  readonly sweep?: Sweep
  /** What no scenario describes, of each system. */
  readonly bench?: Bench
  readonly table?: ReadonlyArray<TableRow>
  readonly probe?: Probe
  readonly pictures: ReadonlyArray<Picture>
  readonly claims: ReadonlyArray<Claim>
}
