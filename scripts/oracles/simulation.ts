/**
 * Asks tshark about captures of simulations: `node --conditions=@rdmakit/source scripts/oracles/simulation.ts`. Runs of
 * the simulator's files and of random networks, in both kernels and both formats, write what some ports carry; every
 * frame has to come back with the opcode, PSN, queue pair, addresses, flags, length and time of the packet that the run
 * moved, which a tracer of this script noted, and none malformed. It ends with a line of counts, and skips where there is
 * no tshark.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Run, World } from "../../packages/fabric/src/index.ts"
import { Flag, Opcode, type Packet } from "../../packages/packet/src/index.ts"
import { captureSink } from "../../packages/pcap/src/node.ts"
import { type CaptureSettings, captureFiles, PortCapture, portName } from "../../packages/scenario/src/capture.ts"
import { Ns3Simulation } from "../../packages/scenario/src/index.ts"
import { randomCase, startedRun } from "../../packages/scenario/test/randomNetwork.ts"
import { referenceInputs } from "../../packages/scenario/test/reference.ts"
import { formatIpv4 } from "../../packages/wire/src/Address.ts"

const folder = mkdtempSync(join(tmpdir(), "oracle-simulation-"))
let passed = 0
let failed = 0
let frames = 0
const seen = new Map<string, number>()

/** What is asked of tshark; of what it does not find it says nothing. `macc` is its name of PFC. */
const fields = [
  ...["frame.time_epoch", "frame.len", "eth.src", "ip.src", "ip.dst", "ip.ttl", "ip.dsfield", "udp.srcport"],
  ...["infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp", "infiniband.bth.a"],
  ...["infiniband.aeth.syndrome.opcode", "infiniband.reth.dmalen", "macc.cbfc.enbv", "macc.cbfc.pause_time.c3"],
  ...["_ws.malformed", "_ws.expert.message"],
]
/** The same protocols that guess wrong as for every other capture. */
const options = ["tftp", "rpcordma", "smb_direct", "nvme-rdma"].flatMap((name) => ["--disable-protocol", name])

const byTshark = (path: string): ReadonlyArray<string> | undefined => {
  const args = ["-r", path, "-n", ...options, "-T", "fields", ...fields.flatMap((field) => ["-e", field])]
  const { status, stdout, stderr } = spawnSync("tshark", args, { encoding: "utf8", maxBuffer: 1 << 30 })
  if (status !== 0) console.log(`tshark ended with ${status}: ${stderr?.trim()}`)
  return status === 0 ? stdout.split("\n").slice(0, -1) : undefined
}

const NETWORK = 0x0b000001
const hex = (value: number, digits: number): string => `0x${value.toString(16).padStart(digits, "0")}`
const mac = (node: number): string => `02:00:00:00:${(hex(node, 4).slice(2).match(/../g) ?? []).join(":")}`

/** The line that tshark should print of a packet on the link from `node`. */
const lineOf = (world: World, now: number, node: number, packet: Packet): string => {
  const ns = Math.floor(now / 1000)
  const time = `${Math.floor(ns / 1e9)}.${String(ns % 1e9).padStart(9, "0")}`
  const { opcode, priority } = packet
  if (opcode === Opcode.Pfc) {
    const quanta = priority === 3 ? String(packet.has(Flag.Pause) ? 0xffff : 0) : "0"
    return [time, 60, mac(node), ...Array(9).fill(""), "", "", hex(1 << priority, 4), quanta, "", ""].join("\t")
  }
  const isFirst = opcode === Opcode.WriteFirst || opcode === Opcode.WriteOnly
  const isReply = opcode >= Opcode.Acknowledge
  const nak = opcode === Opcode.NakSequence
  const payload = packet.payloadBytes + (-packet.payloadBytes & 3)
  const port = (packet.flow & 1) === 0 ? packet.udpPorts & 0xffff : packet.udpPorts >>> 16
  return [
    time,
    Math.max(60, 14 + 20 + 8 + 12 + 4 + payload + (isFirst ? 16 : 0) + (isReply ? 4 : 0)),
    mac(node),
    formatIpv4(NETWORK + packet.source * 256),
    formatIpv4(NETWORK + packet.destination * 256),
    255 - packet.hop,
    hex((priority << 5) | packet.ecn, 2),
    0xc000 | (port & 0x3fff),
    isReply ? 0x11 : opcode,
    packet.psn,
    hex(0x100 + (packet.flow ^ 1), 6),
    packet.has(Flag.AckRequest) ? "1" : "0",
    isReply ? (nak ? 3 : 0) : "",
    isFirst ? world.flows.bytes[packet.flow >> 1] : "",
    ...["", "", "", ""],
  ].join("\t")
}

const check = (name: string, run: Run, settings: CaptureSettings): void => {
  const { world } = run
  const expected: Array<{ readonly port: number; readonly line: string }> = []
  const { ports } = world
  const note = (now: number, port: number, from: number, packet: Packet): void => {
    if (!settings.ports.includes(port)) return
    expected.push({ port, line: lineOf(world, now, from, packet) })
    const opcode = hex(packet.opcode, 2)
    seen.set(opcode, (seen.get(opcode) ?? 0) + 1)
  }
  world.kernel.tracer = {
    received: (now, port, packet) => note(now, port, ports.peerNode(port), packet),
    enqueued: () => {},
    dequeued: (now, port, _queue, packet) => note(now, port, ports.node[port]!, packet),
  }
  const sinks = new Map<string, ReturnType<typeof captureSink>>()
  const capture = new PortCapture(world, settings, (file) => {
    const sink = captureSink(join(folder, file))
    sinks.set(file, sink)
    return sink
  })
  while (run.step(1 << 16)) {}
  capture.finish()
  for (const sink of sinks.values()) sink.close()
  frames += capture.frames
  const linesOf = (wanted: (port: number) => boolean): ReadonlyArray<string> =>
    expected.filter(({ port }) => wanted(port)).map(({ line }) => line)
  const files = captureFiles(settings, ports)
  if (settings.format === "pcapng")
    compare(
      name,
      files.pcapng!,
      linesOf(() => true),
    )
  else {
    for (const port of settings.ports) {
      compare(
        name,
        files[`pcap ${portName(port, ports)}`]!,
        linesOf((each) => each === port),
      )
    }
  }
}

const compare = (name: string, file: string, expected: ReadonlyArray<string>): void => {
  const found = byTshark(join(folder, file))
  const at = found?.findIndex((line, index) => line !== expected[index]) ?? 0
  if (found !== undefined && at < 0 && found.length === expected.length) {
    passed++
    return
  }
  failed++
  const shown =
    at < 0
      ? `${found?.length} frames, expected ${expected.length}`
      : `frame ${at + 1}:\n${found?.[at]}\n${expected[at]}`
  console.log(`${name}, ${file}: by tshark and expected, ${shown}`)
}

/** Networks of the tests' that the kernels are compared on: losses, pauses, links that fail, every controller. */
const RANDOM = 16

if (spawnSync("tshark", ["--version"]).status !== 0) {
  console.log("no tshark here: skipped")
  console.log("0 passed, 0 failed, 1 skipped")
  process.exit(0)
}
try {
  for (const [config, format] of [
    ["pfcdemo/timely", "pcapng"],
    ["incast16/hpcc", "pcap"],
    ["incast16/dcqcn", "pcap"],
  ] as const) {
    const run = new Ns3Simulation(referenceInputs(`${config}.config.txt`, { overrides: ["ENABLE_TRACE=0"] }))
    const own = run.world.ports.portsOf(17)
    const settings: CaptureSettings = { ports: [own[0]!, own[16]!], format, telemetry: "none" }
    check(config, run, settings)
  }
  for (let seed = 0; seed < RANDOM; seed++) {
    const run = startedRun(randomCase(seed), seed % 2 === 0 ? "fused" : "exact")
    const { count } = run.world.ports
    const ports = [...new Set([0, 1, (5 * seed) % count, (5 * seed + 2) % count])]
    const format = seed % 3 === 0 ? "pcapng" : "pcap"
    check(`random network ${seed}`, run, { ports, format, telemetry: "none" })
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${frames} frames; by opcode ${[...seen].map(([opcode, count]) => `${opcode}: ${count}`).join(", ")}`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
