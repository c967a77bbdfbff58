import { UnitError } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { GraphBuilder, hostsOf, type Link, Ports, TopologyError, validate } from "../src/index.ts"

const link = (patch: Partial<Link>): Link => ({ a: 0, b: 1, rateBps: 1e9, delayPs: 0, lossRate: 0, ...patch })

describe("GraphBuilder", () => {
  it("numbers nodes and links in the order of the calls", () => {
    const builder = new GraphBuilder()
    const [h0, s1, h2] = [builder.host(), builder.switch(), builder.host()]
    expect(builder.link(h0, s1, { rate: "25Gbps", delay: "500ns", loss: 0.5 })).toBe(0)
    expect(builder.link(s1, h2, { rate: 4e11, delay: 7 })).toBe(1)
    expect(builder.link(h0, h2)).toBe(2)
    const graph = builder.build()
    expect(graph).toEqual({
      nodes: 3,
      isSwitch: Uint8Array.of(0, 1, 0),
      links: [
        { a: 0, b: 1, rateBps: 25e9, delayPs: 500_000, lossRate: 0.5 },
        { a: 1, b: 2, rateBps: 4e11, delayPs: 7, lossRate: 0 },
        { a: 0, b: 2, rateBps: 1e11, delayPs: 1e6, lossRate: 0 },
      ],
    })
    expect([...hostsOf(graph)]).toEqual([0, 2])
  })

  it("refuses texts that are no rate and graphs that are none", () => {
    const builder = new GraphBuilder()
    const [a, b] = [builder.host(), builder.host()]
    expect(() => builder.link(a, b, { rate: "100 gigs" })).toThrow(UnitError)
    builder.link(a, 9)
    expect(() => builder.build()).toThrow("link 0 (0–9): node 9 does not exist; nodes are 0 to 1")
  })
})

describe("validate", () => {
  it.each([
    ["unknown-node", { b: 2 }],
    ["unknown-node", { a: -1 }],
    ["unknown-node", { a: 0.5 }],
    ["self-loop", { b: 0 }],
    ["rate", { rateBps: 0 }],
    ["rate", { rateBps: Number.NaN }],
    ["rate", { rateBps: -1 }],
    ["rate", { rateBps: "100Gbps" as never }],
    ["rate", { rateBps: "100" as never }],
    ["rate", { rateBps: Number.POSITIVE_INFINITY }],
    ["delay", { delayPs: -1 }],
    ["delay", { delayPs: 0.5 }],
    ["delay", { delayPs: Number.POSITIVE_INFINITY }],
    ["loss", { lossRate: 1.01 }],
    ["loss", { lossRate: -0.01 }],
    ["loss", { lossRate: Number.NaN }],
    ["loss", { lossRate: "0.5" as never }],
    ["loss", { lossRate: undefined as never }],
  ] as const)("reports %s of %j", (kind, patch) => {
    const errors = validate({ nodes: 2, isSwitch: new Uint8Array(2), links: [link({}), link(patch)] })
    expect(errors.map((error) => [error._tag, error.kind, error.link])).toEqual([["TopologyError", kind, 1]])
    expect(errors[0]).toBeInstanceOf(TopologyError)
  })

  it("reports all that is wrong, and a table of kinds that does not fit", () => {
    const links = [link({ a: 5, rateBps: 0 }), link({}), link({ lossRate: 2 })]
    expect(validate({ nodes: 2, isSwitch: new Uint8Array(2), links }).map((error) => error.kind)).toEqual([
      "unknown-node",
      "rate",
      "loss",
    ])
    expect(validate({ nodes: 3, isSwitch: new Uint8Array(2), links: [] }).map((error) => error.kind)).toEqual(["size"])
    expect(validate({ nodes: 0, isSwitch: new Uint8Array(0), links: [] })).toEqual([])
  })
})

it.each([null, undefined, 5, {}, { nodes: 1, links: [] }])("validate: %j is no graph", (graph) => {
  expect(validate(graph as never).map(({ message }) => message)).toEqual([
    "this is no graph, { nodes, isSwitch, links }",
  ])
})

describe("Ports", () => {
  it("makes two of each link, numbered on each node by appearance", () => {
    const builder = new GraphBuilder()
    const [h0, h1, s2] = [builder.host(), builder.host(), builder.switch()]
    builder.link(h0, s2, { rate: 1e9, delay: 10, loss: 0.25 })
    builder.link(s2, h1, { rate: 2e9, delay: 20 })
    builder.link(h0, s2, { rate: 3e9, delay: 30 })
    const ports = new Ports(builder.build())
    expect(ports.count).toBe(6)
    expect([...ports.node]).toEqual([0, 2, 2, 1, 0, 2])
    expect([...ports.iface]).toEqual([1, 1, 2, 1, 2, 3])
    expect([...ports.rateBps]).toEqual([1e9, 1e9, 2e9, 2e9, 3e9, 3e9])
    expect([...ports.delayPs]).toEqual([10, 10, 20, 20, 30, 30])
    expect([...ports.lossRate]).toEqual([0.25, 0.25, 0, 0, 0, 0])
    expect([h0, h1, s2].map((node) => [...ports.portsOf(node)])).toEqual([[0, 4], [3], [1, 2, 5]])
    expect([0, 1, 4].map((port) => [ports.peer(port), ports.peerNode(port), ports.link(port)])).toEqual([
      [1, 2, 0],
      [0, 0, 0],
      [5, 2, 2],
    ])
  })
})
