import { Command, Flag } from "effect/cli"
import { whenRun } from "./whenRun.ts"

const PORTS_MAX = 1024
const PRIORITIES_MAX = 7

const whole = (name: string, most: number, description: string, otherwise: number) =>
  Flag.Int(name).pipe(
    Flag.withMetavar("N"),
    Flag.withDescription(`${description} (default: ${otherwise})`),
    Flag.filter(
      (value) => value >= 1 && value <= most,
      () => `a whole number 1..${most}`,
    ),
    Flag.withDefault(otherwise),
  )

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description))

export const sizeCommand = Command.make(
  "size",
  {
    rate: text("rate", "RATE", "Of every port, such as 100Gbps"),
    delay: text("delay", "TIME", "Of a cable, one way, such as 1us; or --length").pipe(Flag.optional),
    length: text("length", "LENGTH", "Of a cable, such as 100m or 2km: 5 ns a metre").pipe(Flag.optional),
    mtu: text("mtu", "SIZE", "The largest frame, with its headers (default: 1048)").pipe(Flag.withDefault("1048")),
    response: text("response", "TIME", "How long a paused sender goes on (default: 0s)").pipe(Flag.withDefault("0s")),
    ports: whole("ports", PORTS_MAX, "Ports of the switch", 32),
    priorities: whole("priorities", PRIORITIES_MAX, "Priorities with PFC", 1),
    buffer: text("buffer", "SIZE", "Of the switch (default: 32MiB)").pipe(Flag.withDefault("32MiB")),
    reserve: text("reserve", "SIZE", "Of a port and priority, outside the pool (default: 4096)").pipe(
      Flag.withDefault("4096"),
    ),
    rtt: text("rtt", "TIME", "Base round trip, for DCTCP (default: two cables there and back)").pipe(Flag.optional),
    json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object"), Flag.withDefault(false)),
  },
  whenRun(async () => (await import("../size/Size.ts")).size),
).pipe(
  Command.withShortDescription("Headroom, thresholds and marks for a switch"),
  Command.withDescription(
    `Reckons what a switch needs to lose nothing, and when it should mark: headroom
  of a port and priority, what is left to share, what each alpha leaves to a
  queue, and Kmin and Kmax for DCQCN and DCTCP by the rules of their papers.

  Exits with 2 when the headroom does not fit the buffer.`,
  ),
  Command.withExamples([
    { command: "rdmakit size --rate 100Gbps --delay 1us", description: "A port of HPCC's simulations" },
    {
      command: "rdmakit size --rate 400Gbps --length 300m --mtu 4200 --ports 64 --priorities 2 --buffer 64MiB",
      description: "A switch with long cables",
    },
    { command: "rdmakit size --rate 25Gbps --length 3m --json | jq .headroom", description: "For other programs" },
  ]),
)
