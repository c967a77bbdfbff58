import { Command } from "effect/cli"
import { whenRun } from "./whenRun.ts"

export const schemaCommand = Command.make(
  "schema",
  {},
  whenRun(async () => {
    const { printSchema } = await import("../SchemaText.ts")
    return () => printSchema
  }),
).pipe(
  Command.withShortDescription("Print the JSON Schema of scenarios"),
  Command.withDescription(
    `Prints the JSON Schema (draft 2020-12) of scenarios: every topology, workload
  and controller by name with its options, for editors that complete and check
  as one writes, and for other programs. 'rdmakit lint' checks more.`,
  ),
  Command.withExamples([
    { command: "rdmakit schema > scenario.schema.json", description: "For a scenario that begins with" },
    {
      command: "# yaml-language-server: $schema=scenario.schema.json",
      description: "this line, editors with a YAML language server use it",
    },
  ]),
)
