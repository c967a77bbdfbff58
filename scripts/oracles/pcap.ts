/**
 * Compares `@rdmakit/pcap` with Wireshark's tools: `node --conditions=@rdmakit/source scripts/oracles/pcap.ts`.
 * Every capture under testdata has to give the packets, times and lengths that tshark prints; some also as editcap and
 * mergecap rewrite them, cut and with other times, and as the writers make them. It ends with a line of counts, and skips
 * where there is no tshark.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { numberOption, type PacketRecord, PcapngWriter, PcapWriter, textOption } from "../../packages/pcap/src/index.ts"
import { captureSink, openCapture } from "../../packages/pcap/src/node.ts"

const captures = fileURLToPath(new URL("../../testdata/captures/", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "oracle-pcap-"))
let passed = 0
let failed = 0

const run = (program: string, args: ReadonlyArray<string>): string | undefined => {
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8", maxBuffer: 1 << 30 })
  if (status === 0) return stdout
  console.log(`${program} ${args.join(" ")} ended with ${status}: ${stderr?.trim()}`)
  return undefined
}

/** One line a packet: number, time, captured and original length. */
const byTshark = (path: string): string | undefined =>
  run("tshark", [
    "-r",
    path,
    "-n",
    "-T",
    "fields",
    "-e",
    "frame.number",
    "-e",
    "frame.time_epoch",
    "-e",
    "frame.cap_len",
    "-e",
    "frame.len",
    "frame.number > 0",
  ])

const packetsOf = async (path: string): Promise<Array<PacketRecord>> => {
  const packets: Array<PacketRecord> = []
  for await (const record of openCapture(path)) if (record.kind === "packet") packets.push(record)
  return packets
}

const lineOf = ({ frame, timeNs, capturedOctets, originalOctets }: PacketRecord): string => {
  const nanoseconds =
    timeNs === undefined ? "" : `${timeNs / 1_000_000_000n}.${String(timeNs % 1_000_000_000n).padStart(9, "0")}`
  return `${frame}\t${nanoseconds}\t${capturedOctets}\t${originalOctets}`
}

const compare = async (name: string, path: string): Promise<void> => {
  const expected = byTshark(path)?.trimEnd().split("\n")
  const found = (await packetsOf(path)).map(lineOf)
  const at = found.findIndex((line, index) => line !== expected?.[index])
  if (expected !== undefined && at < 0 && found.length === expected.length) passed++
  else {
    failed++
    console.log(`${name}: packet ${at + 1}: ${found[at]} here, ${expected?.[at]} by tshark`)
  }
}

const rewritten: ReadonlyArray<
  readonly [name: string, program: string, args: (from: string, to: string) => ReadonlyArray<string>]
> = [
  ["pcapng", "editcap", (from, to) => ["-F", "pcapng", from, to]],
  ["pcap in nanoseconds", "editcap", (from, to) => ["-F", "nsecpcap", "-t", "0.000000123", from, to]],
  [
    "pcapng in nanoseconds, cut to 100 octets",
    "editcap",
    (from, to) => ["-F", "pcapng", "-t", "-1.5", "-s", "100", from, to],
  ],
  ["pcap cut to 64 octets", "editcap", (from, to) => ["-F", "pcap", "-s", "64", from, to]],
  ["pcapng merged with itself", "mergecap", (from, to) => ["-F", "pcapng", "-w", to, from, from]],
]

/** Captures that are also rewritten: IPv6, VLAN, odd lengths. */
const thorough = new Set(["rc_send_2500_v6.pcap.gz", "rc_send_vlan7_v4.pcap.gz", "rc_send_odd_v4.pcap.gz"])

/** The capture as our writers have it, in both byte orders. */
const written = async (from: string): Promise<ReadonlyArray<string>> => {
  const packets = await packetsOf(from)
  return [true, false].flatMap((littleEndian) => {
    const pcap = join(folder, `written-${littleEndian}.pcap`)
    const sink = captureSink(pcap)
    const writer = new PcapWriter({ linkType: 1, littleEndian, snapLength: 200 }, sink)
    for (const { timeNs, data, originalOctets } of packets) writer.packet(timeNs! + 7n, data, originalOctets)
    writer.flush()
    sink.close()
    const pcapng = join(folder, `written-${littleEndian}.pcapng`)
    const other = captureSink(pcapng)
    const blocks = new PcapngWriter({ littleEndian }, other)
    blocks.section([textOption(4, "rdmakit")])
    const ports = [
      blocks.interface({ linkType: 1, options: [textOption(2, "p0")] }),
      blocks.interface({ linkType: 1, ticksPerSecond: 1n << 20n, offsetSeconds: -1000n, fcsOctets: 0 }),
    ]
    for (const { timeNs, data, originalOctets, frame } of packets) {
      const flags = numberOption(2, 1, 4)
      const ticks = frame % 2 === 0 ? timeNs! : ((timeNs! / 1_000_000_000n) << 20n) + BigInt(frame)
      blocks.packet(ports[frame % 2]!, ticks, data, originalOctets, [flags, textOption(1, `frame ${frame}`)])
    }
    blocks.names([{ type: 1, address: Uint8Array.of(10, 0, 0, 1), names: ["client"] }])
    blocks.statistics(0, packets.at(-1)!.timeNs!, [numberOption(4, packets.length, 8)])
    blocks.flush()
    other.close()
    return [pcap, pcapng]
  })
}

if (spawnSync("tshark", ["--version"]).status !== 0) {
  console.log("no tshark here: skipped")
  console.log("0 passed, 0 failed, 1 skipped")
  process.exit(0)
}
try {
  for (const name of readdirSync(captures).filter((each) => each.endsWith(".pcap.gz"))) {
    const path = join(captures, name)
    await compare(name, path)
    if (!thorough.has(name)) continue
    for (const [what, program, args] of rewritten) {
      const to = join(folder, "rewritten")
      if (run(program, args(path, to)) === undefined) failed++
      else await compare(`${name}, ${what}`, to)
    }
    for (const file of await written(path)) await compare(`${name}, ${basename(file)}`, file)
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
