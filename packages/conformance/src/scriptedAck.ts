import { type Ack, TELEMETRY_FIELDS } from "@rdmakit/protocol"

/** One INT hop: time of the stamp (ps), bytes the port had sent, queue length (bytes), port rate (bit/s). */
export type Hop = readonly [timePs: number, bytes: number, queueBytes: number, rateBps: number]

/** What a scripted acknowledgement says; all that is left out is unremarkable. */
export interface AckScript {
  /** Default 1000. */
  readonly sequence?: number
  /** Default: `sequence` and 10,000 bytes in flight. */
  readonly sent?: number
  /** Default 1000. */
  readonly bytes?: number
  /** Default 10 µs. NaN: no stamp. */
  readonly rttPs?: number
  /** Default false. */
  readonly congestion?: boolean
  /** Default: none, no telemetry. */
  readonly hops?: ReadonlyArray<Hop>
  /** Default 1. */
  readonly pathId?: number
  /** Default -1: the packet carried none. */
  readonly pint?: number
}

/** An acknowledgement for tests. Its telemetry starts behind a record of another packet, as it may in a world. */
export const scriptedAck = (script: AckScript = {}): Ack => {
  const { sequence = 1000, bytes = 1000, rttPs = 10e6, congestion = false, hops = [], pathId = 1 } = script
  const before = new Array<number>(TELEMETRY_FIELDS).fill(-1)
  return {
    sequence,
    sent: script.sent ?? sequence + 10_000,
    bytes,
    rttPs,
    congestion,
    hops: hops.length,
    pathId,
    telemetry: Float64Array.from([...before, ...hops.flat()]),
    telemetryAt: TELEMETRY_FIELDS,
    pint: script.pint ?? -1,
  }
}
