import { Observer } from "@rdmakit/analysis"
import type { CaptureRecord } from "@rdmakit/pcap"
import { Effect, Option } from "effect"
import { Exit, exitCodes, Refused } from "../Exit.ts"
import { counted } from "../Figures.ts"
import { print, Screen, tell } from "../Screen.ts"
import { STDIN } from "../StandardInput.ts"
import { enough, filterOf, type SelectionInput, visitFile, visitMerged } from "./CaptureInput.ts"
import { type CaptureFormat, type CaptureWriter, refusalOf, writeCapture } from "./CaptureOutput.ts"

export interface ConvertInput extends SelectionInput {
  /** All but the last are read, the last is written. */
  readonly files: ReadonlyArray<string>
  readonly format: Option.Option<CaptureFormat>
  readonly snap: Option.Option<number>
  readonly force: boolean
  readonly json: boolean
}

const outputOf = (input: ConvertInput) => ({
  out: input.files.at(-1)!,
  format: input.format,
  force: input.force,
  inputs: input.files.slice(0, -1).filter((file) => file !== STDIN),
  snapLength: Option.getOrUndefined(input.snap),
})

const summary = Effect.fnUntraced(function* (
  input: ConvertInput,
  written: { readonly packets: number; readonly faults: ReadonlyArray<string> },
) {
  const out = input.files.at(-1)!
  const { packets, faults } = written
  const { readerGone } = yield* Screen
  const ok = faults.length === 0
  for (const fault of faults) yield* tell(`warning: ${fault}`)
  // The capture itself may go to the standard output.
  if (input.json && out !== STDIN) yield* print(JSON.stringify({ ok, out, packets, faults }))
  else if (out !== STDIN || !readerGone())
    yield* tell(`${out === STDIN ? "standard output" : out}: ${counted(packets, "packet")}`)
  if (!ok) return yield* new Exit({ code: exitCodes.notWell })
})

/** Writes one capture as another, after a filter where there is one. */
export const convert = Effect.fnUntraced(function* (input: ConvertInput) {
  if (input.files.length !== 2) {
    return yield* new Refused({
      message: `found ${counted(input.files.length, "file")}, expected IN and OUT`,
      hint: "'rdmakit pcap merge' joins several captures",
    })
  }
  const result = yield* writeCapture(outputOf(input), (writer) => copy(input, input.files[0]!, writer))
  yield* summary(input, result)
})

const copy = Effect.fnUntraced(function* (input: ConvertInput, file: string, writer: CaptureWriter) {
  const { text, record, end } = yield* selected(input, writer)
  const visited = yield* visitFile(file, record, { text })
  yield* end
  return { packets: writer.packets(), faults: visited.fault === undefined ? [] : [visited.fault] }
})

/** Joins captures by the times of their packets. */
export const merge = Effect.fnUntraced(function* (input: ConvertInput & { readonly rotated: boolean }) {
  if (input.files.length < 2) {
    return yield* new Refused({ message: `found ${counted(input.files.length, "file")}, expected IN… and OUT` })
  }
  const result = yield* writeCapture(outputOf(input), (writer) => join(input, writer))
  yield* summary(input, result)
})

const join = Effect.fnUntraced(function* (input: ConvertInput & { readonly rotated: boolean }, writer: CaptureWriter) {
  const { text, record, end } = yield* selected(input, writer)
  const { faults } = yield* visitMerged(input.files.slice(0, -1), input.rotated, record, { text })
  yield* end
  return { packets: writer.packets(), faults }
})

/** Takes records to a writer, but not packets that do not pass the filter. A refusal of the writer ends the visit. */
const selected = Effect.fnUntraced(function* (input: ConvertInput, writer: CaptureWriter) {
  const observer = new Observer()
  const filter = yield* filterOf(input, observer)
  let failure: unknown
  const record = (each: CaptureRecord): void => {
    if (each.kind === "packet" && !filter.isEmpty && !filter.passes(observer.observe(each))) return
    try {
      writer.record(each)
    } catch (error) {
      failure = error
      enough()
    }
  }
  const end = Effect.suspend(() => (failure === undefined ? Effect.void : refusalOf(failure, input.files.at(-1)!)))
  return { record, end, text: writer.takeOutput }
})
