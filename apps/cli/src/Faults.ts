import type { Ns3FormatError } from "@rdmakit/ns3"
import type { InputNote, InputsRefused } from "@rdmakit/scenario"
import { Effect, FileSystem, Path } from "effect"
import { counted } from "./Figures.ts"
import { paintOf } from "./Paint.ts"
import { print, Screen, type Surface, WorkingDirectory } from "./Screen.ts"
import { inOneLine } from "./Shown.ts"

/** Files above this are not opened again to show a line of them. */
const FRAME_BYTES_MAX = 64e6
const FRAME_COLUMNS_BEFORE = 60
const FRAME_COLUMNS_MAX = 120

/** Writes why inputs were refused: each fault as `file:line:column: …`, and the line it stands in. */
export const tellFaults = (
  { faults }: Pick<InputsRefused, "faults">,
  text?: string,
): Effect.Effect<void, never, Screen | FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const { err } = yield* Screen
    const paint = paintOf(err)
    for (const fault of faults) {
      yield* err.write(`${paint.red("error:")} ${paint.bold(inOneLine(fault.message))}\n`)
      const line = yield* lineOf(fault, text)
      if (line !== undefined) yield* err.write(frame(line, fault, err.columns, paint.cyan("^")))
    }
  })

/** Writes notes and warnings, each as `file:line:column: …`. */
export const showNotes = (notes: ReadonlyArray<InputNote>, surface: Surface): Effect.Effect<void> =>
  Effect.gen(function* () {
    const paint = paintOf(surface)
    for (const { file, line, column, kind, text } of notes) {
      const place = line > 0 ? `${file}:${line}:${column}` : file
      const word = kind === "warning" ? paint.yellow("warning:") : paint.cyan("note:")
      yield* surface.write(`${inOneLine(place)}: ${word} ${inOneLine(text)}\n`)
    }
  })

/** The same with one warning for all the keys of a config that change nothing: `lint --all` says why of each. */
export const foldIdleKeys = (notes: ReadonlyArray<InputNote>): ReadonlyArray<InputNote> => {
  const idle = notes.filter(({ idleKey }) => idleKey !== undefined)
  const [first] = idle
  if (first === undefined) return notes
  const keys = idle.map(({ idleKey }) => idleKey).join(" ")
  const text = `${counted(idle.length, "key")} without effect here, 'rdmakit lint --all' says why: ${keys}`
  const folded: InputNote = { file: first.file, line: 0, column: 0, kind: "warning", text }
  return [folded, ...notes.filter(({ idleKey }) => idleKey === undefined)]
}

/** A fault as programs read it. */
export const faultJson = (fault: Ns3FormatError) => {
  const { file, line, column, field, found, expected, hint, offset, message } = fault
  return { file, line, column, field, found, expected, hint, offset, message }
}

/** The line that a fault stands in; undefined where it is not to be had. */
const lineOf = (fault: Ns3FormatError, text: string | undefined) =>
  Effect.gen(function* () {
    if (fault.line === 0 || fault.offset !== undefined) return undefined
    if (text !== undefined) return text.split("\n")[fault.line - 1]
    const files = yield* FileSystem.FileSystem
    const file = (yield* Path.Path).resolve(yield* WorkingDirectory, fault.file)
    const { size, type } = yield* files.stat(file)
    if (type !== "File" || Number(size) > FRAME_BYTES_MAX) return undefined
    return (yield* files.readFileString(file)).split("\n")[fault.line - 1]
  }).pipe(Effect.orElseSucceed(() => undefined))

/** The part of the line around the column, and a caret below it. */
const frame = (line: string, fault: Ns3FormatError, columns: number, caret: string): string => {
  const label = `  ${fault.line} | `
  const start = Math.max(0, fault.column - 1 - FRAME_COLUMNS_BEFORE)
  const shown = line
    .replaceAll("\t", " ")
    .trimEnd()
    .slice(start, start + Math.max(20, Math.min(columns, FRAME_COLUMNS_MAX) - label.length))
  const before = inOneLine(shown.slice(0, fault.column - 1 - start)).padEnd(fault.column - 1 - start)
  return `${label}${inOneLine(shown)}\n${" ".repeat(label.length + before.length)}${caret}\n`
}

/** With `--json`, refused inputs are an object on the screen too: `{"file": …, "ok": false, "faults": […], "notes": […]}`. */
export const withJsonFaults =
  (json: boolean, file: string) =>
  <A, E, R>(effect: Effect.Effect<A, E | InputsRefused, R>): Effect.Effect<A, E | InputsRefused, R | Screen> =>
    Effect.tapError(effect, (error) => {
      if (!json || !isInputsRefused(error)) return Effect.void
      return print(JSON.stringify({ file, ok: false, faults: error.faults.map(faultJson), notes: error.notes }))
    })

const isInputsRefused = (error: unknown): error is InputsRefused =>
  typeof error === "object" && error !== null && "_tag" in error && error._tag === "InputsRefused"
