// The two commands a newcomer types, `npm start` and `npm test`, on a machine with nothing but Node and npm.
// Plain JavaScript for Node 20: it runs before anything is installed, Node 24 included.
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { constants } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
const [command, ...args] = process.argv.slice(2)

const env = { ...process.env, TURBO_TELEMETRY_DISABLED: "1" }
// Once installed, this folder's `node` is Node 24 where the platform has it; elsewhere the user's own Node is found.
const bin = join(root, "node_modules", ".bin")
const path = Object.keys(env).find((name) => name.toUpperCase() === "PATH") ?? "PATH"
env[path] = `${bin}${delimiter}${env[path] ?? ""}`

/** One step: its output streams through, and the run stops with its exit code when it fails. */
const step = (name, program, args, cwd = root) => {
  const { status, signal, error } = spawnSync(program, args, {
    cwd,
    env,
    stdio: "inherit",
    shell: process.platform === "win32",
  })
  if (status === 0) return
  const reason = error?.message ?? (signal === null ? `exit code ${status}` : `signal ${signal}`)
  console.error(`\nrdmakit: "${name}" failed (${reason})`)
  process.exit(status ?? (signal === null ? 1 : 128 + constants.signals[signal]))
}

const install = () =>
  step("install", "npx", ["-y", manifest.packageManager, "install", "--frozen-lockfile", "--reporter=append-only"])

const commands = {
  start: () => {
    install()
    const cli = join(root, "apps", "cli")
    step("build", "tsup", ["--silent"], cli)
    const wanted = args.length === 0 ? ["--claims"] : args
    step("start", "node", [join(cli, "dist", "main.js"), "start", ...wanted])
  },
  test: () => {
    install()
    step("boundaries", "node", ["scripts/boundaries.ts"])
    step("lint", "biome", ["check", "--error-on-warnings"])
    step("typecheck", "tsc", ["-p", "tsconfig.json", "--noEmit"])
    step("tests", "vitest", ["run", ...args])
  },
}

const run = Object.hasOwn(commands, command ?? "") ? commands[command] : undefined
if (run === undefined) {
  console.error(`usage: node scripts/run.mjs <${Object.keys(commands).join(" | ")}> [arguments]`)
  process.exit(2)
}
run()
