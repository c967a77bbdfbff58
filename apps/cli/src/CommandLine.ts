import { Effect, type FileSystem, Layer, Option, type Path, type PlatformError, type Stdio, Terminal } from "effect"
import { CliConfig, CliOutput, Command, Completions, Flag, GlobalFlag, TerminalCapabilities } from "effect/cli"
import { ChildProcessSpawner } from "effect/process"
import manifest from "../package.json" with { type: "json" }
import { claimsCommand } from "./commands/ClaimsCommand.ts"
import { compareCommand } from "./commands/CompareCommand.ts"
import { devinfoCommand } from "./commands/DevinfoCommand.ts"
import { generateCommand } from "./commands/GenerateCommand.ts"
import { lintCommand } from "./commands/LintCommand.ts"
import { pcapCommand } from "./commands/PcapCommand.ts"
import { perfCommand } from "./commands/PerfCommand.ts"
import { pingpongCommand } from "./commands/PingpongCommand.ts"
import { rpingCommand } from "./commands/RpingCommand.ts"
import { runCommand } from "./commands/RunCommand.ts"
import { schemaCommand } from "./commands/SchemaCommand.ts"
import { sizeCommand } from "./commands/SizeCommand.ts"
import { startCommand } from "./commands/StartCommand.ts"
import { sweepCommand } from "./commands/SweepCommand.ts"
import { traceCommand } from "./commands/TraceCommand.ts"
import { exitCodes } from "./Exit.ts"
import { tellFaults } from "./Faults.ts"
import { presenterOf } from "./HelpScreen.ts"
import type { Interrupts } from "./Interrupts.ts"
import { paintOf } from "./Paint.ts"
import { print, Screen } from "./Screen.ts"
import { inOneLine } from "./Shown.ts"
import { systemWords } from "./SystemWords.ts"

const root = Command.make("rdmakit").pipe(
  Command.withDescription("Runs RDMA networks, compares what came out, reads what happened."),
  Command.withSubcommands([
    runCommand,
    sweepCommand,
    compareCommand,
    traceCommand,
    pcapCommand,
    perfCommand,
    pingpongCommand,
    rpingCommand,
    devinfoCommand,
    lintCommand,
    generateCommand,
    sizeCommand,
    claimsCommand,
    schemaCommand,
    startCommand,
  ]),
  Command.withExamples([
    { command: "rdmakit run config.txt", description: "Run a config of the HPCC simulator; writes config.results" },
    {
      command: "rdmakit sweep incast.yaml --vary controller.name=hpcc,timely --seeds 10",
      description: "Two controllers, ten seeds each",
    },
    { command: "rdmakit lint config.txt", description: "Check a config of the HPCC simulator and the files it names" },
    { command: "rdmakit compare fct.txt reference/fct.txt", description: "Compare two runs flow by flow" },
    {
      command: "rdmakit trace mix.tr 'node=17&event=3' | head",
      description: "The first packets that switch 17 dropped",
    },
  ]),
)

/** What every command may use. */
export type CommandServices = Screen | Interrupts | FileSystem.FileSystem | Path.Path | Stdio.Stdio

/** Completions for the user's shell, written to our screen. */
const completionsOf = (screen: typeof Screen.Service): typeof GlobalFlag.Completions => ({
  ...GlobalFlag.Completions,
  flag: GlobalFlag.Completions.flag.pipe(Flag.withMetavar("SHELL")),
  run: (shell, { command }) =>
    Option.match(shell, {
      onNone: () => Effect.void,
      onSome: (value) =>
        screen.out.write(`${Completions.generate(command.name, value, Completions.fromCommand(command))}\n`),
    }),
})

// The parser can ask questions and start programs; these commands do neither.
const unused = Layer.mergeAll(
  Layer.succeed(
    Terminal.Terminal,
    Terminal.make({
      columns: Effect.die("no terminal"),
      rows: Effect.die("no terminal"),
      size: Effect.die("no terminal"),
      readInput: Effect.die("no terminal"),
      readLine: Effect.die("no terminal"),
      display: () => Effect.die("no terminal"),
    }),
  ),
  Layer.succeed(
    ChildProcessSpawner.ChildProcessSpawner,
    ChildProcessSpawner.make(() => Effect.die("no programs")),
  ),
)

/** Carries out a command line and gives the code to exit with; never fails. */
export const runCommandLine = (args: ReadonlyArray<string>): Effect.Effect<number, never, CommandServices> =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const presenter = presenterOf(screen, (message) => tellJson(args, { message }))
    yield* Command.runWith(root, { version: manifest.version })(valuesJoined(helpFirst(args))).pipe(
      Effect.provide(unused),
      Effect.provideService(
        CliConfig.CliConfig,
        CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, completionsOf(screen)] }),
      ),
      Effect.provideService(CliOutput.Presenter, presenter),
      Effect.provideService(TerminalCapabilities.TerminalCapabilities, {
        canColor: screen.out.color,
        canAnimate: false,
        canPrompt: false,
      }),
    )
    return exitCodes.fine
  }).pipe(
    Effect.catchTags({
      Exit: ({ code }) => Effect.succeed(code),
      InputsRefused: (refused) => Effect.as(tellFaults(refused), exitCodes.refused),
      Refused: (fault) => Effect.as(tellError(args, fault), exitCodes.refused),
      PlatformError: (error) => Effect.as(tellError(args, systemFault(error)), exitCodes.notWell),
      // The presenter has said what is wrong with the command line.
      ShowHelp: ({ errors }) => Effect.succeed(errors.length === 0 ? exitCodes.fine : exitCodes.refused),
    }),
    Effect.catch((error) => Effect.as(tellError(args, error), exitCodes.refused)),
    Effect.catchDefect((defect) => Effect.as(tellBug(args, defect), exitCodes.bug)),
  )

/** What is wrong with a command line, in words. */
interface Fault {
  readonly message: string
  readonly hint?: string
}

/** What the file system has refused in the midst of the work, such as the room for it. */
const systemFault = (error: PlatformError.PlatformError): Fault => {
  const { reason } = error
  const where = reason._tag === "BadArgument" ? undefined : reason.pathOrDescriptor
  return { message: `${where ?? "a file"}: ${systemWords(error)}` }
}

/** With `--json`, what is wrong is an object on the screen too, as that of refused inputs. */
const tellJson = (args: ReadonlyArray<string>, { message, hint }: Fault): Effect.Effect<void, never, Screen> => {
  const end = args.indexOf("--")
  if (!(end < 0 ? args : args.slice(0, end)).includes("--json")) return Effect.void
  const faults = [{ message, ...(hint === undefined ? {} : { hint }) }]
  return print(JSON.stringify({ ok: false, faults, notes: [] }))
}

const tellError = (args: ReadonlyArray<string>, fault: Fault): Effect.Effect<void, never, Screen> =>
  Effect.gen(function* () {
    const { message, hint } = fault
    yield* tellJson(args, fault)
    const { err } = yield* Screen
    const paint = paintOf(err)
    yield* err.write(`${paint.red("error:")} ${paint.bold(inOneLine(message))}\n`)
    if (hint !== undefined) yield* err.write(`${hint}\n`)
  })

const tellBug = (args: ReadonlyArray<string>, defect: unknown): Effect.Effect<void, never, Screen> => {
  const trace = defect instanceof Error ? (defect.stack ?? defect.message) : String(defect)
  const message = "this is a bug in rdmakit; please report it with the command line and the lines below"
  return tellError(args, { message, hint: trace })
}

/** `rdmakit help run` is `rdmakit run --help`. */
const helpFirst = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  args[0] === "help" ? [...args.slice(1), "--help"] : args

/** `--delay -1us` as `--delay=-1us`: no flag starts with a digit, and so it is a value, and told of as one. */
const valuesJoined = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const joined: Array<string> = []
  let ended = false
  for (const arg of args) {
    const flag = joined.at(-1)
    ended ||= arg === "--"
    if (!ended && /^-\.?\d/.test(arg) && flag !== undefined && /^--[^=]+$/.test(flag)) {
      joined[joined.length - 1] = `${flag}=${arg}`
    } else joined.push(arg)
  }
  return joined
}
