import { readdirSync, readFileSync } from "node:fs"
import { controllers, loadScenario, type OptionKind, scenarioJsonSchema } from "@rdmakit/scenario"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Result, Schema } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import * as Fields from "../src/ScenarioFields.ts"
import { transports } from "../src/Transports.ts"
import { memoryFiles } from "./memoryFiles.ts"

const schema = scenarioJsonSchema()
const fits = new Ajv2020({ strict: true, allErrors: true }).compile(schema)

const examples = new URL("../../../examples/scenarios/", import.meta.url)

/** What `loadScenario` says against it. */
const faultsOf = async (document: unknown): Promise<ReadonlyArray<string>> => {
  const octets = new TextEncoder().encode(JSON.stringify(document))
  const loaded = loadScenario("s.json", { workingDirectory: "/", octets })
  const result = await Effect.runPromise(loaded.pipe(Effect.result, Effect.provide(memoryFiles({}))))
  return Result.isSuccess(result) ? [] : result.failure.faults.map(({ message }) => message)
}

/** A scenario with some of its sections replaced. */
const scenario = (sections: object = {}) => ({
  topology: { builder: "star", hosts: 4 },
  flows: [{ from: 0, to: 1, size: "1MB" }],
  ...sections,
})

/** A value for every option. */
const someOf = (options: Readonly<Record<string, OptionKind>>) => {
  const values = { number: 1, boolean: true, word: "w", rate: "1Gbps", size: 1, time: "1us" }
  const oneOf = (kind: OptionKind) => (typeof kind === "string" ? values[kind] : kind[0])
  return Object.fromEntries(Object.entries(options).map(([option, kind]) => [option, oneOf(kind)]))
}

describe("the JSON Schema of scenarios", () => {
  it.each(readdirSync(examples))("takes %s", (name) => {
    expect(fits(parse(readFileSync(new URL(name, examples), "utf8"))), JSON.stringify(fits.errors)).toBe(true)
  })

  it("takes what it would write itself: no value that only JSON lacks", () => {
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
    expect(schema.$schema).toBe("https://json-schema.org/draft/2020-12/schema")
    expect(JSON.stringify(schema)).not.toMatch(/"NaN"|"Infinity"/)
  })

  it.each<readonly [string, object]>([
    [
      "every section",
      {
        name: "all",
        seed: 7,
        stop: "1ms",
        topology: {
          builder: "leaf-spine",
          leaves: 2,
          spines: 1,
          hostsPerLeaf: 2,
          link: { rate: 1e11, delay: 0, loss: 0.5 },
        },
        flows: [
          { from: "0..1", to: "2 .. 3", size: 0, start: "1 us", priority: 7, count: 2 },
          { workload: "permutation", size: "1KB", rounds: 2 },
          {
            workload: "poisson",
            load: 0.3,
            duration: "10us",
            sizes: [
              [0, 0],
              [1000, 100],
            ],
          },
        ],
        controller: {
          name: "timely",
          variant: "patched",
          options: { law: "gradient", minRateBps: "1Gbps", alpha: 0.5 },
        },
        switch: {
          buffer: "32MiB",
          lossless: true,
          headroom: 30_000,
          ecn: false,
          ecnRules: [{ rate: "100Gbps", kmin: "1KB", kmax: "2KB", pmax: 0.2 }],
        },
        transport: { mtu: 1024, framing: "rocev2", baseRtt: "pair", ackEvery: 4, ackTimeout: "never", repace: true },
        admission: { flowsPerReceiver: 2, grantDelay: "1us" },
        losses: [{ from: 0, to: 4, packets: [0, 5] }],
      },
    ],
    [
      "nodes and links",
      {
        topology: {
          nodes: 3,
          switches: [2],
          links: [
            { from: 0, to: 2 },
            { from: 1, to: 2, rate: "25Gbps" },
          ],
        },
      },
    ],
    ["another transport", { transport: { name: "tcp", baseRtt: "pair", options: { mtuBytes: "9KB", ecn: 1 } } }],
    ["reliable connections by name", { transport: { name: "rc", ackEvery: 2 } }],
    ["one workload", { flows: { workload: "all-to-all", size: "1KB" } }],
    [
      "three tiers",
      { topology: { builder: "clos", pods: 1, torsPerPod: 2, aggsPerPod: 1, coresPerAgg: 1, hostsPerTor: 2 } },
    ],
    ["even ports", { topology: { builder: "fat-tree", k: 4 } }],
  ])("takes %s, as loading does", async (_, sections) => {
    const document = scenario(sections)
    expect(fits(document), JSON.stringify(fits.errors)).toBe(true)
    expect(await faultsOf(document)).toEqual([])
  })

  it.each<readonly [string, object]>([
    ["a file of a topology and one of flows", { topology: { file: "topology.txt" }, flows: { file: "flow.txt" } }],
  ])("takes %s, which loading looks for", (_, sections) => {
    expect(fits(scenario(sections))).toBe(true)
  })

  it.each<readonly [string, object]>([
    ["a section it does not know", { swich: {} }],
    ["a builder it does not know", { topology: { builder: "torus", hosts: 4 } }],
    ["an option of another builder", { topology: { builder: "star", hosts: 4, k: 4 } }],
    ["a builder without its options", { topology: { builder: "star" } }],
    ["tiers without their numbers", { topology: { builder: "clos", pods: 1, torsPerPod: 2 } }],
    ["odd ports", { topology: { builder: "fat-tree", k: 5 } }],
    ["a size without a number", { flows: [{ from: 0, to: 1, size: "MB" }] }],
    ["a unit that is none", { flows: [{ from: 0, to: 1, size: "1 parsec" }] }],
    ["half a byte", { flows: [{ from: 0, to: 1, size: 0.5 }] }],
    ["a time without a unit", { stop: 5 }],
    ["a rate of zero", { topology: { builder: "star", hosts: 4, link: { rate: 0 } } }],
    ["a flow to nowhere", { flows: [{ from: 0, size: "1MB" }] }],
    ["a priority out of its range", { flows: [{ from: 0, to: 1, size: 1, priority: 8 }] }],
    ["a range that is none", { flows: [{ from: "0-3", to: 1, size: 1 }] }],
    ["a workload it does not know", { flows: { workload: "storm" } }],
    ["a load above ten", { flows: { workload: "poisson", load: 30, duration: "1us", size: 1 } }],
    ["a controller it does not know", { controller: { name: "bbr" } }],
    ["a preset of another controller", { controller: { name: "hpcc", preset: "vendor" } }],
    [
      "an option of another variant",
      { controller: { name: "timely", variant: "paper", options: { hyperIncreaseBps: 1e9 } } },
    ],
    [
      "an option of another variant than the usual",
      { controller: { name: "timely", options: { segmentBytes: "16KB" } } },
    ],
    ["a word that an option does not have", { controller: { name: "timely", options: { window: "sliding" } } }],
    ["a word that a transport's option does not have", { transport: { name: "tcp", options: { overlay: "gre" } } }],
    ["an admission without a limit", { admission: {} }],
    ["an admission with a delay alone", { admission: { grantDelay: "1us" } }],
    ["a workload without a size", { flows: { workload: "ring" } }],
    ["a workload with two sizes", { flows: [{ workload: "ring", size: 1, sizes: "WebSearch" }] }],
    ["an incast of nobody", { flows: { workload: "incast", size: 1 } }],
    ["senders without their receiver", { flows: { workload: "incast", size: 1, senders: "0..1" } }],
    ["an option of the wrong kind", { controller: { name: "hpcc", options: { eta: "high" } } }],
    ["a word for true", { switch: { lossless: "yes" } }],
    ["a share above one", { topology: { builder: "star", hosts: 4, link: { loss: 2 } } }],
    ["a framing that is none", { transport: { framing: "infiniband" } }],
    ["a transport it does not know", { transport: { name: "quic" } }],
    ["an option that a transport does not have", { transport: { name: "srd", options: { processingPs: "1us" } } }],
    ["a transport's option of the wrong kind", { transport: { name: "tcp", options: { retryCount: "many" } } }],
    ["options of reliable connections", { transport: { name: "rc", options: {} } }],
    ["a field of reliable connections beside TCP", { transport: { name: "tcp", ackEvery: 2 } }],
    ["packets of nothing", { transport: { mtu: 0 } }],
    ["a buffer beyond two gigabytes", { switch: { buffer: 5e9 } }],
    ["a gap of no time", { switch: { flowletGap: 0 } }],
    ["never, where it cannot be", { stop: "never" }],
    ["a seed below zero", { seed: -1 }],
    ["losses by halves", { losses: [{ from: 0, to: 1, packets: [1.5] }] }],
  ])("refuses %s, as loading does", async (_, sections) => {
    const document = scenario(sections)
    expect(fits(document)).toBe(false)
    expect(await faultsOf(document)).not.toEqual([])
  })

  it("refuses what is no scenario", () => {
    for (const value of [null, [], "text", {}, { topology: {} }]) expect(fits(value)).toBe(false)
  })

  it("has every controller with its presets and options", async () => {
    for (const [name, { presets, variants }] of controllers) {
      for (const preset of Object.keys(presets)) expect(fits(scenario({ controller: { name, preset } }))).toBe(true)
      for (const [variant, options] of Object.entries(variants)) {
        const given = someOf(options)
        expect(fits(scenario({ controller: { name, variant, options: given } }))).toBe(true)
        expect(fits(scenario({ controller: { name, variant, options: { ...given, nope: 1 } } }))).toBe(false)
      }
    }
  })

  it("has every transport with its options", () => {
    for (const [name, { options }] of transports) {
      const given = someOf(options)
      expect(fits(scenario({ transport: { name, options: given } }))).toBe(true)
    }
  })

  it("takes controllers of one's own by name", () => {
    const own = new Map([...controllers, ["mine", controllers.get("hpcc")!]])
    const check = new Ajv2020({ strict: true }).compile(scenarioJsonSchema(own))
    expect([check, fits].map((each) => each(scenario({ controller: { name: "mine" } })))).toEqual([true, false])
  })
})

describe("a field takes nothing that its JSON Schema refuses", () => {
  const kinds = {
    Size: Fields.Size,
    positiveSize: Fields.positiveSize,
    Time: Fields.Time,
    positiveTime: Fields.positiveTime("1ms"),
    Rate: Fields.Rate,
    Flag: Fields.Flag,
    Text: Fields.Text,
    FileName: Fields.FileName,
    Share: Fields.Share,
    Nodes: Fields.Nodes,
    whole: Fields.whole(2, 70),
    words: Fields.words(["one", "two"]),
  }
  const word = fc
    .array(fc.constantFrom("1", "20", ".", "e", "+", " ", "us", "s", "K", "M", "i", "B", "bps", "..", "one", "two"), {
      maxLength: 5,
    })
    .map((pieces) => pieces.join(""))
  const number = fc.oneof(fc.integer({ min: -2, max: 80 }), fc.double({ noNaN: true, noDefaultInfinity: true }))
  const value = fc.oneof(word, number, fc.boolean(), fc.constant(null), fc.array(fc.nat(), { maxLength: 2 }))

  it.each(Object.entries<Schema.Codec<unknown, unknown>>(kinds))("%s", (_, field) => {
    const document = Schema.toJsonSchemaDocument(field)
    const check = new Ajv2020({ strict: true }).compile({ ...document.schema, $defs: document.definitions })
    const reads = Schema.decodeUnknownResult(field)
    fc.assert(
      fc.property(value, (each) => {
        if (Result.isSuccess(reads(each))) expect(check(each), JSON.stringify(each)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})
