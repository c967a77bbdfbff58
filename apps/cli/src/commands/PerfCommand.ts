import { Argument, Command, Flag } from "effect/cli"
import { whenRun } from "./whenRun.ts"
import { WORLD_HELP, whole, worldFlags, yes } from "./worldFlags.ts"

const TESTS = [
  ...["send-bw", "send-lat", "write-bw", "write-lat", "read-bw", "read-lat", "atomic-bw", "atomic-lat"],
] as const

export const perfCommand = Command.make(
  "perf",
  {
    test: Argument.Literals("TEST", TESTS).pipe(
      Argument.withDescription("send-bw, send-lat, write-bw, write-lat, read-bw, read-lat, atomic-bw or atomic-lat"),
    ),
    peer: Flag.String("peer").pipe(
      Flag.withAlias("connect"),
      Flag.withMetavar("HOST"),
      Flag.withDescription("softnic: measure against a server there, of rdmakit or perftest"),
      Flag.optional,
    ),
    listen: yes("listen", "softnic: be the server, of rdmakit or perftest"),
    size: whole("size", "Bytes of a message (default: 65536; latency 2)", "s"),
    all: yes("all", "Sizes from 2 to 2^23", "a"),
    iterations: whole("iters", "Messages of a queue pair (default: 1000; write-bw 5000)", "n"),
    queuePairs: whole("qp", "Queue pairs (default: 1)", "q"),
    mtu: whole("mtu", "Path MTU: 256, 512, 1024, 2048, 4096 (default: the port's)", "m"),
    bidirectional: yes("bidirectional", "Both sides send", "b"),
    connection: Flag.Literals("connection", ["rc", "uc", "ud"] as const).pipe(
      Flag.withAlias("c"),
      Flag.withDescription("Type of the queue pairs (default: rc)"),
      Flag.optional,
    ),
    txDepth: whole("tx-depth", "Requests outstanding (default: 128)", "t"),
    moderation: whole("cq-mod", "Requests of one completion (default: 100 up to 8192 bytes, then 1)", "Q"),
    inline: whole("inline", "Messages up to so many bytes are inline", "I"),
    gidIndex: whole("gid-index", "Which address of the port", "x"),
    poll: yes("poll", "softnic: do not sleep while packets come, as perftest; each end wants a processor of its own"),
    ...worldFlags,
  },
  whenRun(async () => (await import("../verbs/Perf.ts")).perf),
).pipe(
  Command.withShortDescription("Measure bandwidth and latency, as perftest"),
  Command.withDescription(
    `Measures what perftest measures, with its defaults, and prints its columns: MB are
  2^20 bytes; a latency of SEND and WRITE is half of there and back; t_typical is
  the median; the two longest count for nothing.

  By default both ends are in a simulated network, in virtual time: two hosts and
  a switch, and the same numbers every time. --on softnic starts a second process
  and measures between the two; --listen and --peer are the ends for two machines,
  or for Linux's ib_send_bw and its like (version 6.06; give those -x and -F).
${WORLD_HELP}

  Exits with 1 when a work request failed or the peer left, 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit perf write-bw", description: "64 KiB WRITEs over 100 Gb/s, simulated" },
    { command: "rdmakit perf send-lat -s 8 --rate 400Gbps --delay 500ns", description: "Another network" },
    { command: "rdmakit perf write-bw --on softnic --all", description: "Two processes over UDP, all sizes" },
    {
      command: "rdmakit perf write-bw --listen & rdmakit perf write-bw --peer 127.0.0.1 --address 127.0.0.2",
      description: "A server and its client, on one host",
    },
    {
      command: "rdmakit perf read-bw --peer 10.0.0.1 --address 10.0.0.2/24 --frames dgram:40012:40011",
      description: "Against ib_read_bw in a guest of QEMU",
    },
    { command: "rdmakit perf send-lat --faults loss=1% --json | jq .results", description: "For other programs" },
  ]),
)
