import type { RunOutcome } from "@rdmakit/fabric"
import { slowdown } from "@rdmakit/metrics"
import { NEVER } from "@rdmakit/protocol"

const HEADER =
  "flow,source,destination,priority,source_port,destination_port,size_bytes,start_ps,completion_ps,ideal_ps,slowdown,state,reason,workload\n"
const PIECE_FLOWS = 10_000

/** A text that may hold commas; nothing stays nothing. */
const quoted = (text: string): string => (text === "" ? "" : `"${text.replaceAll('"', '""')}"`)

/** Flows as a table with units in its header, a line a flow in order of start: what `flows.csv` holds. */
export const flowsCsv = (outcome: RunOutcome): string => [...flowsCsvPieces(outcome)].join("")

/** The same piece by piece: millions of flows are no single text. */
export function* flowsCsvPieces({ flows, idealPs, unfinished }: RunOutcome): Generator<string> {
  const reasons = new Map(unfinished.map(({ flow, reason }) => [flow, reason]))
  const workloads = flows.workloads.map(quoted)
  yield HEADER
  for (let first = 0; first < flows.count; first += PIECE_FLOWS) {
    let piece = ""
    for (let i = first; i < Math.min(first + PIECE_FLOWS, flows.count); i++) {
      const head = `${i},${flows.source[i]},${flows.destination[i]},${flows.priority[i]},${flows.sourcePort[i]},${flows.destinationPort[i]},${flows.bytes[i]}`
      if (flows.finished[i] === NEVER) {
        piece += `${head},${flows.start[i]},,${Number.isNaN(idealPs[i]) ? "" : idealPs[i]},,unfinished,${quoted(reasons.get(i) ?? "")},${workloads[flows.workload[i]!]}\n`
      } else {
        const completion = flows.completionTime(i)
        const ratio = slowdown(completion, idealPs[i]!).toFixed(6)
        piece += `${head},${flows.created[i]},${completion},${idealPs[i]},${ratio},finished,,${workloads[flows.workload[i]!]}\n`
      }
    }
    yield piece
  }
}
