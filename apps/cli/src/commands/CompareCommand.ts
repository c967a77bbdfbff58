import { Argument, Command, Flag } from "effect/cli"
import { whenRun } from "./whenRun.ts"

const side = (name: string) =>
  Argument.String(name).pipe(
    Argument.withDescription("Completion times, a trace (.tr), pfc or qlen, or a folder; - is standard input"),
  )

export const compareCommand = Command.make(
  "compare",
  {
    a: side("A"),
    b: side("B"),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object"), Flag.withDefault(false)),
  },
  whenRun(async () => (await import("../Comparison.ts")).compare),
).pipe(
  Command.withShortDescription("Compare two results"),
  Command.withDescription(
    `Compares two results flow by flow and two packet traces event by event:
  slowdown percentiles by flow size, flows that agree, the flow that differs
  most, the first event that differs. In folders, files of one kind are paired:
  completion times (*fct*, or flows.csv, all that a scenario's run has), trace
  (*.tr), PFC events, queue lengths.

  Exits with 0 when identical, 1 when different, 2 when they cannot be compared.`,
  ),
  Command.withExamples([
    { command: "rdmakit compare hpcc.results reference/", description: "What a run wrote, against a folder" },
    { command: "rdmakit compare fct_hpcc.txt fct_timely.txt", description: "Two files of completion times" },
    { command: "rdmakit compare a.tr b.tr", description: "Two traces: the first event that differs" },
    { command: "rdmakit compare A B --json | jq .flows.identical", description: "For other programs" },
  ]),
)
