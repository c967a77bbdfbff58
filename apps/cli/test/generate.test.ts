import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { parseFlows, parseTopology } from "@rdmakit/ns3"
import { describe, expect, test } from "vitest"
import { filesIn, folderOf, rdmakit, textOf } from "./rdmakit.ts"

const topology = (args: string, cwd?: string) =>
  rdmakit(["generate", "topology", ...args.split(" ")], cwd === undefined ? {} : { cwd })
const flows = (args: string, cwd?: string) =>
  rdmakit(["generate", "flows", ...args.split(" ")], cwd === undefined ? {} : { cwd })
const read = (folder: string, file: string): string => readFileSync(join(folder, file), "utf8")

describe("generate topology", () => {
  test("writes to standard output, and says on the other side what it is", async () => {
    expect(await topology("star --hosts 2 --rate 25Gbps --delay 500ns --loss 0.001")).toEqual({
      code: 0,
      out: "3 1 2\n2\n0 2 25Gbps 500ns 0.001000\n1 2 25Gbps 500ns 0.001000\n",
      err: "2 hosts, 1 switch, 2 links\n",
    })
  })

  test.each([
    ["star --hosts 16", [17, 1, 16]],
    ["dumbbell --left 2 --right 3 --bottleneck-rate 10Gbps", [7, 2, 6]],
    ["fat-tree --k 4 --fabric-rate 400Gbps", [36, 20, 48]],
    ["leaf-spine --leaves 4 --spines 2 --hosts-per-leaf 3 --parallel 2", [18, 6, 28]],
    ["clos --pods 3 --tors-per-pod 2 --aggs-per-pod 4 --cores-per-agg 5 --hosts-per-tor 7", [80, 38, 126]],
    ["hpcc-fabric", [376, 56, 480]],
    ["hpcc-testbed", [37, 5, 68]],
    ["ring --switches 3 --hosts-per-switch 2", [9, 3, 9]],
  ])("%s", async (args, [nodes, switches, links]) => {
    const { code, out } = await topology(`${args} --json`)
    expect(code).toBe(0)
    const { text, ...summary } = JSON.parse(out)
    expect(summary).toMatchObject({ hosts: nodes! - switches!, switches, links, file: null })
    const parsed = parseTopology(text, "t")
    expect([parsed.nodes, parsed.switches.length, parsed.links.length]).toEqual([nodes, switches, links])
  })

  test("flags reach their links", async () => {
    const { out } = await topology("dumbbell --left 1 --right 1 --rate 50Gbps --bottleneck-delay 7us --json")
    expect(parseTopology(JSON.parse(out).text, "t").links).toMatchObject([
      { rateBps: 50e9, delayPs: 1e6 },
      { rateBps: 50e9, delayPs: 1e6 },
      { rateBps: 100e9, delayPs: 7e6 },
    ])
  })
})

describe("generate flows", () => {
  test("the same seed gives the same file, another one another", async () => {
    const args = "poisson --hosts 16 --load 0.3 --sizes FB_Hadoop --duration 1ms --seed"
    const [a, b, c] = await Promise.all([flows(`${args} 5`), flows(`${args} 5`), flows(`${args} 6`)])
    expect(a.code).toBe(0)
    expect(a).toEqual(b)
    expect(c.out).not.toBe(a.out)
    const parsed = parseFlows(a.out, "flow.txt")
    expect(parsed.notes).toEqual([])
    expect(parsed.count).toBeGreaterThan(100)
    expect(Math.min(...parsed.startPs)).toBeGreaterThanOrEqual(2e12)
    expect(Math.max(...parsed.startPs)).toBeLessThan(2e12 + 1e9)
  })

  test("as many as traffic_gen.py asks for: 320 hosts, 30 % of 100 Gb/s, web search, 100 ms", async () => {
    const { out } = await flows("poisson --hosts 320 --load 0.3 --sizes WebSearch --duration 100ms --json")
    const { flows: count, load } = JSON.parse(out)
    // 320 · 0.1 s · 30 Gb/s / (8 · 1,711,250 B) = 70,124.
    expect(Math.abs(count - 70_124)).toBeLessThan(3 * Math.sqrt(70_124))
    expect(load).toBeCloseTo(0.3, 2)
  })

  test("hosts and rates come from a topology: two links count twice", async () => {
    const cwd = folderOf({})
    await topology("hpcc-testbed --out testbed.txt", cwd)
    const { code, out } = await flows(
      "poisson --topology testbed.txt --load 0.5 --size 10KB --duration 20ms --json",
      cwd,
    )
    expect(code).toBe(0)
    // 32 · 50 Gb/s · 0.5 · 20 ms.
    expect(JSON.parse(out)).toMatchObject({ hosts: 32 })
    expect(JSON.parse(out).bytes / 2e9).toBeCloseTo(1, 1)
    const some = await flows("all-to-all --topology testbed.txt --hosts 16..18 --size 1kB --start 0 --gap 1us", cwd)
    expect(some.out.split("\n").slice(0, 4)).toEqual([
      "6",
      "16 17 3 100 1000 0.000000000",
      "17 18 3 100 1000 0.000000000",
      "18 16 3 100 1000 0.000000000",
    ])
    const bisection = await flows(
      "poisson --topology testbed.txt --load 0.5 --of bisection --size 10KB --duration 20ms --json",
      cwd,
    )
    // 200 Gb/s cross it: 32 · 0.5 · 200 · 31 / 256 · 20 ms / 8 = 968.75 MB.
    expect(JSON.parse(bisection.out).bytes / 968.75e6).toBeCloseTo(1, 1)
  })

  test("sizes from a file, incasts merged with what is there", async () => {
    const cwd = folderOf({ "sizes.txt": "100 0\n100 50\n900 50\n900 100\n" })
    const first = await flows("permutation --hosts 64 --sizes sizes.txt --out flow.txt", cwd)
    expect(first).toMatchObject({ code: 0, err: "" })
    expect(first.out).toMatch(/^64 flows of .* in flow.txt\n$/)
    expect(new Set(parseFlows(read(cwd, "flow.txt"), "f").sizeBytes)).toEqual(new Set([100, 900]))
    const second = await flows("incast --hosts 64 --fan-in 8 --size 1MB --merge flow.txt --out both.txt --json", cwd)
    expect(JSON.parse(second.out)).toMatchObject({ flows: 72, merged: 64, file: "both.txt" })
    const both = parseFlows(read(cwd, "both.txt"), "both.txt")
    expect(both.dport.filter((port) => port === 200)).toHaveLength(8)
  })

  test("notes what the simulator cannot read, and what was odd about the inputs", async () => {
    const cwd = folderOf({ "flow.txt": "1\n0 1 3 100 5 2\n0 1 3 100 6 2\n" })
    const { err: odd } = await flows("ring --hosts 2 --size 1 --merge flow.txt --out out.txt", cwd)
    expect(odd).toBe("flow.txt:3:1: note: 1 more flows than the 1 flows the first line says: not read\n")
    const { code, err } = await flows("ring --hosts 2 --size 5GB")
    expect(code).toBe(0)
    expect(err).toMatch(/note: a flow over 4,294,967,295 bytes/)
  })
})

describe("what is generated runs", () => {
  test("as a config of the simulator, and as a scenario: the same flows", async () => {
    const cwd = folderOf({
      "config.txt": textOf("tiny/hpcc.config.txt").replaceAll("tiny/", ""),
      "trace.txt": "0\n",
      "s.yaml": "topology: { file: topology.txt }\nflows: { file: zero.txt }\n",
      "w.yaml":
        "seed: 4\ntopology: { builder: star, hosts: 8 }\nflows: { workload: poisson, load: 0.3, sizes: FB_Hadoop, duration: 20us }\n",
    })
    const poisson = "poisson --topology topology.txt --load 0.3 --sizes FB_Hadoop --duration 20us --seed 4"
    expect(await topology("star --hosts 8 --out topology.txt", cwd)).toMatchObject({ code: 0 })
    expect(await flows(`${poisson} --out flow.txt`, cwd)).toMatchObject({ code: 0 })
    expect(await flows(`${poisson} --start 0 --out zero.txt`, cwd)).toMatchObject({ code: 0 })
    const run = async (file: string, ...more: ReadonlyArray<string>) => {
      const { code, out, err } = await rdmakit(["run", file, "--json", ...more], { cwd })
      expect({ code, err }).toEqual({ code: 0, err: "" })
      return JSON.parse(out)
    }
    const simulator = await run("config.txt")
    expect(simulator.flowsTotal).toBeGreaterThan(3)
    expect(simulator.flowsFinished).toBe(simulator.flowsTotal)
    const [file, workload] = [await run("s.yaml", "--seed", "4"), await run("w.yaml")]
    expect(file).toMatchObject({ flowsTotal: simulator.flowsTotal, flowsFinished: simulator.flowsTotal })
    expect(workload.digest).toBe(file.digest)
    // The seed of a run is that of its workloads.
    const other = await run("w.yaml", "--seed", "5", "--out", "other")
    expect(other.digest).not.toBe(workload.digest)
    expect(other.seed).toBe(5)
  })
})

describe("a file", () => {
  test("is there as a whole or not at all, like any other of the user's", async () => {
    const cwd = folderOf({})
    expect(await topology("star --hosts 2 --out new/folder/topology.txt", cwd)).toEqual({
      code: 0,
      out: "2 hosts, 1 switch, 2 links in new/folder/topology.txt\n",
      err: "",
    })
    expect(filesIn(cwd)).toEqual(["new/folder/topology.txt"])
    expect(readdirSync(join(cwd, "new/folder"))).toEqual(["topology.txt"])
    expect(statSync(join(cwd, "new/folder/topology.txt")).mode & 0o777).toBe(0o644)
  })

  test("is not replaced, unless --force is given; an input never is", async () => {
    const cwd = folderOf({ "mine.txt": "precious\n", "flow.txt": "1\n0 1 3 100 5 2\n", "a folder/x": "" })
    const refused = await flows("ring --hosts 2 --size 1 --out mine.txt", cwd)
    expect(refused).toMatchObject({ code: 2, out: "" })
    expect(refused.err).toBe(
      "error: mine.txt: found a file, expected nothing\nchoose another with --out FILE, or --force to replace it\n",
    )
    expect(read(cwd, "mine.txt")).toBe("precious\n")
    const merged = await flows("ring --hosts 2 --size 1 --merge flow.txt --out flow.txt --force", cwd)
    expect(merged).toMatchObject({ code: 2, err: expect.stringContaining("flow.txt: would replace an input") })
    const folder = await rdmakit(["generate", "topology", "star", "--hosts", "2", "--out", "a folder"], { cwd })
    expect(folder).toMatchObject({ code: 2, err: expect.stringContaining("found a folder, expected a file") })
    const inFile = await topology("star --hosts 2 --out mine.txt/topology.txt", cwd)
    expect(inFile).toMatchObject({ code: 2, err: expect.stringContaining("mine.txt/topology.txt: cannot be written") })
    expect(filesIn(cwd)).toEqual(["a folder/x", "flow.txt", "mine.txt"])
    expect(await flows("ring --hosts 2 --size 1 --out mine.txt --force", cwd)).toMatchObject({ code: 0 })
    expect(read(cwd, "mine.txt")).toBe("2\n0 1 3 100 1 2.000000000\n1 0 3 100 1 2.000000000\n")
  })
})

describe("generate refuses, with exit code 2, and writes nothing", () => {
  test.each<[string, string]>([
    ["topology strr", 'BUILDER: found "strr", expected star, dumbbell, .*did you mean star\\?'],
    ["topology torus", 'BUILDER: found "torus", expected .*leaf-spine, clos, '],
    ["topology clos --pods 2", "--tors-per-pod: found nothing, expected this flag"],
    ["topology star", "--hosts: found nothing, expected this flag"],
    ["topology star --hosts 0", '--hosts: found "0", expected a whole number 1..65535'],
    [
      "topology star --hosts 300",
      "no file of the simulator can hold this: link: expected at most 256 links at switch 300",
    ],
    ["topology star --hosts 65535 --k 2", 'flags: found "--k", expected --hosts, --rate, --delay, --loss$'],
    ["topology star --hosts 2 --fabric-loss 0.5", 'flags: found "--fabric-loss", expected --hosts'],
    ["topology fat-tree --k 5", '--k: found "5", expected an even number 2..128'],
    ["topology fat-tree --k 128", "flags|topology: .*expected"],
    [
      "topology star --hosts 2 --rate 5Gbs",
      '--rate: found "5Gbs", expected a rate such as 100Gbps; .*did you mean "Gbps"',
    ],
    ["topology star --hosts 2 --delay 5", '--delay: found "5", expected a time such as 10us'],
    ["topology star --hosts 2 --loss 2", '--loss: found "2", expected a number 0..1'],
    ["flows poison --hosts 2", 'WORKLOAD: found "poison", expected poisson, .*did you mean poisson\\?'],
    ["flows ring --size 1", "--hosts: found nothing, expected this flag, or --topology"],
    ["flows ring --hosts 1 --size 1", '--hosts: found "1", expected how many, 2..65535, or which, such as 0..15'],
    ["flows ring --hosts 5..3 --size 1", '--hosts: found "5..3"'],
    ["flows ring --hosts 2", "--size: found nothing, expected this flag, or --sizes"],
    ["flows ring --hosts 2 --size 0", '--size: found "0", expected a size of at least 1'],
    ["flows ring --hosts 2 --size 1 --sizes WebSearch", "--size: .*either --size or --sizes"],
    ["flows ring --hosts 2 --sizes WebSerch", '--sizes: found "WebSerch", .*did you mean WebSearch\\?'],
    [
      "flows ring --hosts 2 --sizes Nope",
      '--sizes: found "Nope", expected WebSearch, FB_Hadoop, AliStorage2019 or a file; it does not exist$',
    ],
    ["flows ring --hosts 2 --sizes none.txt", '--sizes: found "none.txt", expected a file; it does not exist'],
    [
      "flows ring --hosts 2 --sizes bad.txt",
      'bad.txt:2:6: percentage: found "x", expected a percentage\n  2 \\| 1000 x',
    ],
    ["flows ring --hosts 2 --size 1 --fan-in 2", 'flags: found "--fan-in", expected --hosts, --start, '],
    ["flows ring --hosts 2 --size 1 --rounds 0", '--rounds: found "0", expected a whole number 1'],
    ["flows ring --hosts 2 --size 1 --seed -1", "--seed"],
    ["flows ring --hosts 2 --size 1 --priority 8", '--priority: found "8", expected a whole number 1..7'],
    [
      "flows ring --hosts 2 --size 1 --rate 0",
      '--rate: found "0", expected a rate such as 100Gbps; a rate is above zero',
    ],
    ["flows ring --topology none.txt --size 1", '--topology: found "none.txt", expected a file; it does not exist'],
    ["flows ring --topology bad.txt --size 1", 'bad.txt:1:1: number of nodes: found "0"'],
    ["flows ring --topology t.txt --size 1 --rate 1Gbps", "--rate: found .*the file says what rates links have"],
    ["flows ring --topology t.txt --size 1 --hosts 1..2", "--hosts: .*expected a host; node 2 is a switch"],
    ["flows ring --hosts 2 --size 1 --merge t.txt", 't.txt:3:5: start: found "1Gbps", expected a number 0..9000'],
    ["flows ring --topology t.txt --size 1 --merge far.txt", "far.txt:2:1: source node: .*a whole number 0..2"],
    ["flows poisson --hosts 2 --load 30 --size 1 --duration 1us", '--load: found "30", .*a share, not a percentage'],
    ["flows poisson --hosts 2 --load x --size 1 --duration 1us", '--load: found "x", expected a share above 0'],
    ["flows poisson --hosts 2 --load 1 --size 1", "--duration: found nothing, expected this flag"],
    [
      "flows poisson --hosts 2 --load 1 --size 1 --duration 1s",
      "flows: found .*at most 10000000 in all; a shorter time",
    ],
    [
      "flows poisson --hosts 2 --load 1 --of all --size 1 --duration 1us",
      '--of: found "all", expected hosts or bisection',
    ],
    ["flows incast --hosts 4 --size 1", "flows: found nothing, expected either --fan-in or --senders"],
    ["flows incast --hosts 4 --size 1 --fan-in 4", '--fan-in: found "4", expected a whole number, 1..3'],
    [
      "flows incast --hosts 4 --size 1 --senders 0..1 --receiver 1",
      '--receiver: found "1", expected a host that is no',
    ],
    [
      "flows ring --hosts 2 --size 1 --start 9001s",
      "no file of the simulator can hold this: start: expected a number 0..9000",
    ],
  ])("%s", async (args, pattern) => {
    const cwd = folderOf({
      "bad.txt": "0 0\n1000 x\n",
      "t.txt": "3 1 2\n2\n0 2 1Gbps 1us 0\n1 2 1Gbps 1us 0\n",
      "far.txt": "1\n7 1 3 100 5 2\n",
    })
    const before = filesIn(cwd)
    const { code, out, err } = await rdmakit(["generate", ...args.split(" "), "--out", "out.txt"], { cwd })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toMatch(new RegExp(pattern, "m"))
    expect(err).not.toMatch(/\n\s+at /)
    expect(filesIn(cwd)).toEqual(before)
  })

  test("and tells programs why", async () => {
    const { code, out } = await flows("poisson --hosts 2 --load 0 --size x --duration 1us --json")
    expect(code).toBe(2)
    const { ok, faults } = JSON.parse(out)
    expect(ok).toBe(false)
    expect(faults.map(({ field }: { readonly field: string }) => field).sort()).toEqual(["--load", "--size"])
  })
})

describe("help", () => {
  test.each([["generate"], ["generate topology"], ["generate flows"]])(
    "of %s has examples of itself",
    async (command) => {
      const { code, out, err } = await rdmakit([...command.split(" "), "--help"])
      expect({ code, err }).toEqual({ code: 0, err: "" })
      expect(out).toContain(`\nUSAGE\n  rdmakit ${command} `)
      expect(out.slice(out.indexOf("EXAMPLES"))).toContain(`\n  rdmakit ${command} `)
      for (const line of out.split("\n")) {
        if (!line.includes("--completions")) expect(line.length).toBeLessThanOrEqual(100)
      }
      expect(await rdmakit(["help", ...command.split(" ")])).toEqual({ code: 0, out, err: "" })
    },
  )

  test("rdmakit --help knows it", async () => {
    expect((await rdmakit(["--help"])).out).toMatch(/^ {2}generate +Write topologies and flows$/m)
  })
})
