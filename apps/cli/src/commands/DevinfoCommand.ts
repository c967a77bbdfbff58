import { Command, Flag } from "effect/cli"
import { whenRun } from "./whenRun.ts"
import { worldFlags, yes } from "./worldFlags.ts"

const { rate, delay, topology, hosts, address, frames, mac, linkMtu, json } = worldFlags

export const devinfoCommand = Command.make(
  "devinfo",
  {
    verbose: yes("verbose", "All attributes, and the table of addresses", "v"),
    on: Flag.Literals("on", ["fabric", "softnic"] as const).pipe(
      Flag.withDescription("fabric: the hosts of a simulated network; softnic: this process, with real packets"),
      Flag.optional,
    ),
    ...{ rate, delay, topology, hosts, address, frames, mac, linkMtu, json },
  },
  whenRun(async () => (await import("../verbs/Devinfo.ts")).devinfo),
).pipe(
  Command.withShortDescription("Print what devices say of themselves, as ibv_devinfo"),
  Command.withDescription(
    `Prints the devices that a program has, as ibv_devinfo of libibverbs does: those of
  the two hosts of a simulated network, or with --on softnic the one of this
  process.

  Exits with 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit devinfo", description: "The devices of a simulated network" },
    { command: "rdmakit devinfo -v --on softnic --address 10.0.0.2/24", description: "All of a device over UDP" },
    { command: "rdmakit devinfo --json | jq '.devices[0].limits'", description: "For other programs" },
  ]),
)
