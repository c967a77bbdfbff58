/** A user's own controller: a module that `--controller` names. */
import { spawnSync } from "node:child_process"
import { writeSync } from "node:fs"
import { pathToFileURL } from "node:url"
import type { ControllerFactory } from "@rdmakit/protocol"
import { ControllerModuleError, userController } from "@rdmakit/scenario"
import { Effect, FileSystem, Option, Path } from "effect"
import { exitCodes, Refused } from "./Exit.ts"
import { scalarOf } from "./FlagFields.ts"
import { newerNode } from "./NewerNode.ts"
import { WorkingDirectory } from "./Screen.ts"

export interface ControllerInput {
  /** The module's path, from the working directory. */
  readonly controller: Option.Option<string>
  /** `KEY=VALUE`, for a module that exports a function of options. */
  readonly option: ReadonlyArray<string>
}

export const noController: ControllerInput = { controller: Option.none(), option: [] }

/** A module whose code is wrong is compiled by a process of its own to learn the line: not for longer than this. */
const CHECK_MS_MAX = 10_000
const LANGUAGES = /\.(?:[cm]?ts|[cm]?js)$/
const ALONE =
  "the command is one bundle: a controller imports the types of @rdmakit/protocol (import type), files beside it, and packages installed next to it"

/** Loads the controller that a command line names; undefined when it names none. */
export const loadController = Effect.fnUntraced(function* ({ controller, option }: ControllerInput) {
  if (Option.isNone(controller)) {
    if (option.length === 0) return undefined
    return yield* new Refused({ message: `--option: found "${option[0]}", expected --controller beside it` })
  }
  const options = yield* optionsOf(option)
  const file = controller.value
  const absolute = (yield* Path.Path).resolve(yield* WorkingDirectory, file)
  yield* checkFile(file, absolute)
  const module = yield* Effect.tryPromise({
    try: () => import(/* @vite-ignore */ pathToFileURL(absolute).href) as Promise<Readonly<Record<string, unknown>>>,
    catch: (error) => importFailed(file, absolute, error),
  }).pipe(Effect.raceFirst(neverLoaded(file)), stayingAlive(file))
  return yield* Effect.try({
    try: (): ControllerFactory => userController(module, file, options),
    catch: (error) => {
      if (!(error instanceof ControllerModuleError)) throw error
      const { message, hint } = error
      return new Refused({ message, ...(hint === undefined ? {} : { hint }) })
    },
  })
})

/** Fails when nothing is left to do in this process and the module has still not loaded. */
const neverLoaded = (file: string) =>
  Effect.callback<never, Refused>((resume) => {
    const message = `${file}: its top level waits for something that never comes`
    const heard = () => resume(Effect.fail(new Refused({ message, hint: "a module that awaits has to be woken" })))
    process.on("beforeExit", heard)
    return Effect.sync(() => process.off("beforeExit", heard))
  })

/** A module that ends the process is told of as the process ends: nothing else can be done by then. */
const stayingAlive =
  (file: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const heard = () => {
          // Of two that hear it, one says so.
          if (process.exitCode === exitCodes.refused) return
          process.exitCode = exitCodes.refused
          writeSync(2, `error: ${file}: it ended the process: a controller must not\n`)
        }
        process.on("exit", heard)
        return heard
      }),
      () => effect,
      (heard) => Effect.sync(() => process.off("exit", heard)),
    )

/** What a module throws outside its callbacks, in a timer or a promise of its own; undefined: it is not the module's. */
export const strayFault = (file: string, absolute: string, error: unknown): Refused | undefined => {
  if (!(error instanceof Error)) return undefined
  const place = placeOf(error.stack ?? "", absolute)
  if (place === undefined) return undefined
  return new Refused({
    message: `${file}:${place}: threw ${error.name}: ${error.message}, and nobody waits for it`,
    hint: "a controller works in its callbacks, without timers and promises of its own",
  })
}

/** Ends a command in words when the controller's module throws where nobody catches it. */
export const withStrayFaults =
  ({ controller }: ControllerInput) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Refused, R | Path.Path> =>
    Option.match(controller, {
      onNone: (): Effect.Effect<A, E | Refused, R | Path.Path> => effect,
      onSome: (file) => Effect.raceFirst(effect, strayFaultOf(file)).pipe(stayingAlive(file)),
    })

const strayFaultOf = Effect.fnUntraced(function* (file: string) {
  const absolute = (yield* Path.Path).resolve(yield* WorkingDirectory, file)
  return yield* Effect.callback<never, Refused>((resume) => {
    const heard = (error: unknown) => resume(strayFault(file, absolute, error) ?? Effect.die(error))
    process.on("uncaughtException", heard)
    return Effect.sync(() => process.off("uncaughtException", heard))
  })
})

const words: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
])

const optionsOf = Effect.fnUntraced(function* (list: ReadonlyArray<string>) {
  const options: Record<string, unknown> = {}
  for (const text of list) {
    const [, key, value] = /^([A-Za-z_$][\w$]*)=(.*)$/s.exec(text) ?? []
    if (key === undefined || value === undefined) {
      return yield* new Refused({ message: `--option: found "${text}", expected KEY=VALUE, such as gain=0.5` })
    }
    // No property like the others: it would change what the options inherit.
    if (key === "__proto__") {
      return yield* new Refused({ message: `--option: found the key ${key}, expected the name of an option` })
    }
    options[key] = words.get(value) ?? scalarOf(value)
  }
  return options
})

/** A file of a language that the running Node has. */
const checkFile = Effect.fnUntraced(function* (file: string, absolute: string) {
  const files = yield* FileSystem.FileSystem
  const info = yield* Effect.option(files.stat(absolute))
  if (Option.isNone(info)) {
    const hint = `${absolute} does not exist; a path starts at the working directory`
    return yield* new Refused({ message: `${file}: found nothing, expected a module`, hint })
  }
  if (info.value.type !== "File") {
    return yield* new Refused({ message: `${file}: found no regular file, expected a module` })
  }
  if (!LANGUAGES.test(file)) {
    return yield* new Refused({ message: `${file}: found another kind of file, expected .ts, .mts, .js or .mjs` })
  }
  if (/ts$/.test(file) && !process.features.typescript) {
    const hint = `${newerNode("22.18")}; or write the module as .mjs`
    return yield* new Refused({ message: `${file}: this Node, ${process.version}, does not run TypeScript`, hint })
  }
})

/** Why a module cannot be imported: its code, what it imports, or what it does when it is loaded. */
const importFailed = (file: string, absolute: string, error: unknown): Refused => {
  if (!(error instanceof Error)) return new Refused({ message: `${file}: threw ${String(error)} when it was loaded` })
  const { code = "" } = error as NodeJS.ErrnoException
  if (error instanceof SyntaxError) {
    const place = syntaxPlace(error.stack ?? "", file, absolute) ?? checkedPlace(file, absolute)
    const where = place ?? `${file}, or a file that it imports`
    const hint =
      code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX"
        ? "types are taken away and nothing else is done: no enums, namespaces or parameter properties"
        : undefined
    return new Refused({ message: `${where}: ${error.message}`, ...(hint === undefined ? {} : { hint }) })
  }
  if (/^ERR_(MODULE_NOT_FOUND|PACKAGE_PATH_NOT_EXPORTED|UNSUPPORTED_DIR_IMPORT)$/.test(code)) {
    return new Refused({ message: `${file}: ${error.message.split("\n")[0]}`, hint: ALONE })
  }
  if (code === "ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING") {
    const hint = "write it as .mjs, or keep it outside of node_modules"
    return new Refused({ message: `${file}: Node runs no TypeScript that lies in node_modules`, hint })
  }
  const place = placeOf(error.stack ?? "", absolute)
  const where = place === undefined ? file : `${file}:${place}`
  return new Refused({ message: `${where}: threw ${error.name}: ${error.message} when it was loaded` })
}

/** Node heads the stack of some syntax errors with the file and its line. */
const syntaxPlace = (stack: string, file: string, absolute: string): string | undefined => {
  const match = /^(?:file:\/\/)?(\S.*):(\d+)$/.exec(stack.split("\n")[0]!)
  if (match === null) return undefined
  const named = match[1]!
  return `${named === absolute || pathToFileURL(absolute).pathname === named ? file : named}:${match[2]}`
}

/** The line that Node's own check of a file names; undefined when the file itself is fine. */
const checkedPlace = (file: string, absolute: string): string | undefined => {
  if (/ts$/.test(file)) return undefined
  const { stderr } = spawnSync(process.execPath, ["--check", absolute], { encoding: "utf8", timeout: CHECK_MS_MAX })
  return syntaxPlace(stderr ?? "", file, absolute)
}

/** The line and column of the first line of a stack that is in the file. */
const placeOf = (stack: string, absolute: string): string | undefined => {
  const url = pathToFileURL(absolute).href
  for (const line of stack.split("\n")) {
    for (const name of [url, absolute]) {
      const at = line.lastIndexOf(`${name}:`)
      if (at >= 0) return /^\d+:\d+/.exec(line.slice(at + name.length + 1))?.[0]
    }
  }
  return undefined
}
