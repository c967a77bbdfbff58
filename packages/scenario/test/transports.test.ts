import { loadScenario, ScenarioSimulation, scenarioJsonSchema } from "@rdmakit/scenario"
import { Ajv2020 } from "ajv/dist/2020.js"
import { Effect, Result } from "effect"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"
import { memoryFiles } from "./memoryFiles.ts"
import { runToEnd } from "./reference.ts"

const fits = new Ajv2020({ strict: true, allErrors: true }).compile(scenarioJsonSchema())

const attempt = (text: string) => {
  const octets = new TextEncoder().encode(text)
  const loaded = loadScenario("s.yaml", { workingDirectory: "/", octets })
  return Effect.runPromise(loaded.pipe(Effect.result, Effect.provide(memoryFiles({}))))
}
const run = async (text: string) => {
  const result = await attempt(text)
  if (Result.isFailure(result)) throw result.failure
  expect(fits(parse(text)), JSON.stringify(fits.errors)).toBe(true)
  const simulation = new ScenarioSimulation(result.success)
  return { inputs: result.success, outcome: await runToEnd(simulation) }
}
const refused = async (text: string) => {
  const result = await attempt(text)
  if (Result.isSuccess(result)) throw new Error("accepted")
  return result.failure.message
}

const star = `topology: { builder: star, hosts: 9 }
flows: [{ from: 0..7, to: 8, size: 1MB }]
switch: { lossless: false, buffer: 1MiB, headroom: 0, ecn: false }
`

describe("transport: rc", () => {
  it("has its fields under the names of the connection's settings", async () => {
    const given = async (section: string) => {
      const result = await attempt(`${star}transport: { ${section} }`)
      if (Result.isFailure(result)) throw result.failure
      return result.success.network.transport
    }
    const common = "mtu: 4KiB, framing: rocev2, baseRtt: pair, ackEvery: 2, nakInterval: 3us, ackDuplicates: false"
    const rest = "ackTimeout: 4ms, retryCount: 5, repace: true"
    const settings = {
      mtuBytes: 4096,
      framing: "rocev2",
      baseRtt: "pair",
      ackEvery: 2,
      nakIntervalPs: 3e6,
      ackDuplicates: false,
      ackTimeoutPs: 4e9,
      retryCount: 5,
      repace: true,
    }
    expect(await given(`${common}, ${rest}, recovery: go-back-0, restartSize: 4MiB`)).toEqual({
      ...settings,
      recovery: "go-back-0",
      restartBytes: 4 * 2 ** 20,
    })
    const selective = "bdpPackets: 9, reorderPackets: 99, ackTimeoutHigh: 8ms, ackTimeoutFewPackets: 6"
    expect(await given(`${common}, ${rest}, recovery: selective-repeat, ${selective}`)).toEqual({
      ...settings,
      recovery: "selective-repeat",
      bdpPackets: 9,
      reorderPackets: 99,
      ackTimeoutHighPs: 8e9,
      ackTimeoutFewPackets: 6,
    })
  })
})

describe("transport: tcp", () => {
  it("carries flows over a network that drops, with CUBIC where nothing else is asked for", async () => {
    const { inputs, outcome } = await run(`${star}transport: { name: tcp, options: { leastTimeoutPs: 5ms } }`)
    expect(inputs.network.controller.name).toBe("cubic")
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [], pfcPauses: 0 })
    expect(outcome.dropsByReason["egress-full"]).toBeGreaterThan(0)
  })

  it.each(["newreno", "dctcp", "hpcc"])("with %s", async (name) => {
    const { outcome } = await run(`${star}transport: { name: tcp, options: { leastTimeoutPs: 5ms } }
controller: { name: ${name} }`)
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [] })
  })

  it("goes on at once under HPCC where windows have no room for two segments", { timeout: 30_000 }, async () => {
    const { outcome } = await run(`topology: { builder: star, hosts: 65, link: { rate: 100Gbps, delay: 1us } }
flows: [{ from: 0..63, to: 64, size: 100KB }]
switch: { lossless: false, buffer: 64MiB }
controller: { name: hpcc }
transport: { name: tcp }`)
    expect(outcome).toMatchObject({ flowsFinished: 64, unfinished: [], dropsByReason: {} })
    // 0.5 ms at line rate; a delayed acknowledgement alone takes 40.
    expect(outcome.simulatedPs).toBeLessThan(2e9)
  })

  it("refuses names, fields of rc, and options that are none or out of range", async () => {
    expect(await refused(`${star}transport: { name: tccp }`)).toMatch(/transport\.name.*did you mean tcp/s)
    expect(await refused(`${star}transport: { name: tcp, retryCount: 3 }`)).toMatch(
      /transport\.retryCount.*goes under options/s,
    )
    expect(await refused(`${star}transport: { name: tcp, options: { ackTimeout: 3 } }`)).toMatch(
      /transport\.options\.ackTimeout/,
    )
    expect(await refused(`${star}transport: { name: tcp, options: { ackEvery: 0 } }`)).toMatch(
      /transport\.options\.ackEvery.*an integer of at least 1/s,
    )
    expect(await refused(`${star}transport: { name: tcp, options: { delayedAckPs: soon } }`)).toMatch(/a time such as/)
    expect(await refused(`${star}transport: { options: { ackEvery: 2 } }`)).toMatch(/transport\.options/)
  })
})

describe("transport: iwarp", () => {
  it("carries flows over a network that drops, as TCP does, with CUBIC where nothing else is asked for", async () => {
    const { inputs, outcome } = await run(`${star}transport: { name: iwarp, options: { leastTimeoutPs: 5ms } }`)
    expect(inputs.network.controller.name).toBe("cubic")
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [], pfcPauses: 0 })
    expect(outcome.dropsByReason["egress-full"]).toBeGreaterThan(0)
  })

  it.each(["newreno", "dctcp", "hpcc"])("with %s", async (name) => {
    const { outcome } = await run(`${star}transport: { name: iwarp, options: { leastTimeoutPs: 5ms } }
controller: { name: ${name} }`)
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [] })
  })

  it("has a controller that takes its least timeout", async () => {
    const withLeast = (time: string) => `${star}transport: { name: iwarp, options: { leastTimeoutPs: 5ms } }
controller: { name: cubic, options: { leastTimeoutPs: ${time} } }`
    const { outcome } = await run(withLeast("5ms"))
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [] })
    expect(await refused(withLeast("0s"))).toMatch(/controller\.options\.leastTimeoutPs.*a time above 0, or Infinity/s)
  })

  it("takes as much longer than TCP as its headers are longer", async () => {
    const time = async (transport: string) =>
      (
        await run(`topology: { builder: star, hosts: 2 }
flows: [{ from: 0, to: 1, size: 10MB }]
transport: ${transport}
controller: { name: newreno }`)
      ).outcome.simulatedPs
    const ratio = (await time("{ name: iwarp }")) / (await time("{ name: tcp }"))
    // A frame of 1,538 octets carries 1,448 of TCP's and 1,428 of iWARP's.
    expect(ratio).toBeCloseTo(1448 / 1428, 3)
  })

  it("refuses options that are none or out of range", async () => {
    expect(await refused(`${star}transport: { name: iwarp, options: { ipMtuBytes: 100B } }`)).toMatch(
      /transport\.options\.ipMtuBytes.*576 to 65535/s,
    )
    expect(await refused(`${star}transport: { name: iwarp, options: { ackEvery: 0 } }`)).toMatch(
      /transport\.options\.ackEvery.*an integer of at least 1/s,
    )
    expect(await refused(`${star}transport: { name: iwarp, options: { mtuBytes: 1KB } }`)).toMatch(
      /transport\.options\.mtuBytes/,
    )
    expect(await refused(`${star}transport: { name: iwrap }`)).toMatch(/did you mean iwarp/)
  })
})

describe("transport: erdma", () => {
  it("carries flows through an overlay that loses packets, by HPCC with round trips where nothing else is asked for", async () => {
    const lossy = star.replace("hosts: 9", "hosts: 9, link: { loss: 0.01 }")
    const { inputs, outcome } = await run(`${lossy}transport: { name: erdma, options: { timeoutSlackPs: 50us } }`)
    expect(inputs.network.controller.name).toBe("hpcc-rtt/model")
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [] })
    expect(outcome.dropsByReason["link-loss"]).toBeGreaterThan(0)
  })

  it.each(["cubic", "hpcc", "hpcc-ecn", "hpcc-rtt"])("with %s", async (name) => {
    const { outcome } = await run(`${star}transport: { name: erdma, options: { underlayMtuBytes: 1550B } }
controller: { name: ${name} }`)
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [] })
  })

  it("TCP goes through the overlay too: 50 bytes more in each frame", async () => {
    const time = async (overlay: string) =>
      (
        await run(`${star}transport: { name: tcp, options: { overlay: ${overlay}, ackEvery: 1 } }
controller: { name: hpcc-rtt, options: { slackPs: 1us } }`)
      ).outcome.simulatedPs
    expect((await time("vxlan")) / (await time("none"))).toBeCloseTo(1588 / 1538, 2)
  })

  it("refuses options that are none or out of range", async () => {
    expect(await refused(`${star}transport: { name: erdma, options: { overlay: gre } }`)).toMatch(/vxlan or none/)
    expect(await refused(`${star}transport: { name: tcp, options: { overlay: gre } }`)).toMatch(/vxlan or none/)
    expect(await refused(`${star}transport: { name: erdma, options: { underlayMtuBytes: 100B } }`)).toMatch(
      /underlayMtuBytes.*576 to 65535/s,
    )
    expect(await refused(`${star}controller: { name: hpcc-ecn, options: { target: 3 } }`)).toMatch(/markedUtilisation/)
  })
})

describe("transport: srd", () => {
  it("spreads a flow over all spines, with a controller and a balancer of its own where none is named", async () => {
    const spines = (lossless: string) => `transport: { name: srd }
topology: { builder: leaf-spine, leaves: 2, spines: 4, hostsPerLeaf: 2, link: { rate: 100Gbps }, fabric: { rate: 25Gbps } }
flows: [{ from: 0, to: 2, size: 4MB }]
switch: { ${lossless} }
`
    const { inputs, outcome } = await run(spines("lossless: false"))
    expect(inputs.network.controller.name).toBe("srd")
    expect(outcome).toMatchObject({ flowsFinished: 1, unfinished: [] })
    // A single spine would take 1.28 ms for the payload alone, four of them 0.32 ms.
    expect(outcome.simulatedPs).toBeLessThan(0.64e9)
    const hashed = await run(spines("lossless: false, loadBalancer: ecmp"))
    expect(hashed.outcome.simulatedPs).toBeGreaterThan(1.28e9)
  })

  it.each(["cubic", "dctcp", "hpcc-rtt", "srd"])("with %s", async (name) => {
    const { outcome } = await run(`${star}transport: { name: srd, options: { paths: 16, mtuBytes: 8KiB } }
controller: { name: ${name} }`)
    expect(outcome).toMatchObject({ flowsFinished: 8, unfinished: [] })
  })

  it("refuses options that are none or out of range", async () => {
    expect(await refused(`${star}transport: { name: srd, options: { paths: 0 } }`)).toMatch(
      /transport\.options\.paths.*1 to 1024/s,
    )
    expect(await refused(`${star}transport: { name: srd, options: { path: 1 } }`)).toMatch(/did you mean paths/)
    expect(await refused(`${star}controller: { name: srd, options: { beta: 2 } }`)).toMatch(
      /controller\.options\.beta.*at most 1/s,
    )
  })
})
