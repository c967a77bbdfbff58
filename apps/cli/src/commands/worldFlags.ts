import { Flag } from "effect/cli"

export const yes = (name: string, description: string, alias?: string) => {
  const flag = Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))
  return alias === undefined ? flag : flag.pipe(Flag.withAlias(alias))
}

export const text = (name: string, metavar: string, description: string, alias?: string) => {
  const flag = Flag.String(name).pipe(Flag.withMetavar(metavar), Flag.withDescription(description))
  return (alias === undefined ? flag : flag.pipe(Flag.withAlias(alias))).pipe(Flag.optional)
}

export const whole = (name: string, description: string, alias?: string) => {
  const flag = Flag.Int(name).pipe(Flag.withMetavar("N"), Flag.withDescription(description))
  return (alias === undefined ? flag : flag.pipe(Flag.withAlias(alias))).pipe(Flag.optional)
}

/** Where both ends, or this one, are: a simulated network, or sockets. */
export const worldFlags = {
  on: Flag.Literals("on", ["fabric", "softnic", "iwarp"] as const).pipe(
    Flag.withDescription("fabric: both ends in a simulated network; softnic: real packets; iwarp: TCP"),
    Flag.optional,
  ),
  rate: text("rate", "RATE", "fabric: of the hosts' links, from 1kbps on (default: 100Gbps)"),
  delay: text("delay", "TIME", "fabric: of a link, one way (default: 1us)"),
  topology: text("topology", "FILE", "fabric: a topology of the HPCC simulator in place of two hosts and a switch"),
  hosts: text("hosts", "A,B", "fabric: client and server in it (default: the first two hosts)"),
  address: Flag.String("address").pipe(
    Flag.withMetavar("ADDRESS"),
    Flag.withDescription("softnic: this port's, as 10.0.0.2/24 (default: 127.0.0.1); may be repeated"),
    Flag.atLeast(0),
  ),
  frames: text(
    "frames",
    "WHERE",
    "softnic: Ethernet frames: dgram:PORT:PORT, here and there, stream:PATH or listen:PATH",
  ),
  mac: text("mac", "MAC", "softnic: of frames (default: 52:54:00:00:00:02)"),
  bind: text("bind", "HOST:PORT", "softnic: the UDP socket (default: the address, port 4791)"),
  at: Flag.String("at").pipe(
    Flag.withMetavar("ADDRESS=HOST:PORT"),
    Flag.withDescription("softnic: where the UDP socket of an address is; may be repeated"),
    Flag.atLeast(0),
  ),
  linkMtu: whole("link-mtu", "softnic: bytes of an IP packet (default: 1500; loopback 65536)"),
  pcap: text("pcap", "FILE", "Write what passes as octets, for Wireshark and 'rdmakit pcap'"),
  force: yes("force", "Replace a file of --pcap that is there"),
  faults: text(
    "faults",
    "LIST",
    "On the way in and out, as loss=2%,dup=2%,reorder=5%; fabric: slow=10Gbps, hole=1% too",
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withMetavar("N"),
    Flag.withDescription("Of faults, and of numbers that are drawn (default: 1)"),
    Flag.filter(
      (value) => value >= 0 && value <= 0xffffffff,
      () => "a whole number 0..4294967295",
    ),
    Flag.withDefault(1),
  ),
  port: Flag.Int("port").pipe(
    Flag.withAlias("p"),
    Flag.withMetavar("N"),
    Flag.withDescription("Over which the two ends find each other"),
    Flag.filter(
      (value) => value >= 1 && value <= 65_535,
      () => "a whole number 1..65535",
    ),
    Flag.optional,
  ),
  json: yes("json", "Print one JSON object"),
}

/** What the text of a command says of them. */
export const WORLD_HELP = `  --on softnic sends real packets: over UDP port 4791, or with --frames whole
  Ethernet frames, as QEMU's network backends dgram and stream carry them. --on
  iwarp is iWARP over TCP of this host: --bind and --at are then where queue pairs
  meet that know each other by number (default: port 4790).`
