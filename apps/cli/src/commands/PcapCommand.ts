import { Argument, Command, Flag } from "effect/cli"
import { whenRun } from "./whenRun.ts"

const yes = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))
const json = yes("json", "For other programs")
const files = Argument.String("FILE").pipe(
  Argument.withDescription("Captures: pcap or pcapng, also .gz and .zst; - is standard input"),
  Argument.atLeast(1),
)
const file = Argument.String("FILE").pipe(
  Argument.withDescription("A capture: pcap or pcapng, also .gz and .zst; - is standard input"),
)

const text = (name: string, metavar: string, description: string) =>
  Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description), Flag.optional)

/** Whole numbers from `least` on. */
const from = (least: 0 | 1) =>
  Flag.filter(
    (value: number) => value >= least,
    () => (least === 0 ? "a whole number" : "a whole number from 1"),
  )
const frame = Flag.Int("frame").pipe(
  Flag.withMetavar("N"),
  Flag.withDescription("Number of the packet, from 1"),
  from(1),
)

/** Which packets count. */
const selection = {
  filter: Flag.String("filter").pipe(
    Flag.withMetavar("TERMS"),
    Flag.withDescription("Terms NAME=VALUE that all hold; may be repeated"),
    Flag.atLeast(0),
  ),
  time: text("time", "FROM..TO", "From the first packet, as 10ms..20ms, or in UTC"),
  qp: text("qp", "N,…", "Destination queue pairs, as 0x11"),
  address: text("address", "A", "Source or destination, as 10.0.0.1"),
}

/** What commands take that follow queue pairs through all of what they read. */
const followed = {
  files,
  rotated: yes("rotated", "FILE names one of a rotated set: read them all"),
  ...selection,
  json,
}

const TERMS = `  Terms of --filter, joined by spaces or &, or each in a --filter of its own:
    time=10ms..20ms  time=2026-01-31T23:59:59..  frame=10..20  psn=0..100
    interface=eth0  interface=0
    address=10.0.0.1  source=fd00::1  destination=…  qp=0x11,0x12
    opcode=ack  opcode=write_only  opcode=0x0a
    is=roce tcp cnp pfc cm ack nak rnr marked cut other`

const verifyCommand = Command.make(
  "verify",
  { files, ...selection, json },
  whenRun(async () => (await import("../pcap/Verify.ts")).verify),
).pipe(
  Command.withShortDescription("Check every ICRC, VCRC and MPA CRC"),
  Command.withDescription(
    `Computes the checksums that RDMA has end to end: the ICRC of RoCE and InfiniBand,
  the VCRC of InfiniBand, the CRC32c of iWARP's units, found in TCP streams.
  With --json an object a file: file, ok, packets, roce, icrcOk, icrcBad (frames),
  notCheckable, vcrcOk, vcrcBad, mpaCrcOk, mpaCrcBad, mpaCrcBadFrames, mpaCrcAbsent,
  notes, and fault when the file ends early.

${TERMS}

  Exits with 0 when all are right, 1 when one is wrong or a file ends early,
  2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap verify capture.pcap", description: "How many are right, and which are wrong" },
    { command: "rdmakit pcap verify *.pcap.gz --json | jq .icrcBad", description: "For other programs" },
  ]),
)

const infoCommand = Command.make(
  "info",
  { files, ...selection, json },
  whenRun(async () => (await import("../pcap/Info.ts")).info),
).pipe(
  Command.withShortDescription("Say what captures hold"),
  Command.withDescription(
    `Says of each capture its format, interfaces, times, protocols, RDMA operations,
  queue pairs, marks, CNPs, NAKs and pauses. With --json an object a file.

${TERMS}

  Exits with 0, 1 when a file ends early, 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap info capture.pcapng", description: "What is in it" },
    { command: "rdmakit pcap info *.pcap --json | jq .operations", description: "For other programs" },
  ]),
)

const showCommand = Command.make(
  "show",
  {
    file,
    frame: frame.pipe(Flag.withDescription("Everything about the packet with this number"), Flag.optional),
    ...selection,
    json,
  },
  whenRun(async () => (await import("../pcap/Show.ts")).show),
).pipe(
  Command.withShortDescription("Print packets, or all of one"),
  Command.withDescription(
    `Prints a packet a line: number, seconds since the first, addresses, protocol and
  what it says. With --frame one packet as a tree, each field with the octet it
  starts in, and with its bit and bits where it has no whole octets. With --json an
  object a line, or one with the layers of the frame.

${TERMS}

  Exits with 0, 1 when the file ends early, 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap show capture.pcap --filter 'is=nak' | head", description: "The first NAKs" },
    { command: "rdmakit pcap show capture.pcap --frame 12", description: "Every field of a packet" },
    { command: "rdmakit pcap show capture.pcap --qp 0x11 --json | jq .psn", description: "For other programs" },
  ]),
)

const explainCommand = Command.make(
  "explain",
  {
    file,
    frame,
    json,
  },
  whenRun(async () => (await import("../pcap/Explain.ts")).explain),
).pipe(
  Command.withShortDescription("Show what an ICRC covers"),
  Command.withDescription(
    `Shows the octets that the ICRC of a packet covers, those that count as ones marked,
  the ICRC that follows from them and the one that is there.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap explain capture.pcap --frame 12", description: "Why is it wrong?" },
    { command: "rdmakit pcap explain capture.pcap --frame 12 --json | jq .parts", description: "For other programs" },
  ]),
)

/** Which files are read and written, of which packets. */
const filesAre = (names: string) =>
  Argument.String(names).pipe(
    Argument.withDescription("What to read and what to write; - is standard input, output"),
    Argument.atLeast(1),
  )
const written = {
  format: Flag.Literals("format", ["pcap", "pcapng"]).pipe(
    Flag.withDescription("Form of OUT (default: by its name)"),
    Flag.optional,
  ),
  snap: Flag.Int("snap").pipe(
    Flag.withMetavar("OCTETS"),
    Flag.withDescription("Keep so much of each packet"),
    from(1),
    Flag.optional,
  ),
  force: yes("force", "Replace a file that is there"),
  ...selection,
  json,
}

const convertCommand = Command.make(
  "convert",
  {
    files: filesAre("IN OUT"),
    ...written,
  },
  whenRun(async () => (await import("../pcap/Convert.ts")).convert),
).pipe(
  Command.withShortDescription("Write a capture in another form"),
  Command.withDescription(
    `Writes a capture as pcap or pcapng, compressed when OUT ends in .gz or .zst. Times
  stay exact. The file is seen when all of it is there.

${TERMS}

  Exits with 0, 1 when IN ends early, 2 when refused and nothing was written.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap convert capture.pcap capture.pcapng.zst", description: "Another form" },
    { command: "rdmakit pcap convert all.pcap one.pcap --qp 0x11 --time 1s..2s", description: "Part of it" },
    { command: "rdmakit pcap convert all.pcap short.pcap --snap 128", description: "Headers alone" },
    { command: "rdmakit pcap convert all.pcap nak.pcap --filter is=nak --json", description: "For other programs" },
  ]),
)

const mergeCommand = Command.make(
  "merge",
  {
    files: filesAre("IN… OUT"),
    rotated: yes("rotated", "Each IN names one of a rotated set: read them all"),
    ...written,
  },
  whenRun(async () => (await import("../pcap/Convert.ts")).merge),
).pipe(
  Command.withShortDescription("Join captures by time"),
  Command.withDescription(
    `Joins captures by the times of their packets, exactly, whatever their resolutions:
  two ends of a link, or the files of a rotated set. Each keeps its interfaces in
  pcapng.

${TERMS}

  Exits with 0, 1 when one of them ends early, 2 when refused and nothing was written.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap merge client.pcap server.pcap both.pcapng", description: "Both ends of a link" },
    {
      command: "rdmakit pcap merge ring_00001_20260131235959.pcapng all.pcapng --rotated",
      description: "A rotated set",
    },
    { command: "rdmakit pcap merge a.pcap b.pcap both.pcapng --json | jq .packets", description: "For other programs" },
  ]),
)

const flowsCommand = Command.make(
  "flows",
  {
    csv: yes("csv", "A line of CSV for each"),
    ...followed,
  },
  whenRun(async () => (await import("../pcap/Flows.ts")).flows),
).pipe(
  Command.withShortDescription("What each queue pair did"),
  Command.withDescription(
    `Follows each queue pair in both directions, and prints a line for each of them:
  packets, messages, the time to the acknowledgement, gaps in PSNs, packets sent again
  and why, NAKs, RNR NAKs, marks, CNPs; streams of iWARP; and connections with the
  time they took. A queue pair of --qp brings both its directions. Several files are
  read as one, in the order of time.

${TERMS}

  Exits with 0, 1 when a file ends early, 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap flows capture.pcap", description: "A table" },
    { command: "rdmakit pcap flows client.pcap server.pcap --csv > flows.csv", description: "Every figure" },
    { command: "rdmakit pcap flows capture.pcap --json | jq .flows", description: "For other programs" },
  ]),
)

const diagnoseCommand = Command.make(
  "diagnose",
  followed,
  whenRun(async () => (await import("../pcap/Diagnose.ts")).diagnose),
).pipe(
  Command.withShortDescription("What is wrong, and why"),
  Command.withDescription(
    `Names the symptoms in a capture, for each the likely causes, the likeliest first,
  and the frames that show it: loss, reordering, duplicates, timeouts, receivers that
  are not ready, NAKs, congestion, pauses, rejected connections, damage. It says what
  cannot be known: packets that were cut, one direction alone, copies from two points.

${TERMS}

  Exits with 0 whatever it finds, 1 when a file ends early, 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap diagnose capture.pcap", description: "In words" },
    { command: "rdmakit pcap diagnose ring_00001_20260131235959.pcapng --rotated", description: "A rotated set" },
    { command: "rdmakit pcap diagnose capture.pcap --json | jq .findings[].kind", description: "For other programs" },
  ]),
)

const ratesCommand = Command.make(
  "rates",
  {
    interval: text("interval", "TIME", "Length of an interval, as 10ms (default: what fits)"),
    top: Flag.Int("top").pipe(
      Flag.withMetavar("N"),
      Flag.withDescription("Pairs of hosts that send most (default: 10)"),
      from(0),
      Flag.withDefault(10),
    ),
    csv: yes("csv", "A line of CSV for each interval"),
    ...followed,
  },
  whenRun(async () => (await import("../pcap/RatesTable.ts")).rates),
).pipe(
  Command.withShortDescription("What happened over time"),
  Command.withDescription(
    `Counts in each interval packets, octets, ECN marks, CNPs, pauses, packets sent
  again, NAKs and RNR NAKs, and names the pairs of hosts that send most.

${TERMS}

  Exits with 0, 1 when a file ends early, 2 when refused.`,
  ),
  Command.withExamples([
    { command: "rdmakit pcap rates capture.pcap", description: "At a glance" },
    { command: "rdmakit pcap rates capture.pcap --interval 100us --csv > rates.csv", description: "To draw" },
    { command: "rdmakit pcap rates capture.pcap --json | jq .talkers", description: "For other programs" },
  ]),
)

export const pcapCommand = Command.make("pcap").pipe(
  Command.withShortDescription("Read captures"),
  Command.withDescription(
    "Reads captures of RoCE, InfiniBand and iWARP: what they hold, whether it is right, what it means.",
  ),
  Command.withSubcommands([
    infoCommand,
    showCommand,
    verifyCommand,
    explainCommand,
    flowsCommand,
    ratesCommand,
    diagnoseCommand,
    convertCommand,
    mergeCommand,
  ]),
  Command.withExamples([
    { command: "rdmakit pcap info capture.pcap", description: "What is in it" },
    { command: "rdmakit pcap verify capture.pcap", description: "Is every checksum right?" },
    { command: "rdmakit pcap diagnose capture.pcap", description: "What is wrong, and why?" },
  ]),
)
