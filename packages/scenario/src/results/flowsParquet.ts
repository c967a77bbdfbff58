import type { RunOutcome } from "@rdmakit/fabric"
import { NEVER } from "@rdmakit/protocol"
import { ByteWriter, type ColumnSource, parquetWrite } from "hyparquet-writer"
import { slowdownsOf } from "./Slowdowns.ts"

/**
 * The table of `flows.csv` as Parquet: whole numbers are integers (times and sizes of 64 bits), what a flow does not
 * have is null, and the slowdown has all its digits. Same outcome, same bytes.
 */
export const flowsParquet = (outcome: RunOutcome): Uint8Array => {
  const { flows, idealPs } = outcome
  const slowdowns = slowdownsOf(outcome)
  const reasons = new Map(outcome.unfinished.map(({ flow, reason }) => [flow, reason]))
  const column = <A>(of: (flow: number, finished: boolean) => A): Array<A> =>
    Array.from({ length: flows.count }, (_, flow) => of(flow, flows.finished[flow] !== NEVER))
  const int32 = (name: string, of: (flow: number) => number): ColumnSource => ({
    name,
    data: column(of),
    type: "INT32",
    nullable: false,
  })
  const int64 = (name: string, of: (flow: number, finished: boolean) => number, nullable = false): ColumnSource => ({
    name,
    data: column((flow, finished) => whole(of(flow, finished))),
    type: "INT64",
    nullable,
  })
  const writer = new ByteWriter()
  parquetWrite({
    writer,
    columnData: [
      int32("flow", (flow) => flow),
      int32("source", (flow) => flows.source[flow]!),
      int32("destination", (flow) => flows.destination[flow]!),
      int32("priority", (flow) => flows.priority[flow]!),
      int32("source_port", (flow) => flows.sourcePort[flow]!),
      int32("destination_port", (flow) => flows.destinationPort[flow]!),
      int64("size_bytes", (flow) => flows.bytes[flow]!),
      int64("start_ps", (flow, finished) => (finished ? flows.created : flows.start)[flow]!),
      int64("completion_ps", (flow, finished) => (finished ? flows.completionTime(flow) : Number.NaN), true),
      int64("ideal_ps", (flow) => idealPs[flow]!, true),
      {
        name: "slowdown",
        data: column((flow) => (Number.isNaN(slowdowns[flow]!) ? null : slowdowns[flow]!)),
        type: "DOUBLE",
        nullable: true,
      },
      {
        name: "state",
        data: column((_, finished) => (finished ? "finished" : "unfinished")),
        type: "STRING",
        nullable: false,
      },
      { name: "reason", data: column((flow) => reasons.get(flow) ?? null), type: "STRING", nullable: true },
      {
        name: "workload",
        data: column((flow) => flows.workloads[flows.workload[flow]!] || null),
        type: "STRING",
        nullable: true,
      },
    ],
  })
  return new Uint8Array(writer.getBuffer())
}

const whole = (value: number): bigint | null => (Number.isFinite(value) ? BigInt(Math.round(value)) : null)
