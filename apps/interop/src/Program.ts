import { spawn } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { delimiter, join } from "node:path"
import { LeftOut } from "./LeftOut.ts"

/** Folders where programs are, those that PATH often leaves out too. */
const folders = () => [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin", "/usr/bin", "/bin"]

/** The whole name of a program. undefined: it is not here. */
export const findProgram = (name: string): string | undefined => {
  for (const folder of folders()) {
    const path = join(folder, name)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // It is not in this folder.
    }
  }
  return undefined
}

/** The same for what cannot be done without. @throws LeftOut */
export const requireProgram = (name: string, todo: string): string => {
  const path = findProgram(name)
  if (path === undefined) throw new LeftOut(`there is no ${name} here`, todo)
  return path
}

/** What a program said. */
export interface Finished {
  readonly code: number
  readonly stdout: Buffer
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly input?: Uint8Array
  readonly timeoutMs?: number
}

/** Runs a program to its end. A program that ends badly is no exception: the caller looks at `code`, -1 when it was killed. */
export const runProgram = (
  program: string,
  args: ReadonlyArray<string>,
  { env = process.env, input, timeoutMs = 600_000 }: RunOptions = {},
): Promise<Finished> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [...args], { env, stdio: ["pipe", "pipe", "pipe"], timeout: timeoutMs })
    const stdout: Array<Buffer> = []
    let stderr = ""
    child.stdout.on("data", (octets: Buffer) => stdout.push(octets))
    child.stderr.on("data", (octets: Buffer) => {
      stderr = (stderr + octets.toString()).slice(-20_000)
    })
    // A program that ends before it has read its input is judged by its code.
    child.stdin.on("error", () => {})
    child.stdin.end(input)
    child.on("error", reject)
    child.on("close", (code) => resolve({ code: code ?? -1, stdout: Buffer.concat(stdout), stderr }))
  })

/** The last lines of what a program complained, on one line. */
export const lastWords = (stderr: string): string =>
  stderr
    .trim()
    .split("\n")
    .slice(-3)
    .map((line) => line.trim())
    .join("; ")
    .slice(-400)
