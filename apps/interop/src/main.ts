/*
 * `pnpm interop [FILTER…] [--short] [-t NAME]`: prepares the guest, and runs the suite against it. FILTER chooses files of
 * the suite by part of their names, -t tests by part of theirs. Ends with 77 when the guest cannot be prepared here.
 */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { EXIT_LEFT_OUT, LeftOut } from "./LeftOut.ts"
import { cacheFolder, prepare } from "./Prepare.ts"

const args = process.argv.slice(2)
const short = args.includes("--short")
const fresh = args.includes("--fresh")
const rest = args.filter((each) => each !== "--short" && each !== "--fresh")
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))

const run = async (): Promise<number> => {
  try {
    const { versions, peerMissing } = await prepare(console.log, fresh)
    const words = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
    console.log(`guest: ${words.join(", ")}; kept in ${cacheFolder()}`)
    if (peerMissing !== undefined) console.log(`left out: cases that need the verbs peer (${peerMissing})`)
  } catch (cause) {
    if (!(cause instanceof LeftOut)) throw cause
    console.log(cause.line)
    console.log("0 passed, 0 failed, 1 skipped")
    return EXIT_LEFT_OUT
  }
  const vitest = path("../../../node_modules/vitest/vitest.mjs")
  const child = spawn(process.execPath, [vitest, "run", "--config", path("../vitest.config.ts"), ...rest], {
    cwd: path(".."),
    env: { ...process.env, ...(short ? { RDMAKIT_INTEROP: "short" } : {}) },
    stdio: "inherit",
  })
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve) => child.once("close", (code) => resolve(code ?? 1)))
}

process.exitCode = await run()
