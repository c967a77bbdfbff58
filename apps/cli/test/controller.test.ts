import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { newerNode } from "../src/NewerNode.ts"
import { filesIn, folderOf, rdmakit, shell } from "./rdmakit.ts"

/** The module of the README. */
const example = /^```ts\n(\/\/ mine\.ts\n.*?)^```$/ms.exec(
  readFileSync(new URL("../README.md", import.meta.url), "utf8"),
)![1]!

const scenario =
  "topology: {builder: star, hosts: 3}\nflows: [{from: 0..1, to: 2, size: 20KB}]\ncontroller: {name: hpcc}\n"

/** A module whose controllers are what a test says, steady at line rate otherwise. */
const module = (body: string, needs = '["rtt"]') => `export default {
  name: "mine",
  needs: ${needs},
  make: (now, path) => ({
    window: Infinity,
    rate: path.lineRateBps,
    nextTimer: Infinity,
    onSent() {},
    onAck: () => false,
    onCnp: () => false,
    onLoss: () => false,
    onTimer: () => false,
    metrics: () => ({}),
    ${body}
  }),
}
`

const ran = (file: string, text: string, args: ReadonlyArray<string> = []) => {
  const cwd = folderOf({ "incast.yaml": scenario, [file]: text })
  return { cwd, done: rdmakit(["run", "incast.yaml", "--controller", `./${file}`, "--json", ...args], { cwd }) }
}

describe("a module that never gives its controller", () => {
  const inIt = async (text: string, command: string) => {
    const cwd = folderOf({ "incast.yaml": scenario, "mine.mjs": text })
    const { code, err } = await shell(`rdmakit ${command} --out out`, {}, cwd)
    return { code, err, written: existsSync(join(cwd, "out")) }
  }

  test.each([
    ["await new Promise(() => {})", "run incast.yaml --controller ./mine.mjs"],
    ["await new Promise(() => {})", "sweep incast.yaml --vary flows.0.size=1KB --controller ./mine.mjs"],
  ])("waits for ever: %s", async (text, command) => {
    const err = "error: ./mine.mjs: its top level waits for something that never comes\n"
    expect(await inIt(text, command)).toMatchObject({ code: 2, err: expect.stringContaining(err), written: false })
  })

  test.each([["process.exit(0)"], [module("...process.exit(0),")]])("ends the process: %j", async (text) => {
    const err = "error: ./mine.mjs: it ended the process: a controller must not\n"
    expect(await inIt(text, "run incast.yaml --controller ./mine.mjs")).toEqual({ code: 2, err, written: false })
  })
})

describe("run --controller", () => {
  test("the README's example, with options, on a scenario", async () => {
    const digests: Array<string> = []
    for (const args of [[], ["--option", "share=0.01"], ["--option", "share=0.9"]]) {
      const { code, out } = await ran("mine.ts", example, ["--set", "flows.0.size=1MB", ...args]).done
      expect(code).toBe(0)
      expect(JSON.parse(out)).toMatchObject({ controller: "careful", flowsFinished: 2 })
      expect(JSON.parse(out).controllerActions).toBeGreaterThan(0)
      digests.push(JSON.parse(out).digest)
    }
    expect(digests[1]).toBe(digests[0])
    expect(digests[2]).not.toBe(digests[0])
  })

  test("on a config of the HPCC simulator, from any folder", async () => {
    const cwd = folderOf({ "deep/mine.ts": example })
    const args = ["run", "incast16/hpcc.config.txt", "--controller", join(cwd, "deep/mine.ts")]
    const { code, out } = await rdmakit([...args, "--out", join(cwd, "out"), "--json"])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ controller: "careful", flowsFinished: 16 })
  })

  test.each(["mine.mjs", "mine.js"])("a factory as default export of %s", async (file) => {
    const { code, out } = await ran(file, module("")).done
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ controller: "mine" })
  })

  test("a controller that gets INT on a config of another mode", async () => {
    const text = module("onAck(now, ack) { if (ack.hops !== 1) throw new Error('hops'); return true },", '["int"]')
    const cwd = folderOf({ "mine.mjs": text })
    const args = ["run", "tiny/timely.config.txt", "--controller", join(cwd, "mine.mjs"), "--out", join(cwd, "out")]
    expect((await rdmakit(args)).code).toBe(0)
  })

  test("TypeScript on a Node that does not run it: the clone's own is named", async () => {
    const cwd = folderOf({ "mine.ts": module(""), "incast.yaml": scenario })
    const had = Object.getOwnPropertyDescriptor(process.features, "typescript")!
    Object.defineProperty(process.features, "typescript", { ...had, get: () => false })
    const { code, err } = await rdmakit(["run", "incast.yaml", "--controller", "./mine.ts"], { cwd })
    Object.defineProperty(process.features, "typescript", had)
    expect(code).toBe(2)
    expect(err).toMatch(/^error: \.\/mine\.ts: this Node, v\S+, does not run TypeScript\n/)
    expect(err).toMatch(/\nrun the command with Node 22\.18 or later\b.*; or write the module as \.mjs\n$/)

    const clone = folderOf({ "clone/node_modules/.bin/node": "", "clone/apps/cli/dist/main.js": "" })
    const node = join(clone, "clone/node_modules/.bin/node")
    const below = join(clone, "clone/apps/cli/dist")
    expect(newerNode("22.18", below, clone)).toBe("run the command with Node 22.18 or later")
    chmodSync(node, 0o755)
    expect(newerNode("22.18", below, join(clone, "clone"))).toBe(
      "run the command with Node 22.18 or later, as is node_modules/.bin/node",
    )
    expect(newerNode("22.18", below, "/")).toBe(`run the command with Node 22.18 or later, as is ${node.slice(1)}`)
    // The Node that runs is none that is newer.
    rmSync(node)
    symlinkSync(process.execPath, node)
    expect(newerNode("22.18", below, clone)).toBe("run the command with Node 22.18 or later")
  })

  test.each<readonly [string, string, string, string]>([
    ["nothing there", "other.mjs", "", "./mine.mjs: found nothing, expected a module\n"],
    ["another kind of file", "mine.py", "", "./mine.py: found another kind of file, expected .ts, .mts, .js or .mjs"],
    ["no exports", "mine.mjs", "const x = 1", "./mine.mjs: found no exports, expected a controller\nexport default {"],
    ["other exports", "mine.mjs", "export const a = 1", "./mine.mjs: found the exports a, expected a controller"],
    ["no needs", "mine.mjs", module("", "undefined"), "./mine.mjs: needs: found nothing, expected a list of rtt, ecn"],
    [
      "an unknown need",
      "mine.mjs",
      module("", '["rrt"]'),
      './mine.mjs: needs: found "rrt", expected rtt, ecn, cnp, int, pint\ndid you mean rtt?',
    ],
    [
      "an options function that throws",
      "mine.mjs",
      "export const make = () => { throw new Error('no') }",
      "no (mine.mjs:1:",
    ],
    [
      "an options function without a result",
      "mine.mjs",
      "export default () => 5",
      "default(options) returned 5, expected {",
    ],
    [
      "make that throws",
      "mine.mjs",
      'export default {\n  name: "a", needs: [],\n  make() { null.x }\n}',
      "./mine.mjs: controller of flow 0, at 0 us: make threw TypeError: Cannot read properties of null (reading 'x') (mine.mjs:3:",
    ],
    [
      "a callback that throws",
      "mine.mjs",
      module("onAck() { none() },"),
      "onAck threw ReferenceError: none is not defined (mine.mjs:14:",
    ],
    ["a controller without callbacks", "mine.mjs", module("onLoss: 1,"), "it has no onLoss, expected a function"],
    ["rate NaN", "mine.mjs", module("rate: NaN,"), "its rate is NaN bit/s, expected a finite number above 0"],
    ["rate NaN later", "mine.mjs", module("onAck() { this.rate = NaN; return false },"), "its rate is NaN bit/s"],
    ["rate 0", "mine.mjs", module("onAck() { this.rate = 0; return true },"), "its rate is 0 bit/s, expected a finite"],
    [
      "window 0",
      "mine.mjs",
      module("onAck() { this.window = 0; return true },"),
      "its window is 0 bytes, expected at least 1",
    ],
    ["no answer", "mine.mjs", module("onAck() {},"), "onAck returned nothing, expected true when it set rate"],
    ["a timer NaN", "mine.mjs", module("nextTimer: NaN,"), "its nextTimer is NaN ps, expected a time, or Infinity"],
    [
      "a timer without end",
      "mine.mjs",
      module("nextTimer: now,"),
      "its timer fired 1000 times within 0 ps, expected a timer",
    ],
    [
      "a timer that crawls",
      "mine.mjs",
      module("nextTimer: now, onTimer(now) { this.nextTimer = now + 1; return true },"),
      "its timer fired 1000 times within 999 ps, expected a timer that is set to a later time",
    ],
  ])("refuses %s, and writes nothing", async (_, file, text, message) => {
    const named = file === "other.mjs" ? "mine.mjs" : file
    const cwd = folderOf({ "incast.yaml": scenario, [file]: text })
    const before = filesIn(cwd)
    const { code, out, err } = await rdmakit(["run", "incast.yaml", "--controller", `./${named}`], { cwd })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
    expect(filesIn(cwd)).toEqual(before)
  })

  test("lint looks at the module as run does", async () => {
    const cwd = folderOf({ "incast.yaml": scenario, "mine.ts": example, "bad.mjs": module("", '["x"]') })
    const good = await rdmakit(["lint", "incast.yaml", "--controller", "mine.ts"], { cwd })
    expect([good.code, good.out]).toEqual([
      0,
      "ok incast.yaml: careful, 3 hosts, 1 switch, 2 flows of 40.0 kB; 0 warnings, 0 notes\n",
    ])
    const bad = await rdmakit(["lint", "incast.yaml", "--controller", "bad.mjs"], { cwd })
    expect([bad.code, bad.err]).toEqual([2, 'error: bad.mjs: needs: found "x", expected rtt, ecn, cnp, int, pint\n'])
  })

  test("refuses options without a module, and such as are none", async () => {
    const alone = await rdmakit(["run", "tiny/hpcc.config.txt", "--option", "a=1"])
    expect([alone.code, alone.err]).toEqual([2, 'error: --option: found "a=1", expected --controller beside it\n'])
    const { code, err } = await ran("mine.ts", example, ["--option", "share"]).done
    expect([code, err]).toEqual([2, 'error: --option: found "share", expected KEY=VALUE, such as gain=0.5\n'])
  })
})

describe("--option", () => {
  test("refuses __proto__", async () => {
    const { code, out, err } = await ran("mine.ts", example, ["--option", "__proto__=1"]).done
    expect({ code, err }).toEqual({
      code: 2,
      err: "error: --option: found the key __proto__, expected the name of an option\n",
    })
    expect(JSON.parse(out).ok).toBe(false)
  })

  test.each(["constructor", "__proto__", "toString"])("%s is a value like any other text", async (value) => {
    const told = "export default (options) => { throw new Error(JSON.stringify(options)) }"
    const { err } = await ran("mine.mjs", told, ["--option", `a=${value}`, "--option", "b=true"]).done
    expect(err).toContain(`Error: {"a":"${value}","b":true} (mine.mjs:1:`)
  })
})

describe("the program, of a module", () => {
  const cases: ReadonlyArray<readonly [string, string, string]> = [
    ["runs TypeScript", "good.ts", example],
    ["tells the line of wrong TypeScript", "a.ts", 'const a: number = 1\nexport default { name: "x" needs }\n'],
    ["tells the line of wrong JavaScript", "b.mjs", "export default {\n  name: 1,,\n}\n"],
    ["tells what cannot be stripped", "c.ts", "\nenum A { B }\nexport default A\n"],
    ["tells what cannot be imported", "d.mjs", 'import "@rdmakit/protocol"\nexport default {}\n'],
    ["tells where it throws", "e.mjs", "\n\nnull.x\n"],
  ]
  const expected = [
    "0",
    "2 error: ./a.ts:2: Expected ',', got 'ident'",
    "2 error: ./b.mjs:2: Unexpected token ','",
    "2 error: ./c.ts:2: TypeScript enum is not supported in strip-only mode",
    "2 error: ./d.mjs: Cannot find package '@rdmakit/protocol' imported from ",
    "2 error: ./e.mjs:3:6: threw TypeError: Cannot read properties of null (reading 'x') when it was loaded",
  ]
  test("runs TypeScript; tells the line of what is wrong", async () => {
    const cwd = folderOf({
      "incast.yaml": scenario,
      ...Object.fromEntries(cases.map(([, file, text]) => [file, text])),
    })
    for (const [index, [, file]] of cases.entries()) {
      const { code, err } = await shell(`rdmakit run incast.yaml --controller ./${file} --out out${index}`, {}, cwd)
      expect(`${code} ${err}`.trim()).toContain(expected[index])
      expect(existsSync(join(cwd, `out${index}`))).toBe(code === 0)
    }
  }, 60_000)
})

describe("what a controller throws outside its callbacks", () => {
  const thrown = (how: string) => module(`onAck() { ${how}; return false },`)
  test.each([
    ["in a promise", 'Promise.reject(new Error("late"))'],
    ["in a timer", 'setImmediate(() => { throw new Error("late") })'],
  ])(
    "%s: refused with its place, and nothing is left",
    async (_, how) => {
      const cwd = folderOf({ "incast.yaml": scenario.replace("20KB", "20MB"), "mine.mjs": thrown(how) })
      for (const command of ["run", "sweep"]) {
        const { code, err } = await shell(
          `rdmakit ${command} incast.yaml --controller ./mine.mjs --out ${command}`,
          {},
          cwd,
        )
        expect(err).toMatch(/^error: \.\/mine\.mjs:\d+:\d+: threw Error: late, and nobody waits for it$/m)
        expect(code).toBe(2)
      }
      expect(
        filesIn(cwd)
          .filter((name) => !name.startsWith("sweep/"))
          .toSorted(),
      ).toEqual(["incast.yaml", "mine.mjs"])
    },
    60_000,
  )
})
