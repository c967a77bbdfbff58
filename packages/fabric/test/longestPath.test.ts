import { Ports, Routes, ring } from "@rdmakit/topology"
import { expect, test } from "vitest"
import { longestPath } from "../src/LinkFaults.ts"

const graph = ring({ switches: 5, hostsPerSwitch: 1 })
const between = graph.links.flatMap(({ a, b }, link) =>
  graph.isSwitch[a] === 1 && graph.isSwitch[b] === 1 ? [link] : [],
)

test("the longest path is of all networks that come about, however often", () => {
  const routes = new Routes(graph, new Ports(graph))
  const whole = routes.maxHops
  const [first = 0, second = 0] = between
  const flap = (link: number, time: number) => [
    { time, link, direction: "both" as const, up: false },
    { time: time + 1, link, direction: "both" as const, up: true },
  ]
  const cut = longestPath(graph, {}, { events: flap(first, 0) })
  expect(cut).toBe(graph.links.length - between.length)
  expect(cut).toBeGreaterThan(whole)
  expect(longestPath(graph, {}, { events: [] })).toBe(whole)
  const many = Array.from({ length: 200_000 }, (_, i) => flap(i % 2 === 0 ? first : second, 2 * i)).flat()
  const before = performance.now()
  expect(longestPath(graph, {}, { events: many })).toBe(cut)
  expect(performance.now() - before).toBeLessThan(5000)
})
