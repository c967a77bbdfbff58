import { Argument, Command } from "effect/cli"
import { whenRun } from "./whenRun.ts"
import { WORLD_HELP, whole, worldFlags, yes } from "./worldFlags.ts"

export const pingpongCommand = Command.make(
  "pingpong",
  {
    type: Argument.Literals("TYPE", ["rc", "uc", "ud", "srq"] as const).pipe(
      Argument.withDescription("rc, uc, ud, or srq: RC over a shared receive queue"),
    ),
    host: Argument.String("HOST").pipe(
      Argument.withDescription("The server to be the client of; none: see below"),
      Argument.optional,
    ),
    listen: yes("listen", "softnic: be the server"),
    size: whole("size", "Bytes of a message (default: 4096; ud 2048)", "s"),
    iterations: whole("iters", "Exchanges; of srq in all (default: 1000)", "n"),
    queuePairs: whole("num-qp", "srq: queue pairs (default: 16)", "q"),
    mtu: whole("mtu", "Path MTU (default: 1024)", "m"),
    rxDepth: whole("rx-depth", "Receives posted at a time (default: 500)", "r"),
    check: yes("chk", "Check the octets of every message", "c"),
    gidIndex: whole("gid-idx", "Which address of the port", "g"),
    ...worldFlags,
  },
  whenRun(async () => (await import("../verbs/Pingpong.ts")).pingpong),
).pipe(
  Command.withShortDescription("Send messages to and fro, as ibv_rc_pingpong"),
  Command.withDescription(
    `Sends messages to and fro, as the examples of libibverbs do, and against them:
  with HOST as the client of ibv_rc_pingpong and its like, with --listen as their
  server. With neither, both ends are in a simulated network, or with --on softnic
  in this process and another.
${WORLD_HELP}

  Exits with 1 when a message was wrong or a work request failed, 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit pingpong rc -c", description: "In a simulated network, octets checked" },
    {
      command: "rdmakit pingpong ud 127.0.0.1 -s 1024 --address 10.0.0.2/24 --frames dgram:40012:40011",
      description: "The client of ibv_ud_pingpong in a guest of QEMU",
    },
    { command: "rdmakit pingpong srq --on softnic --json", description: "For other programs" },
  ]),
)
