/**
 * What a packet-hop costs: `pnpm bench [--cases NAME,…] [--runs N] [--out FILE] [--yardstick DIR]`.
 *
 * Runs the command as users run it, and counts the processor time of the whole process: 7,981 flows in the 320-host
 * fabric under HPCC in ns-3 mode, and natively with the exact and with the fused kernel in turn; 64, 320 and 1,280 hosts
 * under FB_Hadoop at half load, and 320 under SRD, with both as well. `--cases` has some of them. Results are added to
 * FILE, by default bench/results.jsonl, and compared with the last ones of the same case and kernel there. Times move with
 * the load of the machine, so where a C++ compiler and the yardstick's source are at hand, that kernel of the same network
 * is timed before and after each run, and the ratio is what to quote.
 */
import { spawnSync } from "node:child_process"
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { gunzipSync } from "node:zlib"
import { formatTopology } from "../packages/ns3/src/index.ts"
import { ns3TopologyOf } from "../packages/scenario/src/index.ts"
import { clos, type Graph, hpccFabric } from "../packages/topology/src/index.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const CASE = "fat320-fbhdp"
const data = join(root, "testdata", "ns3", CASE)

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "3" },
    cases: { type: "string" },
    out: { type: "string", default: join(root, "bench", "results.jsonl") },
    yardstick: { type: "string", default: join(root, "..", "shared", "perf") },
  },
})
const runs = Number(values.runs)
if (!(Number.isInteger(runs) && runs >= 1)) {
  console.error(`bench: --runs ${values.runs} is no count of runs`)
  process.exit(2)
}

/** Runs a program to its end; its standard output. Ends the benchmark when it fails. */
const output = (
  program: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): string => {
  const { error, status, stderr, stdout } = spawnSync(program, args, { ...options, encoding: "utf8" })
  if (status === 0) return stdout
  console.error(`bench: ${program} ${args.join(" ")} failed (${error?.message ?? `exit code ${status}`})\n${stderr}`)
  process.exit(1)
}

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = [...numbers].sort((a, b) => a - b)
  return (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2
}

const folder = mkdtempSync(join(tmpdir(), "rdmakit-bench-"))
process.on("exit", () => rmSync(folder, { recursive: true, force: true }))

/** The command in one bundle, as it is published. */
const buildCommand = (): string => {
  const dist = join(folder, "dist")
  output("tsup", ["--silent", "--out-dir", dist], { cwd: join(root, "apps", "cli") })
  // Without one Node parses each file twice, to find out what it is.
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }')
  return join(dist, "main.js")
}

/** What is run, and what it must come out as. */
interface Case {
  readonly input: string
  readonly reference?: { readonly file: string; readonly octets: Buffer }
}

const writeTopology = (name: string, graph: Graph): void => {
  writeFileSync(join(folder, name), formatTopology(ns3TopologyOf(graph)))
}

/** The config of the 320-host case and the files it names, next to each other. */
const ns3Case = (): Case => {
  mkdirSync(join(folder, CASE))
  writeTopology("topo_fat320.txt", hpccFabric())
  writeFileSync(join(folder, "trace_none.txt"), "0\n")
  writeFileSync(join(folder, CASE, "flow.txt"), gunzipSync(readFileSync(join(data, "flow.txt.gz"))))
  writeFileSync(join(folder, CASE, "hpcc.config.txt"), readFileSync(join(data, "hpcc.config.txt")))
  return {
    input: join(CASE, "hpcc.config.txt"),
    reference: { file: "hpcc.fct.txt", octets: gunzipSync(readFileSync(join(data, "hpcc.fct.txt.gz"))) },
  }
}

/** The same flows, natively. */
const nativeReference = (): Case => {
  writeFileSync(join(folder, "flow.txt"), gunzipSync(readFileSync(join(data, "flow.txt.gz"))))
  const input = `native-${CASE}.json`
  const scenario = {
    seed: 1,
    topology: { builder: "hpcc-fabric" },
    flows: { file: "flow.txt" },
    controller: { name: "hpcc" },
    switch: { buffer: "32MB" },
  }
  writeFileSync(join(folder, input), JSON.stringify(scenario))
  return { input }
}

/** HPCC in the paper's form; and SRD in packets as large, each of which goes a way of its own. */
const carriers = {
  native: { controller: { name: "hpcc" } },
  srd: { transport: { name: "srd", options: { mtuBytes: 1000 } }, switch: { lossless: false } },
} as const

/** Racks of 16 hosts at 100 Gb/s, four to a pod, 400 Gb/s between switches. */
const nativeCase = (pods: number, torsPerPod: number, duration: string, carrier: keyof typeof carriers) => (): Case => {
  const hosts = pods * torsPerPod * 16
  const shape = { pods, torsPerPod, aggsPerPod: 4, coresPerAgg: 4, hostsPerTor: 16 }
  writeTopology(`topo_${hosts}.txt`, clos(shape, { host: { rate: 100e9 }, fabric: { rate: 400e9 } }))
  const scenario = {
    seed: 1,
    topology: { file: `topo_${hosts}.txt` },
    flows: [{ workload: "poisson", load: 0.5, sizes: "FB_Hadoop", duration }],
    ...carriers[carrier],
  }
  const input = `${carrier}-${hosts}.json`
  writeFileSync(join(folder, input), JSON.stringify(scenario))
  return { input }
}

const cases: Readonly<Record<string, () => Case>> = {
  "ns3-320": ns3Case,
  "native-fbhdp": nativeReference,
  "native-64": nativeCase(1, 4, "4ms", "native"),
  "native-320": nativeCase(5, 4, "1ms", "native"),
  "native-1280": nativeCase(20, 4, "300us", "native"),
  "srd-320": nativeCase(5, 4, "1ms", "srd"),
}
const names = values.cases === undefined ? Object.keys(cases) : values.cases.split(",")
for (const name of names) {
  if (Object.hasOwn(cases, name)) continue
  console.error(`bench: no case ${name}; there are ${Object.keys(cases).join(", ")}`)
  process.exit(2)
}

interface Cost {
  readonly cpuSeconds: number
  readonly packetHops: number
  readonly events: number
  readonly digest: string
  readonly nsPerHop: number
  readonly peakRssBytes: number
}

/** Writes what a process used when it ends: start-up, reading and writing included. */
const usageHook = `data:text/javascript,${encodeURIComponent(
  'import{writeFileSync}from"node:fs";process.on("exit",()=>writeFileSync(process.env.BENCH_USAGE,JSON.stringify(process.resourceUsage())))',
)}`

const flags = ["--no-report", "--json", "--force"]

const timeRun = (command: string, { input, reference }: Case, kernel: string): Cost => {
  const usageFile = join(folder, "usage.json")
  const results = join(folder, "results")
  output(
    process.execPath,
    ["--import", usageHook, command, "run", input, "--kernel", kernel, "--out", results, ...flags],
    {
      cwd: folder,
      env: { ...process.env, BENCH_USAGE: usageFile },
    },
  )
  if (reference !== undefined && !readFileSync(join(results, reference.file)).equals(reference.octets)) {
    console.error("bench: completion times are not the reference's; what was timed is not this case")
    process.exit(1)
  }
  const { packetHops, events, digest } = JSON.parse(readFileSync(join(results, "summary.json"), "utf8"))
  const { maxRSS, systemCPUTime, userCPUTime } = JSON.parse(readFileSync(usageFile, "utf8"))
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6
  const nsPerHop = (cpuSeconds * 1e9) / packetHops
  return { cpuSeconds, packetHops, events, digest, nsPerHop, peakRssBytes: maxRSS * 1024 }
}

/** Compiles the yardstick; undefined, and a word about it, where that cannot be. */
const buildYardstick = (): (() => number) | undefined => {
  const from = resolve(values.yardstick)
  const source = join(from, "yardstick.cpp")
  if (!existsSync(source) || !existsSync(join(from, "topo.txt"))) {
    console.log("The C++ yardstick is left out: its source is not here.")
    return undefined
  }
  const program = join(folder, "yardstick")
  const compiler = ["c++", "g++", "clang++"].find(
    (name) => spawnSync(name, ["-O3", "-o", program, source], { cwd: folder }).status === 0,
  )
  if (compiler === undefined) {
    console.log("The C++ yardstick is left out: there is no compiler, or it does not compile.")
    return undefined
  }
  return () => {
    const printed = output(program, [], { cwd: from })
    const found = /ns\/hop med ([\d.]+)/.exec(printed)
    if (found === null) throw new Error(`the yardstick printed no time: ${printed}`)
    return Number(found[1])
  }
}

/** What a results file says of a case and a kernel last. */
const lastOf = (
  name: string,
  kernel: string,
): { readonly ratio: number | null; readonly nsPerHop: number } | undefined => {
  if (!existsSync(values.out)) return undefined
  const lines = readFileSync(values.out, "utf8").trim().split("\n")
  return lines
    .map((line) => JSON.parse(line))
    .findLast((result) => result.case === name && (result.kernel ?? "exact") === kernel)
}

/** The kernels that serve a case, and what each run cost with them. */
const costsOf = (name: string, input: Case, command: string, yardstick: (() => number) | undefined) => {
  const kernels = input.reference === undefined ? ["exact", "fused"] : ["exact"]
  const measured = kernels.map((kernel) => ({
    kernel,
    costs: [] as Array<Cost>,
    ratios: [] as Array<number>,
    yards: [] as Array<number>,
  }))
  let before = yardstick?.()
  for (let run = 1; run <= runs; run++) {
    for (const { kernel, costs, ratios, yards } of measured) {
      const cost = timeRun(command, input, kernel)
      costs.push(cost)
      const { cpuSeconds, events, nsPerHop, packetHops, peakRssBytes } = cost
      let line = `${kernel}, run ${run}: ${cpuSeconds.toFixed(2)} s CPU, ${packetHops} packet-hops, ${events} events, ${nsPerHop.toFixed(1)} ns per hop, peak RSS ${(peakRssBytes / 1e6).toFixed(0)} MB`
      if (yardstick !== undefined && before !== undefined) {
        const after = yardstick()
        yards.push(before, after)
        const ratio = nsPerHop / ((before + after) / 2)
        ratios.push(ratio)
        line += `; yardstick ${before.toFixed(1)} and ${after.toFixed(1)} ns, ratio ${ratio.toFixed(2)}`
        before = after
      }
      console.log(line)
    }
  }
  const digests = new Set(measured.flatMap(({ costs }) => costs.map(({ digest }) => digest)))
  if (digests.size === 1) return measured
  console.error(`bench: ${name}: results differ, with digests ${[...digests].join(" and ")}`)
  process.exit(1)
}

const measure = (name: string, input: Case, command: string, yardstick: (() => number) | undefined): void => {
  console.log(`${name}:`)
  for (const measured of costsOf(name, input, command, yardstick)) keep(name, measured)
}

const keep = (name: string, { kernel, costs, ratios, yards }: ReturnType<typeof costsOf>[number]): void => {
  const result = {
    case: name,
    kernel,
    commit: spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).stdout?.trim() ?? "",
    node: process.version,
    packetHops: costs[0]!.packetHops,
    events: costs[0]!.events,
    cpuSeconds: median(costs.map((cost) => cost.cpuSeconds)),
    nsPerHop: median(costs.map((cost) => cost.nsPerHop)),
    peakRssBytes: Math.max(...costs.map((cost) => cost.peakRssBytes)),
    yardstickNsPerHop: yards.length > 0 ? median(yards) : null,
    ratio: ratios.length > 0 ? median(ratios) : null,
  }
  const last = lastOf(name, kernel)
  const was =
    last === undefined
      ? ""
      : ` (was ${last.nsPerHop.toFixed(1)} ns${last.ratio === null ? "" : `, ratio ${last.ratio.toFixed(2)}`})`
  const ratio = result.ratio === null ? "" : `, ratio ${result.ratio.toFixed(2)}`
  console.log(`${kernel}, median: ${result.nsPerHop.toFixed(1)} ns per hop${ratio}${was}`)
  mkdirSync(dirname(resolve(values.out)), { recursive: true })
  appendFileSync(values.out, `${JSON.stringify(result)}\n`)
}

const command = buildCommand()
const yardstick = buildYardstick()
for (const name of names) measure(name, cases[name]!(), command, yardstick)
