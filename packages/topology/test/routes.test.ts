import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Graph, GraphBuilder, Ports, Routes, type RoutesOptions, TopologyError } from "../src/index.ts"

const route = (graph: Graph, options?: RoutesOptions) => {
  const ports = new Ports(graph)
  return { ports, routes: new Routes(graph, ports, options) }
}

/** Two hosts, each linked to both of two switches, and one of those links doubled. */
const diamond = (): Graph => {
  const builder = new GraphBuilder()
  const [left, right] = [builder.host(), builder.host()]
  const [low, high] = [builder.switch(), builder.switch()]
  builder.link(left, high) // ports 0, 1
  builder.link(left, low) // ports 2, 3
  builder.link(left, high) // ports 4, 5
  builder.link(right, low) // ports 6, 7
  builder.link(right, high) // ports 8, 9
  return builder.build()
}

describe("Routes", () => {
  it("orders next hops by node, parallel links as listed", () => {
    const graph = diamond()
    expect([...route(graph).routes.nextHops(0, 1)]).toEqual([2, 0, 4])
    expect([...route(graph, { order: "descending" }).routes.nextHops(0, 1)]).toEqual([0, 4, 2])
    expect([...route(graph, { parallel: "last" }).routes.nextHops(0, 1)]).toEqual([2, 4])
    expect([...route(graph, { parallel: "last" }).routes.nextHops(3, 0)]).toEqual([5])
    expect([...route(graph).routes.nextHops(3, 0)]).toEqual([1, 5])
    expect([...route(graph).routes.nextHops(0, 0)]).toEqual([])
    expect(route(graph).routes).toMatchObject({ maxHops: 1, version: 0 })
  })

  it("orders next hops as the HPCC simulator's search comes by them (third.cc, CalculateRoute)", () => {
    const builder = new GraphBuilder()
    const [near, far] = builder.hosts(2) as [number, number]
    const [edge, low, high, lower, higher, last] = builder.switches(6) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ]
    for (const [a, b] of [
      [near, edge],
      [edge, low],
      [edge, high],
      [high, lower],
      [low, higher],
      [lower, last],
      [higher, last],
      [last, far],
    ] as const)
      builder.link(a, b)
    const { routes } = route(builder.build(), { order: "breadth-first" })
    // From `near` it looks at `high` before `low`, and so comes by `lower`, which hangs on `high`, before `higher`.
    expect([...routes.nextHops(last, near)]).toEqual([2 * 5 + 1, 2 * 6 + 1])
    // From `far` it looks at `higher` first, and so comes by `low` before `high`.
    expect([...routes.nextHops(edge, far)]).toEqual([2 * 1, 2 * 2])
  })

  it("never goes through a host", () => {
    const builder = new GraphBuilder()
    const [a, middle, b] = builder.hosts(3) as [number, number, number]
    const [s, t] = builder.switches(2) as [number, number]
    builder.link(a, s)
    builder.link(s, middle)
    builder.link(middle, t)
    builder.link(t, b)
    const { routes } = route(builder.build())
    expect(routes.reachable(a, middle)).toBe(true)
    expect(routes.reachable(a, b)).toBe(false)
    expect(routes.distance(a, b)).toBe(-1)
    expect([...routes.nextHops(s, b)]).toEqual([])
    expect([...routes.nextHops(middle, b)]).toEqual([4])
  })

  it("takes a host's direct link to another host", () => {
    const builder = new GraphBuilder()
    const [a, b] = [builder.host(), builder.host()]
    builder.link(a, b)
    const { routes } = route(builder.build())
    expect([routes.distance(a, b), [...routes.nextHops(a, b)], routes.maxHops]).toEqual([1, [0], 0])
  })

  it("follows links as they go down and up", () => {
    const { routes } = route(diamond())
    const before = [...routes.table]
    routes.setLink(1, false)
    expect([...routes.nextHops(0, 1)]).toEqual([0, 4])
    expect([...routes.nextHops(2, 0)]).toEqual([])
    expect([routes.version, routes.isUp(1)]).toEqual([1, false])
    routes.setLink(1, false)
    expect(routes.version).toBe(1)
    routes.setLink(1, true)
    expect([routes.version, [...routes.table]]).toEqual([2, before])
    // The only link routing knows between left and high is the last, so its loss is not made up by the first.
    const last = route(diamond(), { parallel: "last" }).routes
    last.setLink(2, false)
    expect([...last.nextHops(0, 1)]).toEqual([2])
  })

  it("can go on from others, which stay as they are", () => {
    const { ports, routes } = route(diamond(), { order: "descending" })
    const others = new Routes(diamond(), ports, routes)
    expect([others.table, others.start, others.maxHops]).toEqual([routes.table, routes.start, routes.maxHops])
    const before = [...routes.table]
    others.setLink(1, false)
    expect([...others.nextHops(0, 1)]).toEqual([0, 4])
    expect([[...routes.table], routes.isUp(1), routes.version]).toEqual([before, true, 0])
    routes.setLink(1, false)
    expect([...routes.table]).toEqual([...others.table])
  })

  it("says which question makes no sense", () => {
    const { routes } = route(diamond())
    const kinds = [() => routes.nextHops(0, 2), () => routes.distance(0, 99), () => routes.setLink(5, false)].map(
      (ask) => {
        try {
          return ask()
        } catch (error) {
          return error instanceof TopologyError ? error.kind : error
        }
      },
    )
    expect(kinds).toEqual(["not-a-host", "not-a-host", "unknown-link"])
  })

  const graphs = fc
    .record({
      kinds: fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
      ends: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 30 }),
    })
    .map(({ kinds, ends }) => {
      const builder = new GraphBuilder()
      for (const isSwitch of kinds) isSwitch ? builder.switch() : builder.host()
      for (const [a, b] of ends)
        if (a % kinds.length !== b % kinds.length) builder.link(a % kinds.length, b % kinds.length)
      return builder.build()
    })

  /** Shortest distances by relaxation until nothing changes. */
  const distances = (graph: Graph, up: (link: number) => boolean, host: number): ReadonlyArray<number> => {
    const distance = Array.from({ length: graph.nodes }, (_, node) => (node === host ? 0 : Number.POSITIVE_INFINITY))
    for (let round = 0; round < graph.nodes; round++) {
      for (const [index, { a, b }] of graph.links.entries()) {
        for (const [from, to] of [
          [a, b],
          [b, a],
        ] as const) {
          const through = to === host || graph.isSwitch[to] === 1
          if (up(index) && through) distance[from] = Math.min(distance[from]!, distance[to]! + 1)
        }
      }
    }
    return distance
  }

  /** The nodes that a search from a host looks at, in its order: the host and switches, each's neighbours descending. */
  const searched = (graph: Graph, up: (link: number) => boolean, host: number): ReadonlyArray<number> => {
    const queue = [host]
    for (const now of queue) {
      const neighbours = graph.links.flatMap(({ a, b }, index) =>
        !up(index) ? [] : a === now ? [b] : b === now ? [a] : [],
      )
      for (const next of neighbours.sort((p, q) => q - p)) {
        if (graph.isSwitch[next] === 1 && !queue.includes(next)) queue.push(next)
      }
    }
    return queue
  }

  it("agrees with plain relaxation on any graph, links up or down", () => {
    const options = fc.constantFrom<RoutesOptions>({}, { order: "descending" }, { order: "breadth-first" })
    fc.assert(
      fc.property(graphs, fc.array(fc.nat(), { maxLength: 4 }), options, (graph, downs, options) => {
        const { ports, routes } = route(graph, options)
        for (const down of downs) if (graph.links.length > 0) routes.setLink(down % graph.links.length, false)
        let longest = 0
        for (const host of routes.hosts) {
          const distance = distances(graph, (index) => routes.isUp(index), host)
          const visits = searched(graph, (index) => routes.isUp(index), host)
          for (let node = 0; node < graph.nodes; node++) {
            const expected = distance[node]!
            expect(routes.distance(node, host)).toBe(Number.isFinite(expected) ? expected : -1)
            if (graph.isSwitch[node] === 0 && Number.isFinite(expected)) longest = Math.max(longest, expected - 1)
            const nearer = [...ports.portsOf(node)].filter((port) => {
              const next = ports.peerNode(port)
              const through = next === host || graph.isSwitch[next] === 1
              return routes.isUp(port >> 1) && through && expected < graph.nodes && distance[next] === expected - 1
            })
            const sign = options.order === "descending" ? -1 : 1
            const key =
              options.order === "breadth-first" ? (next: number) => visits.indexOf(next) : (next: number) => next
            nearer.sort((p, q) => sign * (key(ports.peerNode(p)) - key(ports.peerNode(q))) || p - q)
            expect([...routes.nextHops(node, host)]).toEqual(nearer)
          }
        }
        expect(routes.maxHops).toBe(longest)
      }),
    )
  })
})
