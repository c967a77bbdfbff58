import { formatTopology } from "@rdmakit/ns3"
import { hpccFabric } from "@rdmakit/topology"
import { describe, expect, test } from "vitest"
import { filesIn, folderOf, octetsOf, rdmakit, textOf } from "./rdmakit.ts"

/** A folder with the inputs of tiny, some of them changed. */
const tiny = (changes: Readonly<Record<string, string | Uint8Array>> = {}): string =>
  folderOf({
    "config.txt": textOf("tiny/timely.config.txt").replaceAll("tiny/", ""),
    "topology.txt": textOf("tiny/topology.txt"),
    "flow.txt": textOf("tiny/flow.txt"),
    "trace.txt": textOf("tiny/trace.txt"),
    ...changes,
  })
const config = (from: string | RegExp, to: string) => ({
  "config.txt": textOf("tiny/timely.config.txt").replaceAll("tiny/", "").replace(from, to),
})

describe("lint", () => {
  test("folds the keys without effect into one line, as run does", async () => {
    const { code, out } = await rdmakit(["lint", "tiny/hpcc.config.txt"])
    expect(code).toBe(0)
    const [folded, ok, ...rest] = out.trimEnd().split("\n")
    expect(folded).toMatch(
      /^tiny\/hpcc\.config\.txt: warning: 11 keys without effect here, 'rdmakit lint --all' says why: /,
    )
    expect(ok).toMatch(/^ok .*; 11 warnings, 0 notes$/)
    expect(rest).toEqual([])
  })

  test("--all names each key without effect once, and ends with what it is", async () => {
    const { code, out, err } = await rdmakit(["lint", "tiny/hpcc.config.txt", "--all"])
    expect({ code, err }).toEqual({ code: 0, err: "" })
    const lines = out.trimEnd().split("\n")
    expect(lines.at(-1)).toBe(
      "ok tiny/hpcc.config.txt: HPCC, 2 hosts, 1 switch, 1 flow of 5.00 kB; 11 warnings, 0 notes",
    )
    const keys = lines.slice(0, -1).map((line) => / warning: (\w+): no effect/.exec(line)?.[1])
    expect(keys).toContain("RP_TIMER")
    expect(new Set(keys).size).toBe(11)
    expect(lines[1]).toBe(
      "tiny/hpcc.config.txt:16:1: warning: ALPHA_RESUME_INTERVAL: no effect with CC_MODE 3 (HPCC): only for DCQCN",
    )
  })

  test.each(["incast16/hpcc", "incast16/dcqcn", "incast16/timely", "pfcdemo/timely", "tiny/timely"])(
    "accepts %s",
    async (name) => {
      expect((await rdmakit(["lint", `${name}.config.txt`])).code).toBe(0)
    },
  )

  test("accepts the 320-host fabric", async () => {
    const graph = hpccFabric()
    const switches = Array.from(graph.isSwitch.keys()).filter((node) => graph.isSwitch[node] === 1)
    const links = graph.links.map((link) => ({ ...link, line: 0 }))
    const folder = folderOf({
      "config.txt": textOf("fat320-fbhdp/hpcc.config.txt"),
      "topo_fat320.txt": formatTopology({ nodes: graph.nodes, switches, links }),
      "fat320-fbhdp/flow.txt": octetsOf("fat320-fbhdp/flow.txt.gz"),
      "trace_none.txt": "0\n",
    })
    const { code, out } = await rdmakit(["lint", "config.txt", "--json"], { cwd: folder })
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      ...{ file: "config.txt", ok: true, controller: "HPCC" },
      ...{ hosts: 320, switches: 56, links: 480, flows: 7981 },
    })
  })

  test("reads standard input, and applies --set", async () => {
    const { code, out } = await rdmakit(["lint", "-", "--set", "CC_MODE=3"], {
      stdin: textOf("tiny/timely.config.txt"),
    })
    expect(code).toBe(0)
    expect(out).toContain("ok standard input: HPCC, 2 hosts")
  })

  test.each([
    ["# an incast\n---\ntopology: { builder: star, hosts: 3 }\nflows: [{ from: 0..1, to: 2, size: 1KB }]\n"],
    ['{ "topology": { "builder": "star", "hosts": 3 }, "flows": [{ "from": "0..1", "to": 2, "size": 1000 }] }'],
  ])("takes a scenario there for what it is: %j", async (stdin) => {
    const { code, out } = await rdmakit(["lint", "-", "--set", "controller.name=dctcp"], { stdin })
    expect(code).toBe(0)
    expect(out).toContain("ok standard input: dctcp/ns3, 3 hosts, 1 switch, 2 flows")
  })

  test("takes what is neither for a config, however many blank lines it begins with", async () => {
    const { code, err } = await rdmakit(["lint", "-"], { stdin: `${"\n".repeat(4000)}1` })
    expect(code).toBe(2)
    expect(err).toContain('standard input:4001:1: key: found "1", expected a key of the simulator')
  })

  test("notes what it accepts: starts out of order, more flows than announced", async () => {
    const cwd = tiny({ "flow.txt": "2\n0 1 3 100 5000 2.1\n1 0 3 100 5000 2.0\n0 1 3 100 1 2.2\n" })
    const { code, out } = await rdmakit(["lint", "config.txt"], { cwd })
    expect(code).toBe(0)
    expect(out).toContain("flow.txt:4:1: note: 1 more flows than the 2 flows the first line says: not read\n")
    expect(out).toContain("flow.txt:3:1: note: starts before the flow above it: sorted by start")
    expect(out).toContain(", 2 flows of 10.0 kB; ")
  })
})

describe("lint refuses, with exit code 2, the line and a caret", () => {
  test("a wrong word in the flows", async () => {
    const cwd = tiny({ "flow.txt": "1\n0 one 3 100 5000 2.0\n" })
    expect(await rdmakit(["lint", "config.txt"], { cwd })).toEqual({
      code: 2,
      out: "",
      err: `error: flow.txt:2:3: destination node: found "one", expected a whole number 0..2
  2 | 0 one 3 100 5000 2.0
        ^
`,
    })
  })

  test.each<readonly [string, Readonly<Record<string, string | Uint8Array>>, string]>([
    ["a missing file", config("flow.txt", "flows.txt"), 'FLOW_FILE: found "flows.txt", expected a file; none of these'],
    ["an unknown CC_MODE", config("CC_MODE 7", "CC_MODE 2"), 'CC_MODE: found "2", expected 1 (DCQCN), 3 (HPCC), 7'],
    ["an unknown key", config("CC_MODE 7", "CC_MODES 7"), 'found "CC_MODES", expected a key of the simulator; did you'],
    ["rubbish", { "topology.txt": octetsOf("tiny/hpcc.tr") }, "topology.txt:1:1: "],
    ["a switch that sends", { "flow.txt": "1\n2 1 3 100 5 2\n" }, 'flow.txt:2:1: source node: found "2", expected a'],
    ["a flow to itself", { "flow.txt": "1\n1 1 3 100 5 2\n" }, 'flow.txt:2:3: destination node: found "1", expected'],
    ["a negative size", { "flow.txt": "1\n0 1 3 100 -5 2\n" }, 'flow.txt:2:11: size: found "-5", expected a whole'],
    ["no time", { "flow.txt": "1\n0 1 3 100 5 x\n" }, 'flow.txt:2:13: start: found "x", expected a number 0..9000'],
    ["too few flows", { "flow.txt": "2\n0 1 3 100 5 2\n" }, "flow.txt:3:1: flow: found nothing, expected 2 flows"],
    ["no threshold", config(/KMAX_MAP.*/, "KMAX_MAP 1 1 1"), 'rate: found "100Gbps", expected a rate in KMAX_MAP'],
    ["little buffer", config(/BUFFER_SIZE.*/, "BUFFER_SIZE 0"), 'BUFFER_SIZE: found "0", expected at least 1 MiB'],
    ["no way", { "topology.txt": "3 1 1\n2\n0 2 100Gbps 1us 0\n" }, "expected a host that 0 can reach; topology.txt"],
    ["no rate", { "topology.txt": "3 1 1\n2\n0 2 0Gbps 1us 0\n" }, 'rate: found "0Gbps", expected a rate above zero'],
    ["no unit", { "topology.txt": "3 1 1\n2\n0 2 1Gxps 1us 0\n" }, 'topology.txt:3:5: rate: found "1Gxps", expected'],
  ])("%s", async (_, changes, message) => {
    const cwd = tiny(changes)
    const before = filesIn(cwd)
    const { code, out, err } = await rdmakit(["lint", "config.txt"], { cwd })
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
    expect(filesIn(cwd)).toEqual(before)
  })

  test("everything at once, as JSON too", async () => {
    const cwd = tiny({ ...config(/BUFFER_SIZE.*/, "BUFFER_SIZE 0"), "flow.txt": "1\n0 1 3 100 -5 2\n" })
    const { code, out, err } = await rdmakit(["lint", "config.txt", "--json"], { cwd })
    expect(code).toBe(2)
    const { ok, faults } = JSON.parse(out)
    expect(ok).toBe(false)
    expect(faults.map((fault: { field: string; line: number }) => [fault.field, fault.line])).toEqual([
      ["size", 2],
      ["BUFFER_SIZE", 55],
    ])
    expect(err.match(/^error: /gm)?.length).toBe(2)
  })
})
