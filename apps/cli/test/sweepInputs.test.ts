import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { filesIn, folderOf, rdmakit } from "./rdmakit.ts"

const scenario = (flows: string) => `topology: { builder: star, hosts: 4 }
flows: ${flows}
`
const flowsOf = (bytes: number) => `1\n0 2 3 100 ${bytes} 0\n`
const ofFile = ["sweep", "net.yaml", "--seeds", "300", "--jobs", "1", "--out", "out"]
const netFolder = () => folderOf({ "net.yaml": scenario("{ file: c.txt }"), "c.txt": flowsOf(50_000) })

/** A sweep whose inputs are changed when some of its runs are made. */
const sweptWhile = (cwd: string, change: () => void) => {
  let isChanged = false
  const watch = (text: string) => {
    if (isChanged || !/[1-9]\d* of 300 runs/.test(text)) return
    isChanged = true
    change()
  }
  return rdmakit(ofFile, { cwd, terminal: true, watch })
}

const runsIn = (folder: string) => filesIn(join(folder, "runs")).map((name) => readFileSync(join(folder, "runs", name)))

describe("a file that changes while a sweep runs ends it, and what is complete stays", () => {
  test.each<readonly [string, string, (cwd: string) => void]>([
    ["a named file", "c.txt", (cwd) => writeFileSync(join(cwd, "c.txt"), flowsOf(5_000))],
    ["a named file, to nonsense", "c.txt", (cwd) => writeFileSync(join(cwd, "c.txt"), "x")],
    ["a named file, gone", "c.txt", (cwd) => rmSync(join(cwd, "c.txt"))],
    ["the input", "net.yaml", (cwd) => writeFileSync(join(cwd, "net.yaml"), scenario("[]"))],
  ])(
    "%s",
    async (_, file, change) => {
      const cwd = netFolder()
      const { code, out, err } = await sweptWhile(cwd, () => change(cwd))
      expect([code, out]).toEqual([2, ""])
      expect(err).toMatch(new RegExp(`${file} has changed since the sweep began`))
      expect(err).toMatch(/\d+ of 300 runs complete, in out: with the file as it was --resume goes on/)
      const kept = filesIn(join(cwd, "out"))
      expect(kept).not.toContain("aggregate.csv")
      const made = kept.filter((name) => name.startsWith("runs/")).length
      expect(made).toBeGreaterThan(0)
      expect(made).toBeLessThan(300)
      // Nothing is drawn: every run is the same, seed and number aside.
      const digests = runsIn(join(cwd, "out")).map((text) => JSON.parse(String(text)).digest)
      expect(new Set(digests).size).toBe(1)
    },
    60_000,
  )

  test("--resume goes on when it is as it was, and not before", async () => {
    const cwd = netFolder()
    const change = () => writeFileSync(join(cwd, "c.txt"), flowsOf(5_000))
    expect((await sweptWhile(cwd, change)).code).toBe(2)
    const changed = await rdmakit([...ofFile, "--resume"], { cwd })
    expect([changed.code, changed.err.split("\n")[0]]).toEqual([
      2,
      "error: out: holds another sweep: c.txt has changed since the sweep began",
    ])
    writeFileSync(join(cwd, "c.txt"), flowsOf(50_000))
    const rest = await rdmakit([...ofFile, "--resume"], { cwd })
    expect(rest.code).toBe(0)
    expect(rest.out).toMatch(/300 runs: 300 finished, \d+ of them before\n/)
    expect(new Set(runsIn(join(cwd, "out")).map((text) => JSON.parse(String(text)).digest)).size).toBe(1)
  }, 60_000)
})

describe("sweep --resume", () => {
  const varied = ["sweep", "net.yaml", "--vary", "flows.file=a.txt,b.txt", "--out", "out"]
  const files = { "net.yaml": scenario("{ file: a.txt }"), "a.txt": flowsOf(50_000), "b.txt": flowsOf(5_000) }

  test("refuses files that have changed places", async () => {
    const cwd = folderOf(files)
    expect((await rdmakit(varied, { cwd })).code).toBe(0)
    const { inputs } = JSON.parse(readFileSync(join(cwd, "out/sweep.json"), "utf8"))
    expect(Object.keys(inputs)).toEqual(["a.txt", "b.txt", "net.yaml"])
    writeFileSync(join(cwd, "a.txt"), files["b.txt"])
    writeFileSync(join(cwd, "b.txt"), files["a.txt"])
    const { code, err } = await rdmakit([...varied, "--resume"], { cwd })
    expect([code, err]).toEqual([
      2,
      expect.stringContaining("error: out: holds another sweep: a.txt has changed since the sweep began\n"),
    ])
  }, 60_000)

  test("refuses a folder whose files have no names", async () => {
    const cwd = folderOf(files)
    await rdmakit(varied, { cwd })
    const manifest = join(cwd, "out/sweep.json")
    const { inputs, ...rest } = JSON.parse(readFileSync(manifest, "utf8"))
    writeFileSync(manifest, JSON.stringify({ ...rest, inputs: Object.values(inputs).sort() }))
    const { code, err } = await rdmakit([...varied, "--resume"], { cwd })
    expect([code, err]).toEqual([2, expect.stringContaining("holds another sweep: sweep.json is written otherwise\n")])
  }, 60_000)
})

describe("files that only values that come together name", () => {
  const pair = ["--vary", "ENABLE_TRACE=0,1", "--vary", "TRACE_FILE=t0.txt,t1.txt", "--out", "out"]
  const config = readFileSync(new URL("../../../testdata/ns3/incast16/hpcc.config.txt", import.meta.url), "utf8")
  const input = (name: string) => readFileSync(new URL(`../../../testdata/ns3/incast16/${name}`, import.meta.url))

  test("stand with the run", async () => {
    const named = (key: string) => new RegExp(`^${key} (\\S+)$`, "m").exec(config)![1]!
    const base = (name: string) => name.split("/").at(-1)!
    const cwd = folderOf({
      "net.config.txt": config,
      [named("TOPOLOGY_FILE")]: input(base(named("TOPOLOGY_FILE"))),
      [named("FLOW_FILE")]: input(base(named("FLOW_FILE"))),
      ...{ "t0.txt": "1\n0\n", "t1.txt": "1\n1\n" },
    })
    const line = ["sweep", "net.config.txt", ...pair]
    const first = await rdmakit(line, { cwd })
    expect(first.code, first.err).toBe(0)
    const inputs = runsIn(join(cwd, "out")).map((text) => Object.keys(JSON.parse(String(text)).inputs ?? {}))
    expect(inputs).toEqual([[], [], [], ["t1.txt"]])
  }, 60_000)
})
