import { Observer, type Verdicts, Verifier } from "@rdmakit/analysis"
import { crc32 } from "@rdmakit/wire/node"
import { Effect } from "effect"
import { Exit, exitCodes } from "../Exit.ts"
import { counted, grouped } from "../Figures.ts"
import { paintOf } from "../Paint.ts"
import { print, Screen } from "../Screen.ts"
import { filterOf, packetVisitor, type SelectionInput, type Visited, visitFile } from "./CaptureInput.ts"

export interface VerifyInput extends SelectionInput {
  readonly files: ReadonlyArray<string>
  readonly json: boolean
}

/** Wrong frames that a person is shown. */
const FRAMES_SHOWN = 20

/** Checks the checksums of captures; fails with exit code 1 when one is wrong, or a file ends early. */
export const verify = Effect.fnUntraced(function* (input: VerifyInput) {
  let allOk = true
  for (const file of input.files) {
    const observer = new Observer()
    const filter = yield* filterOf(input, observer)
    const verifier = new Verifier(crc32, observer)
    const visited = yield* visitFile(
      file,
      packetVisitor(observer, filter, (_, sighting) => verifier.sighting(sighting)),
    )
    const verdicts = verifier.end()
    const ok = isFine(verdicts) && visited.fault === undefined
    allOk &&= ok
    if (!input.json) yield* tellVerdicts(visited, verdicts)
    else yield* print(JSON.stringify({ file: visited.name, ok, ...verdicts, fault: visited.fault }))
  }
  if (!allOk) return yield* new Exit({ code: exitCodes.notWell })
})

const isFine = ({ icrcBad, vcrcBad, mpaCrcBad }: Verdicts): boolean =>
  icrcBad.length === 0 && vcrcBad === 0 && mpaCrcBad === 0

const tellVerdicts = Effect.fnUntraced(function* ({ name, fault }: Visited, verdicts: Verdicts) {
  const { out } = yield* Screen
  const paint = paintOf(out)
  const { packets, roce, icrcOk, icrcBad, notCheckable, vcrcOk, vcrcBad, mpaCrcOk, mpaCrcBad, mpaCrcAbsent } = verdicts
  const lines = [`${paint.bold(name)}  ${counted(packets, "packet")}, ${grouped(roce)} with an ICRC`]
  const verdict = (what: string, right: number, wrong: number, rest: string): void => {
    if (right + wrong === 0 && rest === "") return
    const bad = wrong === 0 ? "" : paint.red(`${grouped(wrong)} wrong`)
    lines.push(`  ${what}  ${[`${grouped(right)} right`, bad, rest].filter((part) => part !== "").join(", ")}`)
  }
  verdict("ICRC", icrcOk, icrcBad.length, notCheckable === 0 ? "" : `${grouped(notCheckable)} not checkable`)
  if (icrcBad.length > 0) lines.push(`        in ${framesText(icrcBad)}`)
  verdict("VCRC", vcrcOk, vcrcBad, "")
  verdict("MPA ", mpaCrcOk, mpaCrcBad, mpaCrcAbsent === 0 ? "" : `${grouped(mpaCrcAbsent)} without a CRC`)
  if (mpaCrcBad > 0) lines.push(`        in ${framesText(verdicts.mpaCrcBadFrames)}`)
  for (const note of verdicts.notes) lines.push(`  ${paint.cyan("note:")} ${note}`)
  if (fault !== undefined) lines.push(`  ${paint.yellow("warning:")} ${fault}`)
  yield* print(lines.join("\n"))
})

/** "frames 3 7 9 and 41 more". */
export const framesText = (frames: ReadonlyArray<number>): string => {
  const shown = frames.slice(0, FRAMES_SHOWN).join(" ")
  const more = frames.length - FRAMES_SHOWN
  return `frame${frames.length === 1 ? "" : "s"} ${shown}${more > 0 ? ` and ${grouped(more)} more` : ""}`
}
