import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Layer, Stdio, Stream } from "effect"
import { afterAll } from "vitest"
import { runCommandLine } from "../src/CommandLine.ts"
import { Interrupts, makeInterrupts } from "../src/Interrupts.ts"
import { Screen, type Surface, showing, WorkingDirectory } from "../src/Screen.ts"

export const testdata = fileURLToPath(new URL("../../../testdata/ns3/", import.meta.url))

export interface Outcome {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Setting {
  /** The working directory; the simulator's test data unless said otherwise. */
  readonly cwd?: string
  readonly stdin?: string | Uint8Array
  readonly columns?: number
  readonly terminal?: boolean
  /** The reader of the output leaves after so many writes. */
  readonly readerLeavesAfter?: number
  /** Called at every write to the error side, with what signals the command. */
  readonly watch?: (text: string, signal: () => boolean) => void
}

/** Runs a command line in this process. */
export const rdmakit = async (args: ReadonlyArray<string>, setting: Setting = {}): Promise<Outcome> => {
  const { columns = 100, terminal = false, readerLeavesAfter = Number.POSITIVE_INFINITY } = setting
  const interrupts = makeInterrupts()
  const text = { out: "", err: "" }
  let writes = 0
  const written = (side: "out" | "err"): Surface => ({
    write: (piece) =>
      Effect.sync(() => {
        if (side === "out" && ++writes > readerLeavesAfter) return
        const characters = typeof piece === "string" ? piece : Buffer.from(piece).toString("latin1")
        text[side] += characters
        if (side === "err") setting.watch?.(characters, interrupts.signal)
      }),
    isTerminal: terminal,
    color: terminal,
    columns,
  })
  const stdin = typeof setting.stdin === "string" ? new TextEncoder().encode(setting.stdin) : setting.stdin
  const services = Layer.mergeAll(
    Layer.succeed(Screen, {
      out: showing(written("out")),
      err: showing(written("err")),
      readerGone: () => writes > readerLeavesAfter,
    }),
    Layer.succeed(Interrupts, interrupts.service),
    Layer.succeed(WorkingDirectory, setting.cwd ?? testdata),
    Stdio.layerTest({ stdin: stdin === undefined ? Stream.empty : Stream.make(stdin) }),
    NodeFileSystem.layer,
    NodePath.layer,
  )
  const code = await Effect.runPromise(Effect.provide(runCommandLine(args), services))
  return { code, ...text }
}

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))
/** The program, from its sources, as bash takes it. */
export const shellCommand = `"${process.execPath}" --conditions=@rdmakit/source "${main}"`

/** A line of bash in which `$RDMAKIT` is the command, from its sources. */
export const shell = (line: string, environment: Readonly<Record<string, string>> = {}, cwd = testdata) =>
  new Promise<{ readonly code: number | null; readonly out: string; readonly err: string }>((resolve) => {
    const script = `rdmakit() { ${shellCommand} "$@"; }; ${line}`
    const { NO_COLOR: _, ...inherited } = process.env
    const child = spawn("bash", ["-c", script], { cwd, env: { ...inherited, ...environment } })
    const text = { out: "", err: "" }
    child.stdout.on("data", (chunk) => (text.out += chunk))
    child.stderr.on("data", (chunk) => (text.err += chunk))
    child.on("close", (code) => resolve({ code, ...text }))
  })

/** A file of the simulator's, unpacked. */
export const octetsOf = (path: string): Uint8Array => {
  const octets = readFileSync(join(testdata, path))
  return path.endsWith(".gz") ? gunzipSync(octets) : octets
}

export const textOf = (path: string): string => new TextDecoder().decode(octetsOf(path))

/** A new folder with these files, gone after the tests of the file. */
export const folderOf = (files: Readonly<Record<string, string | Uint8Array>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "rdmakit-"))
  folders.push(folder)
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

/** Every file below a folder. */
export const filesIn = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort()

const folders: Array<string> = []
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})
