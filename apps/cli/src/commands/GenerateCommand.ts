import type { Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { flowFlags, type GenerateFlag, topologyFlags } from "../generateFlags.ts"
import { whenRun } from "./whenRun.ts"

/** Flags with a value, each optional, by their names with dashes. */
const valueFlags = (flags: ReadonlyArray<GenerateFlag>): Record<string, Flag.Flag<Option.Option<string>>> =>
  Object.fromEntries(
    flags.map(({ name, metavar, description }) => [
      name,
      Flag.String(name.slice(2)).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional),
    ]),
  )

const outputFlags = {
  out: Flag.String("out").pipe(
    Flag.withMetavar("FILE"),
    Flag.withDescription("Where to write (default: standard output)"),
    Flag.optional,
  ),
  force: Flag.Boolean("force").pipe(Flag.withDescription("Replace a file that is there"), Flag.withDefault(false)),
  json: Flag.Boolean("json").pipe(Flag.withDescription("Print one JSON object"), Flag.withDefault(false)),
}

const topologyCommand = Command.make(
  "topology",
  {
    builder: Argument.String("BUILDER").pipe(
      Argument.withDescription("star, dumbbell, fat-tree, leaf-spine, clos, hpcc-fabric, hpcc-testbed or ring"),
    ),
    values: valueFlags(topologyFlags),
    ...outputFlags,
  },
  whenRun(async () => (await import("../GenerateTopology.ts")).generateTopologyFile),
).pipe(
  Command.withShortDescription("Write a topology file"),
  Command.withDescription(
    `Writes a topology file of the HPCC simulator. Hosts have the lowest numbers,
  switches follow tier by tier. The hosts' links have 100 Gb/s and 1 us unless said
  otherwise, all others are like them; hpcc-fabric and hpcc-testbed have the paper's.

  Exits with 2 when the network cannot be built, and writes nothing.`,
  ),
  Command.withExamples([
    { command: "rdmakit generate topology star --hosts 17 --out topology.txt", description: "16 to 1, one switch" },
    {
      command: "rdmakit generate topology fat-tree --k 8 --rate 25Gbps --fabric-delay 2us",
      description: "128 hosts, to standard output",
    },
    {
      command:
        "rdmakit generate topology clos --pods 20 --tors-per-pod 4 --aggs-per-pod 4 --cores-per-agg 4 \\\n    --hosts-per-tor 16 --fabric-rate 400Gbps --out clos.txt",
      description: "Three tiers, 1,280 hosts",
    },
    { command: "rdmakit generate topology hpcc-fabric --out fat.txt", description: "The paper's 320 hosts" },
    {
      command: "rdmakit generate topology hpcc-testbed --json | jq -r .text",
      description: "Its 32 hosts with two links each, for other programs",
    },
  ]),
)

const flowsCommand = Command.make(
  "flows",
  {
    workload: Argument.String("WORKLOAD").pipe(
      Argument.withDescription("poisson, random-incast, incast, permutation, all-to-all or ring"),
    ),
    topology: Flag.String("topology").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Topology file: its hosts, and the rates of their links"),
      Flag.optional,
    ),
    hosts: Flag.String("hosts").pipe(
      Flag.withMetavar("HOSTS"),
      Flag.withDescription("How many, such as 320, or which, such as 0..15 (default: the topology's)"),
      Flag.optional,
    ),
    rate: Flag.String("rate").pipe(
      Flag.withMetavar("RATE"),
      Flag.withDescription("Of a host, without a topology (default: 100Gbps)"),
      Flag.optional,
    ),
    values: valueFlags(flowFlags),
    merge: Flag.String("merge").pipe(
      Flag.withMetavar("FILE"),
      Flag.withDescription("Flow file whose flows are added"),
      Flag.optional,
    ),
    ...outputFlags,
  },
  whenRun(async () => (await import("../GenerateFlows.ts")).generateFlowFile),
).pipe(
  Command.withShortDescription("Write a flow file"),
  Command.withDescription(
    `Writes a flow file of the HPCC simulator. The same seed gives the same flows,
  on any machine.

    poisson        each host starts flows at random moments, at a load
    random-incast  --fan-in hosts send to one, again and again, at a load
    incast         the same once; or --senders and --receiver
    permutation    every host sends to one other
    all-to-all     every host sends to every other
    ring           every host sends to the next

  Loads are payload: of each host's links (as traffic_gen.py has it), of what one
  half of the hosts can send to the other (--of bisection) or, of random-incast, of
  all hosts' links together. A file of sizes has a size in bytes and the percentage
  of flows up to it on each line.

  Exits with 2 when there are no such flows, and writes nothing.`,
  ),
  Command.withExamples([
    {
      command: "rdmakit generate flows poisson --hosts 320 --load 0.3 --sizes WebSearch --duration 100ms",
      description: "As traffic_gen.py -n 320 -l 0.3 -b 100G",
    },
    {
      command:
        "rdmakit generate flows poisson --topology fat.txt --load 0.5 --of bisection --sizes my.txt \\\n    --duration 10ms --seed 7 --out flow.txt",
      description: "Half the bisection, sizes from a file",
    },
    {
      command:
        "rdmakit generate flows random-incast --hosts 320 --fan-in 60 --size 500KB --load 0.02 \\\n    --duration 10ms --merge flow.txt --out both.txt",
      description: "Incasts on top, as in the HPCC paper",
    },
    {
      command: "rdmakit generate flows incast --senders 0..15 --receiver 16 --hosts 17 --size 1MB",
      description: "16 to 1",
    },
    {
      command: "rdmakit generate flows ring --hosts 8 --size 1MB --json | jq .flows",
      description: "For other programs",
    },
  ]),
)

export const generateCommand = Command.make("generate").pipe(
  Command.withShortDescription("Write topologies and flows"),
  Command.withDescription("Writes topology files and flow files of the HPCC simulator: 'rdmakit run' takes them too."),
  Command.withSubcommands([topologyCommand, flowsCommand]),
  Command.withExamples([
    { command: "rdmakit generate topology star --hosts 17 --out topology.txt", description: "A network by name" },
    {
      command: "rdmakit generate flows poisson --hosts 16 --load 0.3 --sizes FB_Hadoop --duration 1ms",
      description: "Flows at 30 % load",
    },
  ]),
)
