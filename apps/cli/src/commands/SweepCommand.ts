import { Argument, Command, Flag } from "effect/cli"
import { controllerFlags } from "../controllerFlags.ts"
import { whenRun } from "./whenRun.ts"

const SEEDS_MAX = 100_000
const JOBS_MAX = 1024

export const sweepCommand = Command.make(
  "sweep",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("A config or a scenario")),
    vary: Flag.String("vary").pipe(
      Flag.withMetavar("KEY=A,B,…"),
      Flag.withDescription("Values that a key takes in turn; may be repeated"),
      Flag.atLeast(0),
    ),
    seeds: Flag.Int("seeds").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Runs of each combination, with the seeds 0 to N-1 (default: 1)"),
      Flag.filter(
        (seeds) => seeds >= 1 && seeds <= SEEDS_MAX,
        () => `a whole number 1..${SEEDS_MAX}`,
      ),
      Flag.withDefault(1),
    ),
    set: Flag.String("set").pipe(
      Flag.withMetavar("KEY=VALUE"),
      Flag.withDescription("Replace a value in every run; may be repeated"),
      Flag.atLeast(0),
    ),
    ...controllerFlags,
    out: Flag.String("out").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("Folder of the results (default: NAME.sweep, after FILE)"),
      Flag.optional,
    ),
    jobs: Flag.Int("jobs").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Runs at a time (default: one for each core)"),
      Flag.filter(
        (jobs) => jobs >= 1 && jobs <= JOBS_MAX,
        () => `a whole number 1..${JOBS_MAX}`,
      ),
      Flag.optional,
    ),
    resume: Flag.Boolean("resume").pipe(
      Flag.withDescription("Go on with a sweep: what is complete is not run again"),
      Flag.withDefault(false),
    ),
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Begin anew in a folder that holds a sweep or other things"),
      Flag.withDefault(false),
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object"), Flag.withDefault(false)),
  },
  whenRun(async () => (await import("../sweep/Sweep.ts")).sweep),
).pipe(
  Command.withShortDescription("Run a network many times and sum up"),
  Command.withDescription(
    `Runs every combination of the values of --vary, each with N seeds, several runs
  at a time, and writes a folder: runs.csv, a line for each run; aggregate.csv,
  means over seeds with 95 % confidence intervals; sweep.json, what was swept;
  runs/, a file for each run that is complete.
  Keys are those of --set. With --controller, option.KEY is an option of it.
  Commas in brackets and quotes do not separate.

  The results are the same with any number of jobs. After Ctrl-C, or whatever
  else ends it, the same command line with --resume does the rest.
  Exits with 0 when every flow of every run finished, 1 when some did not or a run
  failed, 2 when refused before anything was run or when an input changed under
  way, 130 after Ctrl-C.`,
  ),
  Command.withExamples([
    {
      command: "rdmakit sweep incast.yaml --vary controller.name=hpcc,timely --seeds 10",
      description: "Two controllers, ten seeds each",
    },
    {
      command: "rdmakit sweep config.txt --vary CC_MODE=3,7 --vary BUFFER_SIZE=16,32 --out modes",
      description: "Four runs of a config",
    },
    { command: "rdmakit sweep incast.yaml --vary switch.buffer=4MiB,8MiB --resume", description: "The rest of it" },
    {
      command: "rdmakit sweep incast.yaml --controller ./mine.ts --vary option.share=0.01,0.1 --seeds 5 --json",
      description: "A controller of your own, for other programs",
    },
  ]),
)
