import { type ChildProcess, spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Finished } from "./Program.ts"

const main = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url))
/** What a server says on its error side when peers may come. */
const LISTENING = /^listening/m

/** A run of the command `rdmakit`, from its sources. */
export class Rdmakit {
  /** Ends when the run has ended; it does not fail. */
  readonly done: Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  readonly #child: ChildProcess
  #stderr = ""
  #look: (() => void) | undefined

  /** @param seconds after which it is ended */
  constructor(args: ReadonlyArray<string>, seconds = 60) {
    const child = spawn(process.execPath, ["--conditions=@rdmakit/source", main, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      timeout: seconds * 1000,
    })
    this.#child = child
    let stdout = ""
    child.stdout.on("data", (piece: Buffer) => {
      stdout += piece.toString()
    })
    child.stderr.on("data", (piece: Buffer) => {
      this.#stderr += piece.toString()
      this.#look?.()
    })
    this.done = new Promise((resolve) => {
      child.once("error", (error) => resolve({ code: -1, stdout, stderr: error.message }))
      child.once("close", (code) => {
        resolve({ code: code ?? -1, stdout, stderr: this.#stderr })
        this.#look?.()
      })
    })
  }

  /** Waits until a server listens, or has ended. */
  get listening(): Promise<void> {
    return new Promise((resolve) => {
      this.#look = () => {
        const ended = this.#child.exitCode !== null || this.#child.signalCode !== null
        if (LISTENING.test(this.#stderr) || ended) resolve()
      }
      this.#look()
    })
  }

  /** Ends it. */
  stop(): void {
    this.#child.kill("SIGKILL")
  }
}

/** What a run that ended well has to say; the rest is in the message of the failure. */
export const wellDone = ({ code, stdout, stderr }: Omit<Finished, "stdout"> & { readonly stdout: string }): string => {
  if (code === 0) return stdout
  throw new Error(`rdmakit ended with ${code}\n${stdout}\n${stderr}`)
}
