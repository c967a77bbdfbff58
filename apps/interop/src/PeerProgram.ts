import { existsSync } from "node:fs"
import { join } from "node:path"
import { packagedProgram } from "./Image.ts"
import { findProgram, lastWords, runProgram } from "./Program.ts"

const SOURCES = ["peer.c", "objects.c", "work.c"]

/** Names of the sources, with their header. */
export const PEER_SOURCES = ["peer.h", ...SOURCES]

/** Whether this machine has a compiler and what it needs to link. */
export const hasCompiler = (): boolean =>
  findProgram("gcc") !== undefined && findProgram("ld") !== undefined && findProgram("as") !== undefined

/**
 * Compiles the verbs peer with the headers and libraries of the unpacked packages, by the machine's compiler or by theirs.
 * @returns what the compiler complained of; undefined when all is well
 */
export const compilePeer = async (
  root: string,
  sources: string,
  output: string,
  librariesPath: string,
): Promise<string | undefined> => {
  const own = hasCompiler()
  const compiler = own ? findProgram("gcc") : packagedProgram(root, "gcc")
  if (compiler === undefined) return "there is no C compiler"
  const env = own
    ? process.env
    : {
        ...process.env,
        // Its own parts, found beside it, need their libraries.
        LD_LIBRARY_PATH: librariesPath,
        PATH: `${join(root, "usr/bin")}:${process.env.PATH ?? ""}`,
      }
  const library = join(root, "usr/lib/x86_64-linux-gnu")
  const finished = await runProgram(
    compiler,
    [
      ...["-O2", "-std=gnu11", "-Wall", `--sysroot=${root}`],
      ...["-isystem", join(root, "usr/include"), "-isystem", join(root, "usr/include/x86_64-linux-gnu")],
      ...[`-L${library}`, `-B${library}`],
      ...(own ? [] : [`-B${join(root, "usr/bin")}`]),
      // Libraries of libraries are the guest's affair.
      "-Wl,--allow-shlib-undefined",
      ...["-o", output, ...SOURCES.map((name) => join(sources, name)), "-libverbs"],
    ],
    { env, timeoutMs: 120_000 },
  )
  return finished.code === 0 && existsSync(output) ? undefined : lastWords(finished.stderr)
}
