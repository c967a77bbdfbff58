import { type Diagnosis, diagnose as diagnosisOf, type Finding } from "@rdmakit/analysis"
import { Effect } from "effect"
import { Exit, exitCodes } from "../Exit.ts"
import { counted, grouped } from "../Figures.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen } from "../Screen.ts"
import { type AnalysisInput, analyse } from "./Analysis.ts"
import { framesText } from "./Verify.ts"

/** Says what is wrong in a capture, with the likely causes and the frames that show it. */
export const diagnose = Effect.fnUntraced(function* (input: AnalysisInput) {
  const { analysis, visited, only, isSelective } = yield* analyse(input)
  const all = diagnosisOf(analysis, only)
  const diagnosis = isSelective
    ? { ...all, findings: all.findings.filter(({ subject }) => subject?.qp !== undefined) }
    : all
  const { fault } = visited
  if (input.json) {
    yield* print(
      JSON.stringify({ file: visited.name, ok: fault === undefined, packets: analysis.packets, ...diagnosis, fault }),
    )
  } else {
    const hasRdma = analysis.roce > 0 || analysis.iwarp.flows.length > 0
    const nothing = hasRdma ? "nothing is wrong" : "nothing to judge"
    yield* tellDiagnosis(visited.name, analysis.packets, nothing, diagnosis, fault)
  }
  if (fault !== undefined) return yield* new Exit({ code: exitCodes.notWell })
})

const hex = (qp: number): string => `0x${qp.toString(16)}`

const subjectText = ({ subject }: Finding): string => {
  if (subject === undefined) return ""
  const { source, destination, qp, sourceQp } = subject
  const from = sourceQp === undefined ? source : `${source} QP ${hex(sourceQp)}`
  return `${from} → ${qp === undefined ? destination : `${destination} QP ${hex(qp)}`}`
}

const tellDiagnosis = Effect.fnUntraced(function* (
  name: string,
  packets: number,
  nothing: string,
  { findings, notes }: Diagnosis,
  fault: string | undefined,
) {
  const { out } = yield* Screen
  const paint = paintOf(out)
  const words = { error: paint.red("error"), warning: paint.yellow("warning"), info: paint.cyan("info") }
  const troubles = findings.filter(({ severity }) => severity !== "info").length
  const sum = troubles === 0 ? nothing : counted(troubles, "finding")
  const lines = [`${paint.bold(name)}  ${counted(packets, "packet")}: ${sum}`]
  for (const finding of findings) {
    const subject = subjectText(finding)
    lines.push("", `${words[finding.severity]}: ${paint.bold(finding.text)}`)
    if (subject !== "") lines.push(`  ${subject}`)
    for (const { likelihood, text } of finding.causes) lines.push(`  ${likelihood.padEnd(8)}  ${text}`)
    if (finding.frames.length > 0) {
      const more = finding.count > finding.frames.length ? `, ${grouped(finding.count)} in all` : ""
      lines.push(`  ${framesText(finding.frames)}${more}`)
    }
  }
  if (notes.length > 0) lines.push("", ...notes.map((note) => `${paint.cyan("note:")} ${note}`))
  if (fault !== undefined) lines.push(`${paint.yellow("warning:")} ${fault}`)
  yield* print(lines.join("\n"))
})
