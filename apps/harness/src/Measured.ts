import type { Curve } from "./Curves.ts"
import type { MeasuredPackets } from "./OctetMeasure.ts"

/** What is told of runs beside their measures. */
export interface RunCounts {
  readonly flowsTotal: number
  readonly flowsFinished: number
  readonly packetHops: number
  readonly simulatedPs: number
  readonly drops: number
  readonly pauses: number
  readonly seed: number
  readonly digest: string
}

/** Of what no simulation has measured. */
export const noRun: RunCounts = {
  flowsTotal: 0,
  flowsFinished: 0,
  packetHops: 0,
  simulatedPs: 0,
  drops: 0,
  pauses: 0,
  seed: 0,
  digest: "",
}

/** What one system's run gave. */
export interface Measured extends RunCounts {
  readonly figure: string
  readonly system: string
  /** By the ids of claims: the claim's metric of this system; NaN where there is nothing to measure. */
  readonly values: Readonly<Record<string, number>>
  /** By the place of the figure's pictures. */
  readonly curves: ReadonlyArray<Curve>
  /** Of a format: its packets, part by part. */
  readonly packets?: MeasuredPackets
}
