/**
 * Asks tshark about captures of simulations: `node --conditions=@rdmakit/source scripts/oracles/simulation.ts`. Runs of
 * the simulator's files and of random networks, in both kernels and both formats, write what some ports carry; every
 * frame has to come back with the opcode, PSN, queue pair, addresses, flags, length and time of the packet that the run
 * moved, which a tracer of this script noted, and none malformed; over TCP with its ports, numbers of octets, time stamps,
 * blocks and checksums, and with iWARP's units. It ends with a line of counts, and skips where there is no tshark.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { tcp } from "../../packages/cc-cubic/src/index.ts"
import type { NativeOptions, Run } from "../../packages/fabric/src/index.ts"
import type { Packet } from "../../packages/packet/src/index.ts"
import { PcapWriter } from "../../packages/pcap/src/index.ts"
import { captureSink } from "../../packages/pcap/src/node.ts"
import { type CaptureSettings, captureFiles, PortCapture, portName } from "../../packages/scenario/src/capture.ts"
import { Ns3Simulation } from "../../packages/scenario/src/index.ts"
import { randomCase, startedRun } from "../../packages/scenario/test/randomNetwork.ts"
import { referenceInputs } from "../../packages/scenario/test/reference.ts"
import { erdmaFlows } from "../../packages/transport-erdma/src/index.ts"
import { iwarpFlows } from "../../packages/transport-iwarp/src/index.ts"
import { tcpConfig, tcpFlows } from "../../packages/transport-tcp/src/index.ts"
import { type Dialect, hex } from "./simulation/Dialect.ts"
import { roceDialect } from "./simulation/roceDialect.ts"
import { tcpDialect } from "./simulation/tcpDialect.ts"

const folder = mkdtempSync(join(tmpdir(), "oracle-simulation-"))
let passed = 0
let failed = 0
let frames = 0
const seen = new Map<string, number>()

const byTshark = (path: string, { fields, options }: Dialect): ReadonlyArray<string> | undefined => {
  const args = ["-r", path, "-n", ...options, "-T", "fields", ...fields.flatMap((field) => ["-e", field])]
  const { status, stdout, stderr } = spawnSync("tshark", args, { encoding: "utf8", maxBuffer: 1 << 30 })
  if (status !== 0) console.log(`tshark ended with ${status}: ${stderr?.trim()}`)
  return status === 0 ? stdout.split("\n").slice(0, -1) : undefined
}

const check = (name: string, run: Run, settings: CaptureSettings): void => {
  const { world } = run
  const { octets } = world.parts.transport
  const dialect = octets?.protocol === "tcp" ? tcpDialect(octets) : roceDialect
  const expected: Array<{ readonly port: number; readonly line: string }> = []
  const { ports } = world
  const note = (now: number, port: number, from: number, packet: Packet): void => {
    if (!settings.ports.includes(port)) return
    expected.push({ port, line: dialect.lineOf(world, now, from, packet) })
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
  const openings = dialect.openings?.(world) ?? []
  if (settings.format === "pcapng") {
    const all = linesOf(() => true)
    compare(name, dialect, files.pcapng!, all)
    return
  }
  for (const port of settings.ports) {
    const file = files[`pcap ${portName(port, ports)}`]!
    if (openings.length > 0) prepend(openings, file)
    const lines = linesOf((each) => each === port)
    compare(name, dialect, file, lines, openings.length)
  }
}

/** Puts frames in front of those of a pcap, whose header is 24 octets. */
const prepend = (frames: ReadonlyArray<Uint8Array>, file: string): void => {
  const path = join(folder, file)
  const chunks: Array<Uint8Array> = []
  const writer = new PcapWriter({ linkType: 1 }, (octets) => chunks.push(octets.slice()))
  for (const frame of frames) writer.packet(0n, frame)
  writer.flush()
  writeFileSync(path, Buffer.concat([...chunks, readFileSync(path).subarray(24)]))
}

/** @param skipped frames that are none of the run's, at the beginning */
const compare = (name: string, dialect: Dialect, file: string, expected: ReadonlyArray<string>, skipped = 0): void => {
  const found = byTshark(join(folder, file), dialect)?.slice(skipped)
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
/** And of those fewer, for each transport over TCP. */
const RANDOM_STREAMS = 6
/** Long enough for no flow to send again in vain, short enough for all to end. */
const LEAST_TIMEOUT_PS = 1e9
const streams: Readonly<Record<string, NonNullable<NativeOptions["makeTransport"]>>> = {
  tcp: (controller) => tcpFlows(tcpConfig({ controller, leastTimeoutPs: LEAST_TIMEOUT_PS })),
  iwarp: (controller) => iwarpFlows({ controller, leastTimeoutPs: LEAST_TIMEOUT_PS }),
  "erdma/vxlan": (controller) => erdmaFlows({ controller, underlayMtuBytes: 1550 }),
}

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
  for (const [name, makeTransport] of Object.entries(streams)) {
    for (let seed = 0; seed < RANDOM_STREAMS; seed++) {
      const random = randomCase(seed)
      const options = { ...random.options, controller: tcp({ variant: "cubic" }), makeTransport }
      const run = startedRun({ ...random, options }, seed % 2 === 0 ? "exact" : "fused")
      const { count } = run.world.ports
      const ports = [...new Set([0, 1, (5 * seed) % count, (5 * seed + 2) % count])]
      check(`${name} on random network ${seed}`, run, { ports, format: "pcap", telemetry: "none" })
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`${frames} frames; by opcode ${[...seen].map(([opcode, count]) => `${opcode}: ${count}`).join(", ")}`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
