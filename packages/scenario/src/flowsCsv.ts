import type { RunOutcome } from "@rdmakit/fabric"
import { slowdown } from "@rdmakit/metrics"
import { NEVER } from "@rdmakit/protocol"

const HEADER =
  "flow,source,destination,priority,source_port,destination_port,size_bytes,start_ps,completion_ps,ideal_ps,slowdown,state,reason\n"

/** Flows as a table with units in its header, a line a flow in order of start: what `flows.csv` holds. */
export function flowsCsv(outcome: RunOutcome): string {
  const { flows, idealPs } = outcome
  const reasons = new Map(outcome.unfinished.map(({ flow, reason }) => [flow, reason]))
  const lines = [HEADER]
  for (let i = 0; i < flows.count; i++) {
    const head = `${i},${flows.source[i]},${flows.destination[i]},${flows.priority[i]},${flows.sourcePort[i]},${flows.destinationPort[i]},${flows.bytes[i]}`
    if (flows.finished[i] === NEVER) {
      lines.push(
        `${head},${flows.start[i]},,${Number.isNaN(idealPs[i]) ? "" : idealPs[i]},,unfinished,"${(reasons.get(i) ?? "").replaceAll('"', '""')}"\n`,
      )
    } else {
      const completion = flows.completionTime(i)
      const ratio = slowdown(completion, idealPs[i]!).toFixed(6)
      lines.push(`${head},${flows.created[i]},${completion},${idealPs[i]},${ratio},finished,\n`)
    }
  }
  return lines.join("")
}
