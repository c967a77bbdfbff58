import { Command, Flag } from "effect/cli"
import { whenRun } from "./whenRun.ts"

export const startCommand = Command.make(
  "start",
  {
    time: Flag.String("time").pipe(
      Flag.withMetavar("TIME"),
      Flag.withDescription("Simulated time in which flows start, such as 250us"),
      Flag.withDefault("100us"),
    ),
    claims: Flag.Boolean("claims").pipe(
      Flag.withDescription("Then the published figures, quick; writes claims.results"),
      Flag.withDefault(false),
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print the results as one JSON object"),
      Flag.withDefault(false),
    ),
  },
  whenRun(async () => (await import("../Start.ts")).start),
).pipe(
  Command.withShortDescription("HPCC and TIMELY on a 320-host fabric, side by side"),
  Command.withDescription(
    `Runs HPCC and TIMELY on the fabric of the HPCC paper, 320 hosts under
  Facebook's Hadoop flows, and prints their slowdowns side by side. It needs no
  files and, without --claims, writes none.`,
  ),
  Command.withExamples([
    { command: "rdmakit start", description: "Some seconds" },
    { command: "rdmakit start --claims", description: "What 'npm start' runs: some minutes" },
    { command: "rdmakit start --time 1ms", description: "Ten times as many flows" },
  ]),
)
