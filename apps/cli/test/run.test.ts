import { existsSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { filesIn, folderOf, octetsOf, rdmakit, textOf } from "./rdmakit.ts"

/** Where results go: a new folder of their own. */
const place = () => join(folderOf({}), "out")
const summaryOf = (folder: string) => JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"))

/** Inputs that lie together in a working directory. */
const inputs = (changes: Readonly<Record<string, string>> = {}): string =>
  folderOf({
    "mix/config.txt": textOf("incast16/hpcc.config.txt").replaceAll("incast16/", ""),
    "mix/topology.txt": textOf("incast16/topology.txt"),
    "mix/flow.txt": textOf("incast16/flow.txt"),
    "mix/trace.txt": textOf("incast16/trace.txt"),
    ...changes,
  })
const config = (from: string | RegExp, to: string) => ({
  "mix/config.txt": textOf("incast16/hpcc.config.txt").replaceAll("incast16/", "").replace(from, to),
})

describe("run", () => {
  test.each(["tiny/hpcc", "tiny/timely", "incast16/hpcc", "incast16/timely", "pfcdemo/timely"])(
    "%s: every output is the simulator's",
    async (name) => {
      const out = place()
      const [folder, mode] = name.split("/") as [string, string]
      const run = await rdmakit(["run", `${name}.config.txt`, "--out", out])
      expect(run.code).toBe(0)
      expect(run.err).toMatch(/^\S+: warning: 1\d keys without effect here, 'rdmakit lint --all' says why: [A-Z_ ]+\n$/)
      expect(run.out).toMatch(/^Slowdown by flow size\nsize ≤ /)
      expect(run.out).toContain(`\nresults in ${out}\n`)
      const compared = await rdmakit(["compare", out, folder])
      expect(compared.code).toBe(0)
      expect(compared.out).toContain(`A  ${out}/${mode}.fct.txt\nB  ${name}.fct.txt\n`)
      const text = readFileSync(join(out, `${mode}.qlen.txt`), "utf8")
      expect(text).toBe(textOf(`${name}.qlen.txt`))
    },
  )

  test("refuses a kernel that cannot serve, and says why", async () => {
    const out = place()
    const run = await rdmakit(["run", "incast16/hpcc.config.txt", "--out", out, "--kernel", "fused"])
    expect(run.code).toBe(2)
    expect(run.err).toContain("error: --kernel fused: the fused kernel cannot keep ns-3's order of ties")
    expect(existsSync(out)).toBe(false)
  })

  test("writes a summary and a table of flows, and prints the former with --json", async () => {
    const out = place()
    const { code, out: text } = await rdmakit(["run", "pfcdemo/timely.config.txt", "--out", out, "--json"])
    expect(code).toBe(0)
    const summary = summaryOf(out)
    expect(JSON.parse(text)).toEqual({ folder: out, ...summary })
    expect(summary).toMatchObject({
      ...{ input: "pfcdemo/timely.config.txt", partial: false, seed: 0, flowsTotal: 16, flowsFinished: 16 },
      ...{ packetHops: 64000, pfcPauses: 179, dropsByReason: {}, unfinished: [] },
      files: {
        fct: "timely.fct.txt",
        pfc: "timely.pfc.txt",
        qlen: "timely.qlen.txt",
        flows: "flows.csv",
        links: "links.csv",
      },
    })
    expect(summary.pfcPauseFraction).toBeGreaterThan(0)
    for (const key of ["events", "cpuSeconds", "wallSeconds", "peakRssBytes"]) expect(summary[key]).toBeGreaterThan(0)
    expect(summary.digest).toMatch(/^[0-9a-f]{16}$/)
    expect(summary.slowdown.map((row: { upToBytes: unknown }) => row.upToBytes)).toEqual([1e6, "all"])
    const [header, ...rows] = readFileSync(join(out, "flows.csv"), "utf8").trimEnd().split("\n")
    expect(header).toContain("flow,source,destination,")
    expect(rows.length).toBe(16)
  })

  test("the same twice: the same digest, octet for octet the same flows", async () => {
    const [a, b] = [place(), place()]
    for (const out of [a, b]) await rdmakit(["run", "incast16/hpcc.config.txt", "--out", out, "--seed", "7"])
    expect(summaryOf(a).digest).toBe(summaryOf(b).digest)
    expect(summaryOf(a).seed).toBe(7)
    expect(readFileSync(join(a, "flows.csv"))).toEqual(readFileSync(join(b, "flows.csv")))
  })

  test("writes beside the working directory unless told otherwise, over a result of before", async () => {
    const cwd = inputs()
    for (const mode of ["3", "7"]) {
      const { code, out } = await rdmakit(["run", "mix/config.txt", "--set", `CC_MODE=${mode}`], { cwd })
      expect(code).toBe(0)
      expect(out).toContain("\nresults in config.results\n")
      expect(summaryOf(join(cwd, "config.results")).controller).toBe(mode === "3" ? "hpcc/ns3" : "timely/ns3")
    }
    const written = filesIn(join(cwd, "config.results"))
    expect(written).toEqual([
      "flows.csv",
      ...["hpcc.fct.txt", "hpcc.pfc.txt", "hpcc.qlen.txt", "hpcc.tr"],
      ...["links.csv", "report.html"],
      "summary.json",
    ])
    expect(filesIn(cwd).filter((name) => name.includes("unfinished"))).toEqual([])
  })

  test("reads standard input", async () => {
    const cwd = inputs()
    const stdin = readFileSync(join(cwd, "mix/config.txt"), "utf8").replaceAll(/(topology|flow|trace)\.txt/g, "mix/$&")
    const { code, out } = await rdmakit(["run", "-"], { cwd, stdin })
    expect(code).toBe(0)
    expect(out).toContain("\nresults in stdin.results\n")
  })

  test("flows that did not finish: each with its reason, exit 1", async () => {
    const out = place()
    const args = ["run", "incast16/hpcc.config.txt", "--out", out, "--set", "SIMULATOR_STOP_TIME=2.0001"]
    const { code, err } = await rdmakit(args)
    expect(code).toBe(1)
    expect(err).toContain("16 flows unfinished:\n  flow 0, host 0 to host 16, 1,000,000 B: ")
    expect(err.match(/waiting for PSN \d+/g)?.length).toBe(16)
    const { flowsFinished, partial, unfinished } = summaryOf(out)
    expect({ flowsFinished, partial, count: unfinished.length }).toEqual({
      ...{ flowsFinished: 0, partial: false, count: 16 },
    })
    expect(readFileSync(join(out, "flows.csv"), "utf8").match(/,unfinished,"/g)?.length).toBe(16)
  })

  test("goes on when nobody reads its output", async () => {
    const out = place()
    const { code } = await rdmakit(["run", "tiny/hpcc.config.txt", "--out", out], { readerLeavesAfter: 0 })
    expect(code).toBe(0)
    expect(existsSync(join(out, "summary.json"))).toBe(true)
  })
})

describe("Ctrl-C", () => {
  test("stops a run, keeps what had finished and says so", async () => {
    const out = place()
    // Progress on a terminal appears while the run goes on.
    const watch = (text: string, signal: () => boolean) => {
      if (text.includes("hops/s")) signal()
    }
    // 3.2 GB: many seconds of work, however fast it gets.
    const scenario = { topology: { builder: "star", hosts: 17 }, flows: [{ from: "0..15", to: 16, size: "200MB" }] }
    const cwd = folderOf({ "long.json": JSON.stringify({ ...scenario, controller: { name: "hpcc" } }) })
    const run = await rdmakit(["run", "long.json", "--out", out], { cwd, terminal: true, watch })
    expect(run.code).toBe(130)
    expect(run.out).toContain("unfinished: the results are partial")
    const { partial, flowsFinished, unfinished } = summaryOf(out)
    expect(partial).toBe(true)
    expect(flowsFinished + unfinished.length).toBe(16)
    expect(unfinished.length).toBeGreaterThan(0)
  })
})

describe("run refuses, with exit code 2 and nothing written", () => {
  test.each<readonly [string, Readonly<Record<string, string>>, ReadonlyArray<string>, string]>([
    [
      "a wrong word",
      { "mix/flow.txt": "1\n0 one 3 100 5 2\n" },
      [],
      'error: mix/flow.txt:2:3: destination node: found "one"',
    ],
    [
      "a missing file",
      config("flow.txt", "none.txt"),
      [],
      'FLOW_FILE: found "none.txt", expected a file; none of these',
    ],
    [
      "a base without room",
      {},
      ["--set", "CC_MODE=10", "--set", "PINT_LOG_BASE=1.0001"],
      'PINT_LOG_BASE: found "1.0001", expected a base of digests of 1 to 16 bits',
    ],
    [
      "an unknown key",
      {},
      ["--set", "CC_MOD=1"],
      '--set:1:1: key: found "CC_MOD", expected a key of the simulator; did you',
    ],
    ["no rate", {}, ["--set", "MIN_RATE=0Mb/s"], 'MIN_RATE: found "0Mb/s", expected an integer of at least 1 bit/s'],
    [
      "little buffer",
      {},
      ["--set", "BUFFER_SIZE=0"],
      'BUFFER_SIZE: found "0", expected at least 1 MiB; switch 17 keeps',
    ],
    [
      "a wrong seed",
      {},
      ["--seed", "-1"],
      'Invalid value for flag --seed: "-1". Expected: a whole number 0..4294967295',
    ],
    ["a folder of other things", {}, ["--out", "mix"], "error: mix: found a folder with other things (config.txt, …)"],
    ["a link to nothing", {}, ["--out", "link"], "error: link: found a symbolic link to nothing (gone), expected a"],
    [
      "a folder where the report must go",
      { "old/summary.json": "{}", "old/report.html/x": "" },
      ["--out", "old"],
      "error: old/report.html: found a folder, expected a file",
    ],
    [
      "a folder where the summary must go",
      { "old/summary.json/x": "" },
      ["--out", "old", "--force"],
      "error: old/summary.json: found a folder, expected a file",
    ],
    [
      "a folder where an output of the simulator must go",
      { "old/flows.csv": "", "old/hpcc.fct.txt/x": "" },
      ["--out", "old"],
      "error: old/hpcc.fct.txt: found a folder, expected a file",
    ],
    ["a file to write to", {}, ["--out", "mix/flow.txt"], "error: mix/flow.txt: found a file, expected a folder or"],
  ])("%s", async (_, changes, args, message) => {
    const cwd = inputs(changes)
    symlinkSync("gone", join(cwd, "link"))
    const before = filesIn(cwd)
    const { code, out, err } = await rdmakit(["run", "mix/config.txt", ...args], { cwd })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
    expect(filesIn(cwd)).toEqual(before)
    expect(existsSync(join(cwd, "config.results"))).toBe(false)
  })

  test("rubbish", async () => {
    const cwd = folderOf({ "config.txt": octetsOf("tiny/hpcc.tr") })
    const { code, err } = await rdmakit(["run", "config.txt"], { cwd })
    expect(code).toBe(2)
    expect(err).toContain("error: config.txt:1:1: ")
    expect(filesIn(cwd)).toEqual(["config.txt"])
  })
})

describe("start", () => {
  test("runs HPCC and TIMELY side by side on the same flows", async () => {
    const { code, out, err } = await rdmakit(["start", "--time", "5us"])
    expect(code).toBe(0)
    expect(err).toContain(
      "320 hosts, 100 Gb/s links to 20 racks, 400 Gb/s above; FB_Hadoop flows at 50 % load for 5us\n",
    )
    expect(out).toMatch(/size ≤ +flows +HPCC p50 +p95 +p99 +TIMELY p50 +p95 +p99\n/)
    expect(out).toMatch(/\nHPCC +([\d,]+) of \1 flows, .*\nTIMELY +\1 of \1 flows, /)
  })

  test("prints JSON", async () => {
    const { code, out } = await rdmakit(["start", "--time", "1us", "--json"])
    expect(code).toBe(0)
    const { results, ...rest } = JSON.parse(out)
    expect(rest).toMatchObject({ hosts: 320, load: 0.5, startSeconds: 1e-6 })
    expect(results.map(({ name }: { name: string }) => name)).toEqual(["HPCC", "TIMELY"])
    expect(results[0].slowdown.at(-1)).toMatchObject({ upToBytes: "all", count: results[0].flowsTotal })
  })

  test.each(["soon", "0us", "1s", "5"])("refuses --time %s", async (time) => {
    const { code, out, err } = await rdmakit(["start", "--time", time])
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain("error: --time: ")
  })
})

describe("run, at the edges", () => {
  test("the summary has the notes on the inputs, with --json too", async () => {
    // After the last flow has ended.
    const cwd = inputs(config("LINK_DOWN 0 0 0", "LINK_DOWN 150000 1 17"))
    const { code, out } = await rdmakit(["run", "mix/config.txt", "--out", "out", "--json"], { cwd })
    expect(code).toBe(0)
    const { inputNotes } = JSON.parse(out)
    expect(inputNotes.map(({ text }: { readonly text: string }) => text).join()).toContain("LINK_DOWN")
    expect(summaryOf(join(cwd, "out")).inputNotes).toEqual(inputNotes)
  })

  test("flows that a link which goes down leaves without a way are listed with the reason", async () => {
    const cwd = inputs(config("LINK_DOWN 0 0 0", "LINK_DOWN 10 1 17"))
    const { code, out, err } = await rdmakit(["run", "mix/config.txt", "--out", "out"], { cwd })
    expect(code).toBe(1)
    expect(`${out}${err}`).toMatch(/no route from node 1 to node \d+/)
  })

  test.each([".", "..", "/", "x".repeat(300)])("an output called %j is refused before the run", async (name) => {
    const cwd = inputs(config(/FCT_OUTPUT_FILE .*/, `FCT_OUTPUT_FILE ${name}`))
    const { code, err } = await rdmakit(["run", "mix/config.txt", "--out", "out"], { cwd })
    expect(code).toBe(2)
    expect(err).toContain("FCT_OUTPUT_FILE: found")
    expect(existsSync(join(cwd, "out"))).toBe(false)
  })

  test("an output never replaces an input", async () => {
    const cwd = inputs(config(/FCT_OUTPUT_FILE .*/, "FCT_OUTPUT_FILE flow.txt"))
    const before = readFileSync(join(cwd, "mix/flow.txt"), "utf8")
    const { code, err } = await rdmakit(["run", "mix/config.txt", "--out", "mix", "--force"], { cwd })
    expect(code).toBe(2)
    expect(err).toContain("mix: flow.txt would replace an input of this run")
    expect(readFileSync(join(cwd, "mix/flow.txt"), "utf8")).toBe(before)
  })

  test("a network of seconds is slow, not lossy", async () => {
    const cwd = inputs({
      "mix/config.txt": textOf("tiny/timely.config.txt")
        .replaceAll("tiny/", "")
        .replace(/SIMULATOR_STOP_TIME .*/, "SIMULATOR_STOP_TIME 900")
        .replace(/QLEN_MON_END .*/, "QLEN_MON_END 2000000000")
        .replace(/(K..._MAP) 2 .*/g, "$1 1 1000000 400")
        .replace(/PMAX_MAP 2 .*/, "PMAX_MAP 1 1000000 0.2"),
      "mix/topology.txt": textOf("tiny/topology.txt").replaceAll("100Gbps 1000ns", "1Mbps 1s"),
      "mix/flow.txt": textOf("tiny/flow.txt"),
      "mix/trace.txt": textOf("tiny/trace.txt"),
    })
    const { code, out } = await rdmakit(["run", "mix/config.txt", "--out", "out", "--json"], { cwd })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ flowsFinished: 1, retransmissions: 0 })
  })
})

describe("run of a scenario", () => {
  const scenario =
    "topology: {builder: star, hosts: 3}\nflows: [{from: 0..1, to: 2, size: 20KB}]\ncontroller: {name: hpcc}\n"

  test("writes flows and a summary, the same twice", async () => {
    const cwd = folderOf({ "incast.yaml": scenario })
    const one = await rdmakit(["run", "incast.yaml", "--out", "one", "--json"], { cwd })
    const two = await rdmakit(["run", "incast.yaml", "--out", "two", "--json"], { cwd })
    expect([one.code, two.code]).toEqual([0, 0])
    const summary = { transport: "rc", controller: "hpcc/paper", flowsTotal: 2, flowsFinished: 2 }
    expect(JSON.parse(one.out)).toMatchObject(summary)
    expect(JSON.parse(one.out).digest).toBe(JSON.parse(two.out).digest)
    expect(readFileSync(join(cwd, "one/flows.csv"))).toEqual(readFileSync(join(cwd, "two/flows.csv")))
    expect(filesIn(cwd)).toContain("one/summary.json")
  })

  test("says which transport carried the flows", async () => {
    const cwd = folderOf({ "incast.yaml": scenario })
    const over = ["--set", "transport.name=tcp", "--set", "controller={ name: newreno }", "--out", "out"]
    const { code, out } = await rdmakit(["run", "incast.yaml", ...over], { cwd })
    expect([
      code,
      out
        .split("\n")
        .find((line) => line.includes("finished"))
        ?.split(":")[0],
    ]).toEqual([0, "tcp, newreno"])
    expect(readFileSync(join(cwd, "out/report.html"), "utf8")).toContain("incast.yaml · tcp · newreno · seed 0")
  })

  test("is refused with its place, and nothing is written", async () => {
    const cwd = folderOf({ "incast.yaml": scenario.replace("controller", "controler") })
    const { code, err } = await rdmakit(["run", "incast.yaml"], { cwd })
    expect(code).toBe(2)
    expect(err).toContain("incast.yaml:3:1: controler: found")
    expect(err).toContain("did you mean controller?")
    expect(filesIn(cwd)).toEqual(["incast.yaml"])
  })
})
