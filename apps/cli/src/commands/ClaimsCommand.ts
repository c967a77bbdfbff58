import { Argument, Command, Flag } from "effect/cli"
import { whenRun } from "./whenRun.ts"

const JOBS_MAX = 1024

export const claimsCommand = Command.make(
  "claims",
  {
    ids: Argument.String("ID").pipe(
      Argument.withDescription("Figures (hpcc-11a, hpcc-11) or single claims (hpcc-11a/short); none: all"),
      Argument.variadic(),
    ),
    list: Flag.Boolean("list").pipe(
      Flag.withDescription("List figures with their sources and what a quick run of each is; measure nothing"),
      Flag.withDefault(false),
    ),
    quick: Flag.Boolean("quick").pipe(
      Flag.withDescription("Less simulated time: minutes (the default)"),
      Flag.withDefault(false),
    ),
    full: Flag.Boolean("full").pipe(
      Flag.withDescription("As long as the sources, or nearly so: hours"),
      Flag.withDefault(false),
    ),
    out: Flag.String("out").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("Folder of claims.html, claims.json and claims.csv (default: claims.results)"),
      Flag.withDefault("claims.results"),
    ),
    jobs: Flag.Int("jobs").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Runs at a time (default: one for each core, 8 at most)"),
      Flag.filter(
        (jobs) => jobs >= 1 && jobs <= JOBS_MAX,
        () => `a whole number 1..${JOBS_MAX}`,
      ),
      Flag.optional,
    ),
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Write into a folder that holds other things"),
      Flag.withDefault(false),
    ),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object"), Flag.withDefault(false)),
  },
  whenRun(async () => (await import("../Claims.ts")).claims),
).pipe(
  Command.withShortDescription("Measure what papers have published"),
  Command.withDescription(
    `Runs the scenarios of published figures, several at a time, and prints each
  published number beside the measured one and beside the noise of the reference
  simulator. Tolerances were fixed by how a number was come by: 10 % for one read
  in its source, 25 % for one digitised from a picture; of remembered ones only
  the order of the systems counts.
  Writes claims.html, a page with a picture for each figure, claims.json and
  claims.csv.

  Exits with 0 when the systems of every figure come in the published order, or
  the exception is explained; 1 when some do not; 2 for an unknown ID. Numbers
  outside their tolerance are counted and fail nothing.`,
  ),
  Command.withExamples([
    { command: "rdmakit claims --list", description: "What there is; with --json the single claims too" },
    { command: "rdmakit claims", description: "All, quick" },
    { command: "rdmakit claims hpcc-13 hpcc-11a/short", description: "A figure, and one claim of another" },
    { command: "rdmakit claims hpcc-10 --full", description: "Figure 10, as long as it takes" },
  ]),
)
