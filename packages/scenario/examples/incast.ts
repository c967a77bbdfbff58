import { loadScenario, ScenarioSimulation, simulate } from "@rdmakit/scenario"
import { Effect, FileSystem, Layer, Path } from "effect"

const text = `
name: incast
topology: { builder: star, hosts: 9, link: { rate: 100Gbps, delay: 1us } }
flows:
  - { from: 0..7, to: 8, size: 500KB }
  - { from: 0, to: 1, size: 1KB, start: 50us }
controller: { name: hpcc, preset: paper }
switch: { buffer: 16MiB }
`

export const outcome = await Effect.runPromise(
  Effect.gen(function* () {
    const inputs = yield* loadScenario("incast.yaml", {
      workingDirectory: "/",
      octets: new TextEncoder().encode(text),
    })
    return yield* simulate(new ScenarioSimulation(inputs))
  }).pipe(Effect.provide(Layer.merge(FileSystem.layerNoop({}), Path.layer))),
)

console.log(`${outcome.flowsFinished} of ${outcome.flowsTotal} flows, digest ${outcome.digest}`)
