import { Argument, Command, Flag } from "effect/cli"
import { controllerFlags } from "../controllerFlags.ts"
import { whenRun } from "./whenRun.ts"

const SEED_MAX = 0xffffffff

export const runCommand = Command.make(
  "run",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("A config or a scenario; - is standard input")),
    out: Flag.String("out").pipe(
      Flag.withMetavar("DIR"),
      Flag.withDescription("Folder of the results (default: NAME.results, after FILE)"),
      Flag.optional,
    ),
    seed: Flag.Int("seed").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Seed of what is random, 0..4294967295; of a config, RngRun less one"),
      Flag.filter(
        (seed) => seed >= 0 && seed <= SEED_MAX,
        () => `a whole number 0..${SEED_MAX}`,
      ),
      Flag.optional,
    ),
    kernel: Flag.Literals("kernel", ["exact", "fused"]).pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("Both give the same (default: fused where it can)"),
      Flag.optional,
    ),
    set: Flag.String("set").pipe(
      Flag.withMetavar("KEY=VALUE"),
      Flag.withDescription("Replace a value, or with += add to a list; may be repeated"),
      Flag.atLeast(0),
    ),
    ...controllerFlags,
    report: Flag.Boolean("report").pipe(
      Flag.withDescription("Write report.html, a page that shows the run (default; --no-report: none)"),
      Flag.withDefault(true),
    ),
    parquet: Flag.Boolean("parquet").pipe(
      Flag.withDescription("Write flows.parquet, the table of flows for DuckDB, pandas and others"),
      Flag.withDefault(false),
    ),
    series: Flag.String("series").pipe(
      Flag.withMetavar("LIST"),
      Flag.withDescription("Write time series as CSV: of rate,window,queue,fairness those named"),
      Flag.atLeast(0),
    ),
    sample: Flag.String("sample").pipe(
      Flag.withMetavar("TIME"),
      Flag.withDescription("Between samples, such as 1us (default: 100ns, longer in long runs)"),
      Flag.optional,
    ),
    pcap: Flag.String("pcap").pipe(
      Flag.withMetavar("PORT,…"),
      Flag.withDescription("Write what these ports carry as octets: 16:2, 16-1"),
      Flag.atLeast(0),
    ),
    pcapFormat: Flag.Literals("pcap-format", ["pcap", "pcapng"]).pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("A file for each port, or one"),
      Flag.optional,
    ),
    pcapInt: Flag.Literals("pcap-int", ["none", "hpcc", "ns3"]).pipe(
      Flag.withMetavar("LAYOUT"),
      Flag.withDescription("Telemetry in the octets"),
      Flag.optional,
    ),
    force: Flag.Boolean("force").pipe(
      Flag.withDescription("Write into a folder that holds other things"),
      Flag.withDefault(false),
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print the summary as one JSON object"),
      Flag.withDefault(false),
    ),
  },
  whenRun(async () => (await import("../Run.ts")).run),
).pipe(
  Command.withShortDescription("Run a network and write what happened"),
  Command.withDescription(
    `Runs a config of the HPCC simulator, or a scenario (.yaml, .yml, .json), and
  writes a folder of results: report.html, a page to look at; flows.csv, a line
  for each flow; links.csv, a line for each direction of each link; summary.json;
  what was asked for besides (flows.parquet, rate.csv, window.csv, queue.csv,
  captures); and, of a config, the simulator's output files under their base names.
  Paths in the file are looked for in the working directory, then in the file's
  folder, then in its parent.

  --pcap names ports as queue.csv does, NODE:PORT, ports counted from 1 at each
  node; or as NODE-NEIGHBOUR; or the NODE alone where it has one port. 'rdmakit
  lint FILE --ports' lists them. Written are port-16-2.pcap or ports.pcapng:
  frames of RoCEv2, or segments of TCP with what iWARP and eRDMA have in them, and
  PFC, with right lengths and CRCs, a ramp for a payload, and nanoseconds of
  simulated time, which Wireshark and 'rdmakit pcap' read. SRD's packets have no
  octets that are known. The results are the same; the run is slower.

  --controller takes a module of yours, .ts, .mts, .js or .mjs: its default export is
  a ControllerFactory of @rdmakit/protocol, or a function of options that makes
  one; or it exports make(options). The README has an example.

  Ctrl-C stops the run; what had finished is written and marked partial.
  Exits with 0 when every flow finished, 1 when some did not, 2 when the inputs
  are refused and nothing was written, 130 after Ctrl-C.`,
  ),
  Command.withExamples([
    { command: "rdmakit run mix/config.txt", description: "Writes config.results" },
    { command: "rdmakit run incast.yaml --set transport.name=tcp", description: "By TCP; or iwarp, erdma, srd, rc" },
    { command: "rdmakit run incast.yaml --set switch.buffer=16MiB", description: "A scenario, one value replaced" },
    {
      command: "rdmakit run incast.yaml --set 'faults+={ at: 1ms, host: 16, receive: stall }'",
      description: "And a host that stalls",
    },
    { command: "rdmakit run config.txt --set 'KMIN_MAP=1 100000000000 400'", description: "A value of several words" },
    { command: "rdmakit run incast.yaml --controller ./mine.ts", description: "A controller of your own" },
    { command: "rdmakit run incast.yaml --series rate,queue --sample 1us", description: "Time series as CSV" },
    { command: "rdmakit run incast.yaml --pcap 16:2,3", description: "Two ports as captures" },
    { command: "rdmakit run config.txt --json | jq .packetHops", description: "For other programs" },
  ]),
)
