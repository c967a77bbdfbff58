import { CaptureAnalysis, type Flow, Observer } from "@rdmakit/analysis"
import { crc32 } from "@rdmakit/wire/node"
import { Effect } from "effect"
import { filterOf, type SelectionInput, visitFiles } from "./CaptureInput.ts"

export interface AnalysisInput extends SelectionInput {
  readonly files: ReadonlyArray<string>
  readonly rotated: boolean
  readonly json: boolean
}

/**
 * Follows everything in one capture, or in several as if they were one. Queue pairs that are asked for are chosen
 * afterwards, since only both directions together tell what one of them is about.
 */
export const analyse = Effect.fnUntraced(function* (input: AnalysisInput) {
  const observer = new Observer()
  const filter = yield* filterOf(input, observer, true)
  const analysis = new CaptureAnalysis(crc32, observer)
  const visited = yield* visitFiles(input.files, input.rotated, (packet, frame) => {
    const sighting = observer.observe(packet, frame)
    if (filter.passes(sighting)) analysis.sighting(sighting)
  })
  const { queuePairs } = filter
  const only = (flow: Flow): boolean =>
    queuePairs === undefined ||
    queuePairs.has(flow.qp) ||
    (flow.reverse !== undefined && queuePairs.has(flow.reverse.qp)) ||
    queuePairs.has(flow.sourceQp)
  return { analysis, visited, only, isSelective: queuePairs !== undefined }
})
