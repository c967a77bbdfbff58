import { describe, expect, it } from "vitest"
import { faultsIn, loadedScenario } from "./loading.ts"

const flow = "flows: [{ from: 0, to: 1, size: 1KB }]\n"
const scenario = (options: string) => `topology: { builder: clos, ${options} }\n${flow}`
const podsOf = (pods: number) =>
  scenario(`pods: ${pods}, torsPerPod: 4, aggsPerPod: 4, coresPerAgg: 4, hostsPerTor: 16, fabric: { rate: 400Gbps }`)

describe("three tiers by name", () => {
  it("five pods of HPCC's are its fabric", async () => {
    const { graph } = await loadedScenario(`topology: { builder: hpcc-fabric }\n${flow}`)
    expect((await loadedScenario(podsOf(5))).graph).toEqual(graph)
  })

  it("twenty have 1,280 hosts", async () => {
    const { graph } = await loadedScenario(podsOf(20))
    expect(graph.isSwitch.filter((isSwitch) => isSwitch === 0)).toHaveLength(1280)
    expect([graph.nodes, graph.links.length]).toEqual([1456, 1920])
  })

  it("counts that differ, and links of their own", async () => {
    const text = scenario(
      "pods: 3, torsPerPod: 2, aggsPerPod: 4, coresPerAgg: 5, hostsPerTor: 7, link: { rate: 25Gbps, delay: 2us }",
    )
    const { graph } = await loadedScenario(text)
    expect([graph.nodes, graph.links.length]).toEqual([80, 126])
    expect(graph.links.every(({ rateBps, delayPs }) => rateBps === 25e9 && delayPs === 2e6)).toBe(true)
  })

  it.each([
    [
      "too many nodes",
      "pods: 9, torsPerPod: 90, aggsPerPod: 2, coresPerAgg: 1, hostsPerTor: 90",
      's.yaml:1:11: topology: found "clos", expected at most 65536 nodes; this is 73730 nodes and 74538 links',
    ],
    [
      "a count left out",
      "pods: 2, torsPerPod: 1, aggsPerPod: 1, hostsPerTor: 1",
      "topology.coresPerAgg: found nothing",
    ],
    [
      "none of a tier",
      "pods: 0, torsPerPod: 1, aggsPerPod: 1, coresPerAgg: 1, hostsPerTor: 1",
      'topology.pods: found "0"',
    ],
    ["another builder's count", "pods: 1, leaves: 2", "topology.leaves: .*expected builder, pods, torsPerPod"],
  ])("%s is refused", async (_, options, pattern) => {
    expect((await faultsIn(scenario(options))).join("\n")).toMatch(new RegExp(pattern))
  })

  it("is among the builders that a wrong name is told", async () => {
    const [fault] = await faultsIn(`topology: { builder: torus }\n${flow}`)
    expect(fault).toMatch(/expected star, dumbbell, fat-tree, leaf-spine, clos, /)
  })
})
