import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { plannedRuns, probes, VaryFault, variedKeys } from "../src/sweep/Vary.ts"
import { filesIn, folderOf, rdmakit, shell, shellCommand } from "./rdmakit.ts"

const scenario = `topology: { builder: star, hosts: 5 }
flows: { workload: poisson, load: 0.5, sizes: FB_Hadoop, duration: 50us }
controller: { name: hpcc }
`
const folder = (changes: Readonly<Record<string, string>> = {}) => folderOf({ "incast.yaml": scenario, ...changes })
const varied = ["sweep", "incast.yaml", "--vary", "controller.name=hpcc,timely", "--seeds", "2"]

/** Every file of a folder with its text. */
const treeOf = (root: string) =>
  Object.fromEntries(filesIn(root).map((name) => [name, readFileSync(join(root, name), "utf8")]))

const rowsOf = (text: string): ReadonlyArray<Readonly<Record<string, string>>> => {
  const [head, ...rows] = text.trimEnd().split("\n")
  const names = head!.split(",")
  return rows.map((row) => Object.fromEntries(row.split(",").map((value, i) => [names[i]!, value])))
}

describe("the runs of a sweep", () => {
  test("are the cross product of values and seeds, the seed going fastest", () => {
    const keys = variedKeys(["a=1,2", 'b=[3,4],{x: 1, y: 2},"5,6"'])
    if (keys instanceof VaryFault) throw new Error(keys.message)
    expect(keys[1]!.values).toEqual(["[3,4]", "{x: 1, y: 2}", '"5,6"'])
    const runs = plannedRuns(keys, 2)
    expect(runs.length).toBe(12)
    expect(runs.slice(0, 3)).toEqual([
      { index: 0, combination: 0, values: ["1", "[3,4]"], seed: 0 },
      { index: 1, combination: 0, values: ["1", "[3,4]"], seed: 1 },
      { index: 2, combination: 1, values: ["1", "{x: 1, y: 2}"], seed: 0 },
    ])
    expect(runs[11]).toEqual({ index: 11, combination: 5, values: ["2", '"5,6"'], seed: 1 })
    expect(probes(keys)).toEqual([
      ["1", "[3,4]"],
      ["2", "[3,4]"],
      ["1", "{x: 1, y: 2}"],
      ["1", '"5,6"'],
    ])
  })

  test.each([
    ["a", '--vary: found "a", expected KEY=VALUE'],
    ["=1", '--vary: found "=1", expected KEY=VALUE'],
    ["a=1,,2", "--vary: a: found an empty value"],
    ["a=1,2,1", "--vary: a: found 1 twice"],
    ["seed=1,2", "--vary: found seed, expected another key; --seeds"],
  ])("%s is refused", (text, message) => {
    const fault = variedKeys([text])
    expect((fault as VaryFault).message).toContain(message)
  })
})

describe("sweep", () => {
  test("the same octets with one worker and with three, and the digests of single runs", async () => {
    const cwd = folder()
    const one = await rdmakit([...varied, "--out", "one", "--jobs", "1"], { cwd })
    const three = await rdmakit([...varied, "--out", "three", "--jobs", "3", "--json"], { cwd })
    expect([one.code, three.code, one.err]).toEqual([0, 0, ""])
    expect(treeOf(join(cwd, "one"))).toEqual(treeOf(join(cwd, "three")))
    expect(filesIn(join(cwd, "one"))).toEqual([
      "aggregate.csv",
      ...["runs.csv", "runs/000000.json", "runs/000001.json", "runs/000002.json", "runs/000003.json", "sweep.json"],
    ])
    const rows = rowsOf(readFileSync(join(cwd, "one/runs.csv"), "utf8"))
    expect(rows.map((row) => [row["controller.name"], row.seed])).toEqual([
      ...[
        ["hpcc", "0"],
        ["hpcc", "1"],
        ["timely", "0"],
        ["timely", "1"],
      ],
    ])
    for (const row of rows) {
      const args = ["run", "incast.yaml", "--set", `controller.name=${row["controller.name"]}`, "--seed", row.seed!]
      const { out } = await rdmakit([...args, "--json", "--no-report"], { cwd })
      const { digest, flowsTotal, slowdown, pfcPauses } = JSON.parse(out)
      expect(row.digest).toBe(digest)
      expect([row.flows, row.pfc_pauses].map(Number)).toEqual([flowsTotal, pfcPauses])
      expect(Number(row.slowdown_p99)).toBe(slowdown.at(-1).p99)
    }
    // Of two values the half width is 12.706 times half their distance.
    const [first, second] = rows.map((row) => Number(row.slowdown_mean))
    const { aggregate } = JSON.parse(three.out)
    expect(aggregate[0].values).toEqual({ "controller.name": "hpcc" })
    expect(aggregate[0].figures.slowdown_mean.mean).toBeCloseTo((first! + second!) / 2, 12)
    expect(aggregate[0].figures.slowdown_mean.ci95).toBeCloseTo((12.706 * Math.abs(first! - second!)) / 2, 9)
    expect(one.out).toContain("Slowdown, mean over 2 runs ± 95 % confidence\ncontroller.name  runs ")
    expect(one.out).toContain("\n4 runs: 4 finished\nresults in one\n")
  }, 60_000)

  test("a config of the HPCC simulator; a note when seeds change nothing", async () => {
    const out = join(folderOf({}), "out")
    const args = ["sweep", "incast16/hpcc.config.txt", "--vary", "CC_MODE=3,7", "--seeds", "2", "--out", out]
    const { code, out: text } = await rdmakit(args)
    expect(code).toBe(0)
    expect(text).toContain("note: every seed gave the same: nothing in this input is drawn")
    const rows = rowsOf(readFileSync(join(out, "runs.csv"), "utf8"))
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(2)
  }, 60_000)

  test("options of a controller of one's own; a run that fails is told of, the others go on", async () => {
    const mine = `export const make = ({ rate }) => ({
  name: "mine", needs: [],
  make: (now, path) => ({
    window: Infinity, rate: path.lineRateBps * rate, nextTimer: Infinity, onSent() {}, onAck: () => false,
    onCnp: () => false, onLoss: () => false, onTimer: () => false, metrics: () => ({}),
  }),
})
`
    const cwd = folder({ "mine.mjs": mine })
    const args = ["sweep", "incast.yaml", "--controller", "./mine.mjs", "--vary", "option.rate=1,0.5,0", "--out", "out"]
    const { code, out, err } = await rdmakit(args, { cwd })
    expect(code).toBe(1)
    expect(out).toContain("3 runs: 2 finished, 1 failed")
    expect(err).toMatch(/^failed run 2 \(option\.rate=0, seed 0\): controller of flow 0, at .* its rate is 0 bit\/s/m)
    const rows = rowsOf(readFileSync(join(cwd, "out/runs.csv"), "utf8").replaceAll(/"[^"\n]*"/g, "reason"))
    expect(rows.map(({ status }) => status)).toEqual(["finished", "finished", "failed"])
    expect(Number(rows[1]!.fct_mean_us)).toBeGreaterThan(Number(rows[0]!.fct_mean_us))
  }, 60_000)
})

test("a controller that ends its process fails its run, which is named; the others go on", async () => {
  const mine = `export default {
  name: "mine", needs: [],
  make(now, path) {
    if (path.seed === 1) process.exit(3)
    return {
      window: Infinity, rate: path.lineRateBps, nextTimer: Infinity, onSent() {}, onAck: () => false,
      onCnp: () => false, onLoss: () => false, onTimer: () => false, metrics: () => ({}),
    }
  },
}
`
  const cwd = folder({ "mine.mjs": mine })
  const args = ["sweep", "incast.yaml", "--controller", "./mine.mjs", "--seeds", "3", "--jobs", "1", "--out", "out"]
  const { code, out, err } = await rdmakit(args, { cwd })
  expect([code, err]).toEqual([1, "failed run 1 (seed 1): the controller ended its process with code 3: it must not\n"])
  expect(out).toContain("3 runs: 2 finished, 1 failed")
  const rows = rowsOf(readFileSync(join(cwd, "out/runs.csv"), "utf8"))
  expect(rows.map(({ status }) => status)).toEqual(["finished", "failed", "finished"])
}, 60_000)

test("a controller of one's own is swept beside those by name, and its file is watched", async () => {
  const mine = `export default { name: "mine", needs: [], make: (now, path) => ({
    window: Infinity, rate: path.lineRateBps / 4, nextTimer: Infinity, onSent() {}, onAck: () => false,
    onCnp: () => false, onLoss: () => false, onTimer: () => false, metrics: () => ({}),
  }) }
`
  const cwd = folder({ "mine.mjs": mine })
  const args = ["sweep", "incast.yaml", "--vary", "controller.name=./mine.mjs,hpcc", "--jobs", "1", "--out", "out"]
  const { code, out } = await rdmakit(args, { cwd })
  expect(code).toBe(0)
  expect(out).toContain("2 runs: 2 finished")
  const rows = rowsOf(readFileSync(join(cwd, "out/runs.csv"), "utf8"))
  expect(rows.map((row) => row["controller.name"])).toEqual(["./mine.mjs", "hpcc"])
  expect(Number(rows[0]!.fct_mean_us)).toBeGreaterThan(Number(rows[1]!.fct_mean_us))
  const { inputs } = JSON.parse(readFileSync(join(cwd, "out/sweep.json"), "utf8"))
  expect(Object.keys(inputs)).toEqual(["incast.yaml", "mine.mjs"])
  const { err } = await rdmakit(["lint", "incast.yaml", "--set", "controller.name=./mine.mjs"], { cwd })
  expect(err).toContain("a module of one's own is named by --controller, or in a sweep by --vary controller.name=")
  const compared = await rdmakit(["compare", "out", "out"], { cwd })
  expect(compared.err).toContain("a sweep's folder holds runs, which its runs.csv has side by side")
}, 60_000)

test("warns of what any value brings about", async () => {
  const cwd = folder()
  const args = ["sweep", "incast.yaml", "--vary", "transport.name=rc,srd", "--jobs", "1", "--out", "out"]
  const { err } = await rdmakit(args, { cwd })
  expect(err).toMatch(
    /^incast\.yaml:3:13: warning: controller hpcc\/paper needs int, which packets of srd do not carry/,
  )
}, 60_000)

describe("sweep --resume", () => {
  test("does the rest, not what is complete, and gives the same octets", async () => {
    const cwd = folder()
    await rdmakit([...varied, "--out", "whole"], { cwd })
    await rdmakit([...varied, "--out", "part"], { cwd })
    const run = (index: number) => join(cwd, `part/runs/00000${index}.json`)
    const before = statSync(run(0), { bigint: true })
    rmSync(run(1))
    writeFileSync(run(2), readFileSync(run(2), "utf8").slice(0, 50))
    rmSync(join(cwd, "part/runs.csv"))
    writeFileSync(join(cwd, "part/runs/.000003.json-1-unfinished"), "{")
    const { code, out } = await rdmakit([...varied, "--out", "part", "--resume"], { cwd })
    expect(code).toBe(0)
    expect(out).toContain("4 runs: 4 finished, 2 of them before\n")
    expect(treeOf(join(cwd, "part"))).toEqual(treeOf(join(cwd, "whole")))
    const after = statSync(run(0), { bigint: true })
    expect([after.ino, after.mtimeNs]).toEqual([before.ino, before.mtimeNs])
    // With nothing left to do it says the same again.
    expect((await rdmakit([...varied, "--out", "part", "--resume"], { cwd })).out).toContain("4 of them before")
  }, 60_000)

  test("after Ctrl-C", async () => {
    const cwd = folder()
    const many = [...varied.slice(0, -1), "6", "--jobs", "1", "--out"]
    await rdmakit([...many, "whole"], { cwd })
    // The progress of a terminal appears while it goes on.
    const watch = (text: string, signal: () => boolean) => {
      if (/[1-9]\d* of 12 runs/.test(text)) signal()
    }
    const stopped = await rdmakit([...many, "part"], { cwd, terminal: true, watch })
    expect(stopped.code).toBe(130)
    expect(stopped.out).toMatch(/stopped by Ctrl-C: \d+ of 12 runs complete, in part: --resume goes on/)
    const left = filesIn(join(cwd, "part"))
    expect(left).not.toContain("runs.csv")
    expect(left.filter((name) => name.includes("unfinished"))).toEqual([])
    expect((await rdmakit([...many, "part", "--resume"], { cwd })).code).toBe(0)
    expect(treeOf(join(cwd, "part"))).toEqual(treeOf(join(cwd, "whole")))
  }, 60_000)

  test("after kill -9", async () => {
    const cwd = folder()
    const many = [...varied.slice(0, -1), "5", "--jobs", "2", "--out"]
    const line = `${shellCommand} ${many.join(" ")} part & child=$!
      until ls part/runs 2>/dev/null | grep -q json || ! kill -0 $child; do sleep 0.02; done; kill -9 $child; wait $child; echo $?`
    const { out, err } = await shell(line, {}, cwd)
    expect(out, err).toContain("137")
    for (const name of readdirSync(join(cwd, "part/runs")).filter((name) => !name.startsWith("."))) {
      expect(JSON.parse(readFileSync(join(cwd, "part/runs", name), "utf8"))).toMatchObject({ status: "finished" })
    }
    expect((await rdmakit([...many, "part", "--resume"], { cwd })).code).toBe(0)
    expect((await rdmakit([...many, "whole"], { cwd })).code).toBe(0)
    expect(treeOf(join(cwd, "part"))).toEqual(treeOf(join(cwd, "whole")))
  }, 60_000)

  test("of another sweep, or of one whose input has changed, is refused", async () => {
    const cwd = folder()
    await rdmakit([...varied, "--out", "out"], { cwd })
    const again = await rdmakit([...varied, "--out", "out"], { cwd })
    expect([again.code, again.err]).toEqual([
      2,
      "error: out: found a sweep, expected none\n--resume goes on with it, --force begins anew; or choose another folder with --out DIR\n",
    ])
    const other = await rdmakit([...varied.slice(0, -1), "3", "--out", "out", "--resume"], { cwd })
    expect(other.err).toContain("error: out: holds another sweep: seeds: found 2, expected 3")
    writeFileSync(join(cwd, "incast.yaml"), scenario.replace("50us", "40us"))
    const changed = await rdmakit([...varied, "--out", "out", "--resume"], { cwd })
    expect(changed.err).toContain("out: holds another sweep: incast.yaml has changed since the sweep began\n")
    expect([other.code, changed.code]).toEqual([2, 2])
    expect((await rdmakit([...varied, "--out", "out", "--force"], { cwd })).code).toBe(0)
    expect((await rdmakit([...varied, "--out", "new"], { cwd })).code).toBe(0)
    expect(treeOf(join(cwd, "out"))).toEqual(treeOf(join(cwd, "new")))
  }, 60_000)
})

describe("sweep --resume, of a folder whose sweep.json is something else", () => {
  test.each(["null", "5", '"text"', "[]", "{", ""])("refuses %s", async (text) => {
    const cwd = folder()
    mkdirSync(join(cwd, "out"))
    writeFileSync(join(cwd, "out/sweep.json"), text)
    const { code, err } = await rdmakit([...varied, "--out", "out", "--resume"], { cwd })
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining("error: out: holds another sweep: sweep.json cannot be read\n"),
    })
    expect(filesIn(join(cwd, "out"))).toEqual(["sweep.json"])
  })
})

describe("sweep --resume, of a folder of which something cannot be looked at", () => {
  test.each<readonly [string, (entry: string) => void, string]>([
    ["runs/000001.json", (entry) => mkdirSync(entry), "out/runs/000001.json: cannot be written to: it is a folder"],
    [
      "runs.csv",
      (entry) => symlinkSync("runs.csv", entry),
      "out/runs.csv: cannot be written to: its symbolic links lead back to themselves",
    ],
  ])(
    "refuses %s, and runs nothing again",
    async (name, replaceBy, message) => {
      const cwd = folder()
      expect((await rdmakit([...varied, "--out", "out"], { cwd })).code).toBe(0)
      const entry = join(cwd, "out", name)
      rmSync(entry)
      // No record of a run: it would be made again.
      writeFileSync(join(cwd, "out/runs/000002.json"), "{}")
      replaceBy(entry)
      const { code, out, err } = await rdmakit([...varied, "--out", "out", "--resume"], { cwd })
      expect({ code, out }).toEqual({ code: 2, out: "" })
      expect(err).toContain(`error: ${message}\n`)
      expect(readFileSync(join(cwd, "out/runs/000002.json"), "utf8")).toBe("{}")
    },
    60_000,
  )
})

describe("sweep refuses, with exit code 2 and nothing written", () => {
  test.each<readonly [ReadonlyArray<string>, string]>([
    [["--vary", "controller.nam=hpcc"], 'error: --vary: controller.nam: found "nam", expected name, preset'],
    [
      ["--vary", "controller.name=hpcc,timly"],
      'error: --vary: controller.name: found "timly", expected cubic or newreno or dcqcn',
    ],
    [["--vary", "switch.buffer=32MiB,big"], 'error: --vary: switch.buffer: found "big", expected a size below 2GiB'],
    [["--vary", "flows.load=0.1", "--set", "switch.bufer=1"], 'error: --set: switch.bufer: found "bufer"'],
    [["--vary", "name=[1"], "error: --vary: override: found"],
    [["--vary", "a"], 'error: --vary: found "a", expected KEY=VALUE,VALUE'],
    [["--seeds", "0"], 'Invalid value for flag --seeds: "0". Expected: a whole number 1..100000'],
    [["--jobs", "0"], 'Invalid value for flag --jobs: "0". Expected: a whole number 1..1024'],
    [["--seeds", "60000", "--vary", "name=a,b"], "error: found 120,000 runs, expected at most 100,000"],
    [["--controller", "./none.mjs"], "error: ./none.mjs: found nothing, expected a module"],
    [
      ["--controller", "./mine.mjs", "--vary", "controller.name=hpcc,timely"],
      "error: --vary: found controller.name beside --controller, which takes its place\nvary option.KEY",
    ],
    [["--out", "incast.yaml"], "error: incast.yaml: found a file, expected a folder or nothing"],
    [["--out", "link"], "error: link: found a symbolic link to nothing (gone), expected a folder or nothing"],
    [["--out", "full"], "error: full: found a folder with other things (a), expected none, an empty one or a sweep"],
    [["--out", "loop"], "error: loop: cannot be written to: its symbolic links lead back to themselves"],
    [["--out", "odd"], "error: odd/runs.csv: found no file, expected a file"],
  ])("%j", async (args, message) => {
    const cwd = folder({ "full/a": "", "odd/runs.csv/a": "" })
    symlinkSync("gone", join(cwd, "link"))
    symlinkSync("loop", join(cwd, "loop"))
    const before = filesIn(cwd)
    const { code, out, err } = await rdmakit(["sweep", "incast.yaml", ...args], { cwd })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
    expect(filesIn(cwd)).toEqual(before)
    expect(existsSync(join(cwd, "incast.sweep"))).toBe(false)
  })

  test("standard input", async () => {
    const { code, err } = await rdmakit(["sweep", "-"])
    expect([code, err]).toEqual([
      2,
      "error: a sweep cannot read standard input: name a file\neach run reads its input for itself\n",
    ])
  })
})
