import { Argument, Command, Flag } from "effect/cli"
import { controllerFlags } from "../controllerFlags.ts"
import { whenRun } from "./whenRun.ts"

export const lintCommand = Command.make(
  "lint",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("A config or a scenario; - is standard input")),
    set: Flag.String("set").pipe(
      Flag.withMetavar("KEY=VALUE"),
      Flag.withDescription("Replace a value of the config; may be repeated"),
      Flag.atLeast(0),
    ),
    ...controllerFlags,
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("Say of each key without effect why it has none"),
      Flag.withDefault(false),
    ),
    ports: Flag.Boolean("ports").pipe(
      Flag.withDescription("List the ports of all nodes, as 'rdmakit run --pcap' names them"),
      Flag.withDefault(false),
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object"), Flag.withDefault(false)),
  },
  whenRun(async () => (await import("../Lint.ts")).lint),
).pipe(
  Command.withShortDescription("Check inputs without running them"),
  Command.withDescription(
    `Checks a config of the HPCC simulator and every file it names, as
  'rdmakit run' does before it starts, and prints what is noteworthy and wrong.
  Paths are looked for in the working directory, then in the config's folder,
  then in its parent.

  Exits with 0 when the inputs can be run, 2 when they cannot.`,
  ),
  Command.withExamples([
    { command: "rdmakit lint mix/config.txt", description: "A config, its topology, flows and trace list" },
    { command: "rdmakit lint config.txt --set CC_MODE=7", description: "The same with another controller" },
    { command: "rdmakit lint incast.yaml --controller ./mine.ts", description: "With a controller of your own" },
    { command: "rdmakit lint config.txt --all", description: "Why each key without effect has none" },
    { command: "rdmakit lint config.txt --ports", description: "Every port, and where it leads" },
    { command: "rdmakit lint config.txt --json", description: "For editors and other programs" },
  ]),
)
