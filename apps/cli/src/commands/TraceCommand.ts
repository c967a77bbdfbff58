import { Argument, Command, Flag } from "effect/cli"
import { whenRun } from "./whenRun.ts"

export const traceCommand = Command.make(
  "trace",
  {
    file: Argument.String("FILE").pipe(Argument.withDescription("A packet trace (.tr); - is standard input")),
    filter: Argument.String("FILTER").pipe(
      Argument.withDescription("Which records, in the words of the simulator's trace_reader"),
      Argument.optional,
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print each record as a JSON object on a line"),
      Flag.withDefault(false),
    ),
  },
  whenRun(async () => (await import("../TraceListing.ts")).listTrace),
).pipe(
  Command.withShortDescription("Print a packet trace"),
  Command.withDescription(
    `Prints a packet trace (.tr) as the simulator's trace_reader does.

  A filter compares fields with = != < <= > >= and a number, decimal or 0x…:
    time node nodeType intf qidx qlen sip dip size l3Prot event ecn
    data.sport data.dport data.seq ack.sport ack.dport ack.flags qp.sport qp.dport
    flow=sip,dip,sport,dport    packets and ACKs of one direction
    rflow= biflow=              the other direction, both
    queue=node,intf,qidx
  data, ack and qp name the same octets of a record: &l3Prot=17 leaves packets
  of data alone, &l3Prot=0xfc acknowledgements.
  & | and parentheses join them; all that is right of an operator is its right
  side: a&b|c is a&(b|c).`,
  ),
  Command.withExamples([
    { command: "rdmakit trace mix.tr | head", description: "The first records" },
    {
      command: "rdmakit trace mix.tr 'time>2000010000&sip=0x0b000101'",
      description: "Packets from host 1 after 10 us",
    },
    { command: "rdmakit trace mix.tr 'queue=17,3,3&event=3'", description: "Drops at one queue of switch 17" },
    { command: "rdmakit trace mix.tr --json | jq .seq", description: "For other programs" },
  ]),
)
