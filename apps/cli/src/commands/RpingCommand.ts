import { Argument, Command } from "effect/cli"
import { whenRun } from "./whenRun.ts"
import { WORLD_HELP, whole, worldFlags, yes } from "./worldFlags.ts"

export const rpingCommand = Command.make(
  "rping",
  {
    host: Argument.String("HOST").pipe(
      Argument.withDescription("Address of the server to be the client of; none: see below"),
      Argument.optional,
    ),
    listen: yes("listen", "softnic: be the server"),
    size: whole("size", "Bytes of a ping (default: 64)", "S"),
    count: whole("count", "Rounds (default: 10)", "C"),
    validate: yes("validate", "Check the octets that come back", "V"),
    verbose: yes("verbose", "Print what is sent", "v"),
    ...worldFlags,
  },
  whenRun(async () => (await import("../verbs/Rping.ts")).rping),
).pipe(
  Command.withShortDescription("READ and WRITE to and fro, as rping"),
  Command.withDescription(
    `Connects through the connection manager, and lets the server READ what the client
  has and WRITE it back, round by round, as rping of librdmacm does, and against
  it: with HOST as its client, with --listen as its server. With neither, both ends
  are in a simulated network, or with --on softnic in this process and another.
${WORLD_HELP}

  Exits with 1 when the octets differ or a work request failed, 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit rping -C 100 -V", description: "100 rounds in a simulated network, octets checked" },
    {
      command: "rdmakit rping --listen & rdmakit rping 127.0.0.1 -V --address 127.0.0.2",
      description: "A server and its client, on one host",
    },
    {
      command: "rdmakit rping 10.0.0.1 -V --address 10.0.0.2/24 --frames dgram:40012:40011",
      description: "The client of rping -s in a guest of QEMU",
    },
    { command: "rdmakit rping --on softnic --json", description: "For other programs" },
  ]),
)
