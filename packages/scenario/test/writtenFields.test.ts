/** How fields may be written: nodes, shares, and the paths and values of overrides. */
import { readFileSync } from "node:fs"
import { ScenarioSimulation, scenarioJsonSchema } from "@rdmakit/scenario"
import { Ajv2020 } from "ajv/dist/2020.js"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { faultsIn, loadedScenario, loading } from "./loading.ts"
import { runToEnd } from "./reference.ts"

const fits = new Ajv2020({ strict: true }).compile(scenarioJsonSchema())
const base = `topology: { builder: star, hosts: 4 }
flows: [{ from: 0..2, to: 3, size: 100KB }]
`
const flowsOf = async (entry: string) =>
  (await loadedScenario(base, [`flows=[${entry}]`])).flows.map(({ source, destination }) => [source, destination])

describe("nodes", () => {
  it("are one, a range, or a list of both", async () => {
    expect(await flowsOf("{ from: [0, 2], to: 3, size: 1 }")).toEqual([
      [0, 3],
      [2, 3],
    ])
    expect(await flowsOf("{ from: [0..1], to: [3, 2], size: 1 }")).toEqual([
      [0, 3],
      [1, 2],
    ])
    expect(await flowsOf("{ workload: all-to-all, hosts: [0, 2..3], size: 1 }")).toHaveLength(6)
  })

  it.each([
    ["{ from: [0, 0..1], to: 3, size: 1 }", 'flows[0].from: found "[0, 0..1]", expected a node, or several such as'],
    ["{ from: [], to: 3, size: 1 }", "flows[0].from: "],
    ["{ from: [x], to: 3, size: 1 }", "flows[0].from: "],
    ["{ from: [[0]], to: 3, size: 1 }", "flows[0].from: "],
    ["{ from: [0..1], to: [1, 2, 3], size: 1 }", "expected one host, or 2 as in from"],
  ])("%s is refused", async (entry, message) => {
    expect((await faultsIn(base, [`flows=[${entry}]`]))[0]).toContain(message.replace("[0, 0..1]", "[0, 0..1]"))
  })

  it("of links go together as those of flows: a leaf-spine of one's own", async () => {
    const text = readFileSync(new URL("../../../examples/scenarios/leaf-spine.yaml", import.meta.url), "utf8")
    const inputs = await loadedScenario(text)
    expect(inputs.graph.links).toHaveLength(24)
    expect(inputs.graph.links.slice(20).map(({ a, b, lossRate }) => [a, b, lossRate])).toEqual([
      [16, 21, 0],
      [18, 21, 0],
      [19, 21, 0],
      [17, 21, 0.0001],
    ])
    expect(runToEnd(new ScenarioSimulation(inputs))).toMatchObject({ flowsFinished: 11, unfinished: [] })
  })

  const own = (switches: string, links: string) => `topology: { nodes: 5, switches: ${switches}, links: [${links}] }
flows: [{ from: 0, to: 3, size: 1KB }]
`
  it.each([
    ["[4, 9]", "{ from: 0..3, to: 4 }", "topology.switches: .*expected nodes 0..4; node 9 does not exist"],
    ["[4, 4]", "{ from: 0..3, to: 4 }", "topology.switches: .*node 4 is there twice"],
    ["4..9", "{ from: 0..3, to: 4 }", "topology.switches: .*node 5 does not exist"],
    ["4", "{ from: 0..3, to: 4 }, { from: 0..1, to: 2..4 }", "links\\[1\\].to: .*expected one node, or 2 as in from"],
    ["4", "{ from: 0..3, to: 4 }, { from: 0..3, to: 3 }", "links\\[1\\]: .*both ends are the same node"],
    ["4", "{ from: 0..3, to: 9 }", "links\\[0\\]: .*node 9 does not exist"],
  ])("switches %s with links %s are refused", async (switches, links, message) => {
    expect((await faultsIn(own(switches, links))).join()).toMatch(new RegExp(message))
  })

  it("may be without a switch", async () => {
    const text =
      "topology: { nodes: 2, switches: [], links: [{ from: 0, to: 1 }] }\nflows: [{ from: 0, to: 1, size: 1 }]"
    expect((await loadedScenario(text)).graph.links).toHaveLength(1)
  })
})

describe("shares", () => {
  it("may be percentages", async () => {
    const overrides = ["topology.link.loss=2%", "faults=[{ at: 0, links: all, corruption: 0.5 % }]"]
    const inputs = await loadedScenario(base, overrides)
    expect(inputs.graph.links[0]?.lossRate).toBe(0.02)
    expect(inputs.network.faults?.[0]).toMatchObject({ impairment: { corruption: 0.005 } })
    const poisson = "{ workload: poisson, sizes: WebSearch, duration: 1ms, load: LOAD }"
    const [as, percent] = await Promise.all(
      ["0.3", "30%"].map((load) => loadedScenario(base, [`flows=[${poisson.replace("LOAD", load)}]`])),
    )
    expect(percent?.flows).toEqual(as?.flows)
  })

  it.each(["200%", "-2%", "2%%", "%", "2 percent"])("%s is none", async (loss) => {
    const [fault] = await faultsIn(base, [`topology.link.loss="${loss}"`])
    expect(fault).toBe(`--set: topology.link.loss: found "${loss}", expected a number 0..1, or a percentage such as 2%`)
  })
})

it("the JSON Schema takes what loads", async () => {
  const written = [
    "{ topology: { nodes: 5, switches: 4, links: [{ from: 0..3, to: 4, loss: 2% }] }, flows: [{ from: [0, 1..2], to: 3, size: 1 }] }",
    "{ topology: { nodes: 5, switches: [4..4], links: [{ from: [0..3], to: 4 }] }, flows: [{ from: [], to: 3, size: 1 }] }",
    "{ topology: { nodes: 5, switches: [x], links: [{ from: [0..3], to: 4 }] }, flows: [] }",
    "{ topology: { nodes: 5, switches: 4, links: [{ from: 0..3, to: 4, loss: 2x }] }, flows: [] }",
  ]
  for (const text of written) expect(fits(parse(text)), text).toBe((await loading(text))._tag === "Success")
})

describe("an override", () => {
  it("names an entry of a list as messages do, or with a dot", async () => {
    for (const path of ["flows[0].size", "flows.0.size"]) {
      expect((await loadedScenario(base, [`${path}=1KB`])).flows[0]?.bytes).toBe(1000)
      expect(await faultsIn(base, [`${path}=KB`])).toEqual([expect.stringContaining('flows[0].size: found "KB"')])
    }
    expect((await faultsIn(base, ["flows[2].size=1KB"]))[0]).toContain("expected an entry of flows; the list has 1")
  })

  it.each([
    ["topology.link.rate=1e309", 'topology.link.rate: found "1e309"'],
    ["topology={ builder: star, hosts: -1e309 }", 'topology.hosts: found "-1e309"'],
    ["flows[0].size=1e309", 'flows[0].size: found "1e309"'],
    ["switch.pauseAlpha=1e309", 'switch.pauseAlpha: found "1e309"'],
    ["switch={ scheduler: weighted, weights: [1, 1, 1, 1, 1, 1, 1e309] }", 'found "[1, 1, 1, 1, 1, 1, 1e309]"'],
    ["losses=[{ from: 0, to: 4, packets: [1e309] }]", 'losses[0].packets[0]: found "1e309"'],
    ["flows+={ from: 0, to: 1, size: 1e309 }", 'flows[1].size: found "1e309"'],
  ])("%s is shown as it was given", async (override, found) => {
    expect((await faultsIn(base, [override])).join()).toContain(found)
  })
})

it("warns of what names nothing that could happen", async () => {
  const overrides = ["faults=[{ at: 0, links: switches, state: down }]", "losses=[{ from: 0, to: 4, packets: [] }]"]
  const { notes } = await loadedScenario(base, overrides)
  expect(notes.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
    "warning: no packet is named: none is lost",
    "warning: no link joins two switches: nothing happens",
  ])
})

it.each([
  [
    "flows=[{ workload: all-to-all, size: 1KB, gap: 2h }]",
    'flows[0].gap: found "2h", expected a time of at most 3002.',
  ],
  [
    "flows=[{ workload: poisson, size: 1, load: 1, start: 2h, duration: 1h }]",
    'duration: found "1h", expected a time of',
  ],
  [
    "flows=[{ workload: incast, size: 1, fanIn: 2, start: 2h, jitter: 1h }]",
    'jitter: found "1h", expected a time of at',
  ],
  ["faults=[{ at: 0, links: all, state: down, for: 1us, every: 2h, times: 3 }]", "faults[0].every: "],
  ["faults=[{ at: 2h, links: all, state: down, for: 1h }]", "faults[0]: "],
])("%s: a time that goes past 2^53 ps is told with its unit", async (override, message) => {
  const [fault] = await faultsIn(base, [override])
  expect(fault).toContain(message)
  expect(fault).not.toMatch(/\d{15}/)
})
