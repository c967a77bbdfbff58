import { readFileSync } from "node:fs"
import { controllers, flowsCsv, loadScenario, type ScenarioInputs, ScenarioSimulation } from "@rdmakit/scenario"
import { Effect, Result } from "effect"
import { describe, expect, it } from "vitest"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

type Files = Readonly<Record<string, string | Uint8Array>>

const attempt = (files: Files, options: Partial<Parameters<typeof loadScenario>[1]> = {}, name = "s.yaml") =>
  Effect.runPromise(
    loadScenario(name, { workingDirectory: "/", ...options }).pipe(Effect.result, Effect.provide(memoryFiles(files))),
  )

const load = async (text: string, options: Partial<Parameters<typeof loadScenario>[1]> = {}, more: Files = {}) => {
  const result = await attempt({ "/s.yaml": text, ...more }, options)
  if (Result.isFailure(result)) throw result.failure
  return result.success
}

const faults = async (text: string | Uint8Array, options: Partial<Parameters<typeof loadScenario>[1]> = {}) => {
  const result = await attempt({ "/s.yaml": text }, options)
  if (Result.isSuccess(result)) throw new Error("accepted")
  return result.failure.faults.map(({ message }) => message)
}

const example = (name: string): Promise<ScenarioInputs> =>
  load(readFileSync(new URL(`../../../examples/scenarios/${name}.yaml`, import.meta.url), "utf8"))

describe("the examples", () => {
  it.each([
    ["incast-16", 16, "hpcc/paper"],
    ["dumbbell", 24, "timely/ns3"],
    ["fat-tree", 16, "hpcc/paper"],
  ])("%s: every flow finishes, and twice the same", async (name, flows, controller) => {
    const inputs = await example(name)
    expect(inputs.title).toBe(name)
    const simulation = new ScenarioSimulation(inputs)
    const outcome = runToEnd(simulation)
    expect(outcome).toMatchObject({ controller, flowsTotal: flows, flowsFinished: flows, unfinished: [], notes: [] })
    expect(simulation.world.kernel.pool.alive).toBe(0)
    for (let flow = 0; flow < flows; flow++) {
      expect(outcome.flows.completionTime(flow)).toBeGreaterThanOrEqual(outcome.idealPs[flow]!)
    }
    const again = runToEnd(new ScenarioSimulation(await example(name)))
    expect(again.digest).toBe(outcome.digest)
    expect(flowsCsv(again)).toBe(flowsCsv(outcome))
  })

  it("another seed hashes flows to other paths", async () => {
    const inputs = await example("fat-tree")
    const [a, b] = [7, 8].map((seed) => runToEnd(new ScenarioSimulation(inputs, { seed })))
    expect(a?.digest).not.toBe(b?.digest)
    expect(b?.seed).toBe(8)
  })

  it("the dumbbell's bottleneck loses by chance, and its flows recover", async () => {
    const outcome = runToEnd(new ScenarioSimulation(await example("dumbbell")))
    expect(outcome.dropsByReason["link-loss"]).toBeGreaterThan(0)
    expect(outcome.retransmissions).toBeGreaterThan(0)
  })
})

const star = "topology: { builder: star, hosts: 3 }\n"
const flow = "flows: [{ from: 0, to: 1, size: 5000 }]\n"

describe("what a scenario can say", () => {
  it("JSON is as good as YAML", async () => {
    const json = JSON.stringify({ topology: { builder: "star", hosts: 3 }, flows: [{ from: 0, to: 1, size: "5kB" }] })
    const [a, b] = await Promise.all([load(json), load(star + flow)])
    expect(a.flows).toEqual(b.flows)
  })

  it("ranges, counts, human quantities", async () => {
    const { flows, stopPs, seed } = await load(
      `${star}stop: 1.5ms\nseed: 9\nflows: [{ from: 0..1, to: 2, size: 1MiB, start: 2us, count: 2, priority: 5 }]`,
    )
    expect({ stopPs, seed }).toEqual({ stopPs: 1.5e9, seed: 9 })
    expect(flows.map(({ source, sourcePort }) => [source, sourcePort])).toEqual([
      [0, 49_152],
      [0, 49_153],
      [1, 49_152],
      [1, 49_153],
    ])
    expect(flows[0]).toMatchObject({ destination: 2, bytes: 2 ** 20, start: 2e6, priority: 5, destinationPort: 4791 })
  })

  it.each([
    ["star", "hosts: 4", 5],
    ["dumbbell", "left: 2, right: 3, bottleneck: { rate: 10Gbps }", 7],
    ["fat-tree", "k: 4, fabric: { delay: 5us }", 36],
    ["leaf-spine", "leaves: 2, spines: 2, hostsPerLeaf: 2, parallel: 2", 8],
    ["hpcc-fabric", "link: { rate: 200Gbps }", 376],
    ["ring", "switches: 3, hostsPerSwitch: 1", 6],
  ])("the %s", async (builder, options, nodes) => {
    const { graph } = await load(`topology: { builder: ${builder}, ${options} }\n${flow}`)
    expect(graph.nodes).toBe(nodes)
  })

  it("nodes and links one by one", async () => {
    const inputs = await load(
      `topology: { nodes: 3, switches: [2], links: [{ from: 0, to: 2, rate: 25Gbps }, { from: 1, to: 2, delay: 3us }] }\n${flow}`,
    )
    expect(inputs.graph.links).toMatchObject([{ rateBps: 25e9 }, { delayPs: 3e6 }])
    expect(runToEnd(new ScenarioSimulation(inputs)).flowsFinished).toBe(1)
  })

  it("files of the HPCC simulator, beside the scenario", async () => {
    const files = {
      "/mix/s.yaml": "topology: { file: t.txt }\nflows: { file: f.txt }\n",
      "/mix/t.txt": "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n",
      // Out of order: sorted.
      "/mix/f.txt": "2\n0 1 3 100 1000 0.000002\n1 0 3 100 2000 0.000001\n",
    }
    const result = await attempt(files, {}, "mix/s.yaml")
    if (Result.isFailure(result)) throw result.failure
    expect(result.success.flows.map(({ bytes }) => bytes)).toEqual([2000, 1000])
    expect(result.success.notes.map(({ kind }) => kind)).toEqual(["note"])
    expect(runToEnd(new ScenarioSimulation(result.success)).flowsFinished).toBe(2)
  })

  it("settings reach the network", async () => {
    const { network } = await load(
      `${star}${flow}transport: { mtu: 4KiB, framing: rocev2, ackTimeout: never, nakInterval: 1us, baseRtt: pair }`,
    )
    expect(network.transport).toEqual({
      mtuBytes: 4096,
      framing: "rocev2",
      ackTimeoutPs: Number.POSITIVE_INFINITY,
      nakIntervalPs: 1e6,
      baseRtt: "pair",
    })
  })

  it("packets lost on purpose", async () => {
    const inputs = await load(`${star}${flow}losses: [{ from: 0, to: 3, packets: [4] }]`)
    const outcome = runToEnd(new ScenarioSimulation(inputs))
    expect(outcome).toMatchObject({ flowsFinished: 1, retransmissions: 1, dropsByReason: { "link-loss": 1 } })
    const never = await load(
      `${star}${flow}losses: [{ from: 0, to: 3, packets: [4] }]\ntransport: { ackTimeout: never }`,
    )
    const [unfinished] = runToEnd(new ScenarioSimulation(never)).unfinished
    expect(unfinished?.reason).toBe("waiting for PSN 4 (4000 of 5000 B acknowledged)")
  })

  it("overrides, in order", async () => {
    const overrides = ["seed=3", "seed=4", "switch.buffer=16MiB", "flows.0.size=7", "controller={name: timely}"]
    const { seed, flows, network } = await load(star + flow, { overrides })
    expect(seed).toBe(4)
    expect(flows[0]?.bytes).toBe(7)
    expect(network.controller.name).toBe("timely/ns3")
  })

  it("a controller of one's own, by name", async () => {
    const registry = new Map(controllers).set("mine", {
      presets: { usual: { variant: "only" } },
      preset: "usual",
      variants: { only: { gain: "number" } },
      make: ({ gain }) => ({ ...controllers.get("hpcc")!.make({ variant: "paper" }), name: `mine ${gain}` }),
    })
    const { network } = await load(`${star}${flow}controller: { name: mine, options: { gain: 2 } }`, {
      controllers: registry,
    })
    expect(network.controller.name).toBe("mine 2")
  })

  it("presets, variants and options with units", async () => {
    const name = async (section: string) => (await load(`${star}${flow}controller: ${section}`)).network.controller.name
    expect(await name("{ name: hpcc }")).toBe("hpcc/paper")
    expect(await name("{ name: hpcc, preset: ns3-config, options: { additiveIncreaseBps: 50Mbps } }")).toBe("hpcc/ns3")
    expect(await name("{ name: dcqcn }")).toBe("dcqcn/ns3")
    expect(await name("{ name: dcqcn, preset: paper, options: { byteCounterBytes: 10MB } }")).toBe("dcqcn/paper")
    expect(await name("{ name: dcqcn, variant: vendor, options: { rpgTimeResetPs: 55us } }")).toBe("dcqcn/vendor")
    expect(await name("{ name: timely, variant: patched, options: { minRttPs: 2us } }")).toBe("timely/patched")
  })
})

describe("what is refused, and where", () => {
  it.each([
    ["nothing", "", "s.yaml:1:1: scenario: found nothing, expected fields (name, "],
    ["no mapping", "just text", 's.yaml:1:1: scenario: found "just text", expected fields (name, '],
    ["an unknown key", `${star}${flow}controler: 1`, "s.yaml:3:1: controler: .*did you mean controller\\?"],
    ["an unknown key inside", `${star}${flow}switch: { bufer: 1 }`, "s.yaml:3:11: switch.bufer: .*mean buffer\\?"],
    ["a missing field", `topology: { builder: star }\n${flow}`, "s.yaml:1:11: topology.hosts: found nothing"],
    ["a missing section", star, "flows: found nothing, expected this field"],
    ["an unknown builder", `topology: { builder: starr }\n${flow}`, "s.yaml:1:22: .*did you mean star\\?"],
    ["an odd fat tree", `topology: { builder: fat-tree, k: 5 }\n${flow}`, "topology.k: .*an even number"],
    [
      "a network too large",
      `topology: { builder: leaf-spine, leaves: 65535, spines: 9, hostsPerLeaf: 9 }\n${flow}`,
      "s.yaml:1:11: topology: .*at most 65536 nodes",
    ],
    [
      "a network of too many links",
      `topology: { builder: leaf-spine, leaves: 1000, spines: 1000, hostsPerLeaf: 1 }\n${flow}`,
      "s.yaml:1:11: topology: .*at most 524288 links; this is 3000 nodes and 1001000 links",
    ],
    [
      "a rate of zero",
      `topology: { builder: star, hosts: 3, link: { rate: 0Gbps } }\n${flow}`,
      "topology.link.rate: .*at least 1 bit/s",
    ],
    [
      "an unknown unit",
      `topology: { builder: star, hosts: 3, link: { rate: 9Gbs } }\n${flow}`,
      's.yaml:1:52: .*did you mean "Gbps"\\?',
    ],
    [
      "a time without a unit",
      `${star}flows: [{ from: 0, to: 1, size: 1, start: 10 }]`,
      'flows\\[0\\].start: found "10", expected a time such as 10us',
    ],
    ["a negative size", `${star}flows: [{ from: 0, to: 1, size: -1 }]`, 's.yaml:2:33: flows\\[0\\].size: found "-1"'],
    [
      "source = destination",
      `${star}flows: [{ from: 1, to: 1, size: 1 }]`,
      "s.yaml:2:24: flows\\[0\\].to: .*other than 1",
    ],
    [
      "a switch",
      `${star}flows: [{ from: 3, to: 1, size: 1 }]`,
      "flows\\[0\\].from: .*expected a host; node 3 is a switch",
    ],
    ["an unknown node", `${star}flows: [{ from: 7, to: 1, size: 1 }]`, "flows\\[0\\].from: .*nodes 0..3"],
    [
      "ranges that do not match",
      `${star}flows: [{ from: 0..2, to: 0..1, size: 1 }]`,
      "flows\\[0\\].to: .*or 3 as in from",
    ],
    [
      "an unreachable host",
      `topology: { nodes: 3, links: [{ from: 0, to: 1 }] }\nflows: [{ from: 0, to: 2, size: 1 }]`,
      "flows\\[0\\].to: .*a host that 0 can reach",
    ],
    [
      "a link to nowhere",
      `topology: { nodes: 2, links: [{ from: 0, to: 7 }] }\n${flow}`,
      "s.yaml:1:31: topology.links\\[0\\]: .*node 7 does not exist",
    ],
    [
      "a buffer below its headroom",
      `${star}${flow}switch: { buffer: 50KB }`,
      "s.yaml:3:19: switch.buffer: .*at least .*bytes of headroom",
    ],
    [
      "an unknown controller",
      `${star}${flow}controller: { name: hpc }`,
      "s.yaml:3:21: controller.name: .*did you mean hpcc\\?",
    ],
    [
      "an unknown preset",
      `${star}${flow}controller: { name: hpcc, preset: papr }`,
      "controller.preset: .*did you mean paper\\?",
    ],
    [
      "a preset of another variant",
      `${star}${flow}controller: { name: hpcc, preset: paper, variant: ns3 }`,
      "controller.variant: .*expected paper",
    ],
    [
      "an unknown option",
      `${star}${flow}controller: { name: hpcc, options: { etta: 1 } }`,
      "controller.options.etta: .*did you mean eta\\?",
    ],
    [
      "an option out of range, of DCQCN",
      `${star}${flow}controller: { name: dcqcn, variant: vendor, options: { rpgGd: 9 } }`,
      "controller.options.rpgGd: .*10 or 11",
    ],
    [
      "an option out of range",
      `${star}${flow}controller: { name: hpcc, options: { eta: 0 } }`,
      'controller.options.eta: found "0", expected a finite number above 0$',
    ],
    [
      "an option out of range, of a transport",
      `${star}${flow}transport: { name: srd, options: { paths: 0 } }`,
      'transport.options.paths: found "0", expected an integer, 1 to 1024$',
    ],
    [
      "an option without its unit",
      `${star}${flow}transport: { name: tcp, options: { mtu: 9000 } }`,
      "transport.options.mtu: .*; did you mean mtuBytes\\?$",
    ],
    [
      "an option that does not fit one that is not there",
      `${star}${flow}transport: { name: srd, options: { leastTimeoutPs: 10ms } }`,
      "mostTimeoutPs: .*expected at least leastTimeoutPs, 10000000000; mostTimeoutPs is 4000000000 unless it is given$",
    ],
    [
      "a reserve that no switch can have",
      `${star}${flow}switch: { reserve: 1GiB }`,
      'switch.reserve: found "1GiB", expected less: a switch has below 2GiB; switch \\d+ keeps',
    ],
    [
      "thresholds the wrong way round",
      `${star}${flow}switch: { ecnRules: [{ rate: 100Gbps, kmin: 2KB, kmax: 1KB, pmax: 1 }] }`,
      "ecnRules\\[0\\].kmin: .*at most kmax",
    ],
    [
      "thresholds of a rate that no link has",
      `${star}${flow}switch: { ecnRules: [{ rate: 10Gbps, kmin: 1KB, kmax: 1KB, pmax: 1 }] }`,
      "ecnRules\\[0\\].rate: .*the rate of a link",
    ],
    [
      "a loss where no link is",
      `${star}${flow}losses: [{ from: 0, to: 1, packets: [1] }]`,
      "losses\\[0\\]: .*no link from 0 to 1",
    ],
    [
      "a missing file",
      `topology: { file: gone.txt }\n${flow}`,
      "s.yaml:1:19: topology.file: .*gone.txt.*none of these exists",
    ],
    ["broken YAML", "topology: { builder: star\nflows: 3", "s.yaml:2:1: scenario: .*expected YAML or JSON"],
    ["a key twice", `${star}${star}${flow}`, "s.yaml:2:1: scenario: .*unique"],
    [
      "aliases without end",
      "a: &a [1,1,1,1]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d,*d,*d]",
      "Excessive alias count",
    ],
  ])("%s", async (_name, text, pattern) => {
    const found = await faults(text)
    expect(found.join("\n")).toMatch(new RegExp(pattern.replaceAll("(name", "\\(name")))
    expect(found.join("\n")).not.toMatch(/\n\s+at /)
  })

  it("rubbish", async () => {
    expect(await faults(Uint8Array.of(0xff, 0xfe, 0))).toEqual([
      "s.yaml: scenario: found nothing, expected text; the file is not UTF-8",
    ])
  })

  it("several documents, and thousands of brackets", async () => {
    expect(await faults(`${star}${flow}---\n${star}`)).toEqual([expect.stringMatching(/it is more than one document$/)])
    expect(await faults("[".repeat(3000))).toEqual([expect.stringMatching(/it is nested too deeply$/)])
  })

  it("a file that is not there", async () => {
    const result = await attempt({}, {}, "gone.yaml")
    expect(Result.isFailure(result) && result.failure.message).toMatch(/gone.yaml.*it does not exist/)
  })

  it("overrides have no line", async () => {
    expect(await faults(star + flow, { overrides: ["seed=x"] })).toEqual([
      '--set: seed: found "x", expected a whole number 0..4294967295',
    ])
    expect(await faults(star + flow, { overrides: ["seed"] })).toEqual([expect.stringMatching(/PATH=VALUE/)])
    expect(await faults(star + flow, { overrides: ["name.x.y=1"] })).toEqual([expect.stringMatching(/^--set: /)])
    expect(await faults(star + flow, { overrides: ["faults+={ at: 1us, links: all, loss: 1.5 }"] })).toEqual([
      '--set: faults[0].loss: found "1.5", expected a number 0..1, or a percentage such as 2%',
    ])
  })

  it.each(["flows.2.size=1", "flows.10000000.size=1", "flows.99999999999999999999.size=1", "losses.1.from=1"])(
    "an override beyond the end of a list: %s",
    async (override) => {
      const [list, count] = override.startsWith("flows") ? ["flows", 1] : ["losses", 0]
      expect(await faults(star + flow, { overrides: [override] })).toEqual([
        `--set: override: found "${override}", expected an entry of ${list}; the list has ${count}, counted from 0; ${list}+=VALUE puts one more at its end`,
      ])
    },
  )

  it("a rate below 1 bit/s, and weights too far apart", async () => {
    expect(await faults(star + flow, { overrides: ["topology.link={ rate: 0.5bps }"] })).toEqual([
      '--set: topology.link.rate: found "0.5bps", expected a rate such as 100Gbps; a rate is at least 1 bit/s',
    ])
    const weighted = "switch={ scheduler: weighted, weights: [0.001, 1, 1, 1, 1, 1, 1000] }"
    expect(await faults(star + flow, { overrides: [weighted] })).toEqual([
      expect.stringMatching(
        /^--set: switch.weights: .* expected weights of which none is more than 10000 times another$/,
      ),
    ])
  })

  it("every fault at once", async () => {
    expect(
      await faults(
        `${star}flows: [{ from: 0, to: 0, size: 1 }, { from: 9, to: 1, size: 1 }]\nlosses: [{ from: 0, to: 1, packets: [] }]`,
      ),
    ).toHaveLength(3)
  })
})
