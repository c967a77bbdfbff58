import { tcp } from "@rdmakit/cc-cubic"
import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { srd } from "@rdmakit/cc-srd"
import type { ControllerFactory, FlowTransport, LoadBalancer } from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { leafSpine, star } from "@rdmakit/topology"
import { erdmaFlows } from "@rdmakit/transport-erdma"
import { RcOptionsError } from "@rdmakit/transport-ib"
import { srdConfig, srdFlows } from "@rdmakit/transport-srd"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { fixedSize, permutationFlows } from "@rdmakit/workload"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import {
  Fabric,
  type FabricOptions,
  type FlowInput,
  flowInputs,
  flowsOf,
  NicModel,
  readyListNics,
  SwitchModel,
  sharedBufferSwitches,
  simulateFlows,
  Topology,
  Transport,
  type TransportModel,
} from "../src/index.ts"
import { incast, lineRate, runFlows } from "./runs.ts"

const switches = sharedBufferSwitches({ lossless: false })

const network = (controller: ControllerFactory, transport: TransportModel) =>
  Fabric.layer.pipe(
    Layer.provide(Layer.succeed(CongestionControl, controller)),
    Layer.provide(Layer.succeed(Topology, star(5))),
    Layer.provide(Layer.succeed(SwitchModel, switches)),
    Layer.provide(Layer.succeed(Transport, transport)),
  )

const run = (controller: ControllerFactory, transport: TransportModel, flows: ReadonlyArray<FlowInput>) =>
  Effect.runPromise(Effect.provide(simulateFlows(flows), network(controller, transport)))

const refusal = (transport: unknown) =>
  Effect.runPromise(Effect.flip(Effect.provide(simulateFlows([]), network(lineRate, transport as TransportModel))))

describe("a transport of one's own", () => {
  const cubic = tcp({ variant: "cubic" })
  const transports: ReadonlyArray<readonly [string, ControllerFactory, (c: ControllerFactory) => FlowTransport]> = [
    ["tcp", cubic, (controller) => tcpFlows(tcpConfig({ controller }))],
    ["erdma/vxlan", cubic, (controller) => erdmaFlows({ controller })],
    ["srd", srd(), (controller) => srdFlows(srdConfig({ controller }))],
  ]

  it.each(transports)(
    "%s: a layer gives it, made or to be made, and it is what a run of parts has",
    async (...given) => {
      const [name, controller, make] = given
      const asked: Array<[string, number, string]> = []
      const [made, toBeMade] = [
        await run(controller, make(controller), incast(4, "1MB")),
        await run(
          controller,
          (network, hops) => {
            const transport = make(network)
            asked.push([network.name, hops, transport.name])
            return transport
          },
          incast(4, "1MB"),
        ),
      ]
      expect(asked).toEqual([[controller.name, 1, name]])
      expect(made).toMatchObject({ flowsFinished: 4, controller: controller.name, notes: [] })
      expect(toBeMade.digest).toBe(made.digest)
      const options = { graph: star(5), controller, switches }
      expect(runFlows({ ...options, makeTransport: make }, incast(4, "1MB")).outcome.digest).toBe(made.digest)
      expect(runFlows({ ...options, transport: make }, incast(4, "1MB")).outcome.digest).toBe(made.digest)
      // Not what reliable connections would do.
      expect(runFlows(options, incast(4, "1MB")).outcome.digest).not.toBe(made.digest)
    },
  )

  it("has controllers that are told the base RTT of the fabric, or of each pair", async () => {
    const graph = leafSpine({ leaves: 2, spines: 1, hostsPerLeaf: 2 })
    const flows = [
      { source: 0, destination: 1, size: 1000 },
      { source: 0, destination: 2, size: 1000 },
    ]
    const told = async (options: FabricOptions, transport: TransportModel) => {
      const baseRtts: Array<number> = []
      const listening: ControllerFactory = {
        ...lineRate,
        make: (now, path) => {
          baseRtts.push(path.baseRttPs)
          return lineRate.make(now, path)
        },
      }
      const layer = Fabric.layer.pipe(
        Layer.provide(Layer.succeed(CongestionControl, listening)),
        Layer.provide(Layer.succeed(Topology, graph)),
        Layer.provide(Layer.succeed(Transport, transport)),
      )
      await Effect.runPromise(Effect.provide(simulateFlows(flows, options), layer))
      return baseRtts
    }
    const tcp = (controller: ControllerFactory) => tcpFlows(tcpConfig({ controller }))
    for (const transport of [tcp, {}]) {
      const [near, far] = await told({ baseRtt: "pair" }, transport)
      expect(near).toBeLessThan(far!)
      for (const options of [{}, { baseRtt: "fabric" }] as const) {
        expect(await told(options, transport)).toEqual([far, far])
      }
    }
    // What the settings say is the default.
    const settings = { baseRtt: "pair" } as const
    expect(await told({}, settings)).toEqual(await told({ baseRtt: "pair" }, {}))
    expect(await told({ baseRtt: "fabric" }, settings)).toEqual(await told({}, {}))
  })

  it("that carries no telemetry is noted where the controller lives on it", async () => {
    const { notes } = await run(
      hpcc(hpccPresets.simulation),
      (controller) => srdFlows(srdConfig({ controller })),
      incast(4, 1000),
    )
    expect(notes[0]).toBe("controller hpcc/paper needs int, which packets of srd do not carry: it goes without")
  })

  it("that is none, or whose options are wrong, is a typed error", async () => {
    const sound = tcpFlows(tcpConfig({ controller: lineRate }))
    const wrong: ReadonlyArray<readonly [unknown, string, string]> = [
      [() => undefined, "TransportInvalid", "transport"],
      [() => "tcp", "TransportInvalid", "transport"],
      [{ ...sound, open: 1 }, "TransportInvalid", "open"],
      [{ ...sound, name: undefined }, "TransportInvalid", "name"],
      [{ ...sound, mtuBytes: 0.5 }, "TransportInvalid", "mtuBytes"],
      [{ ...sound, mtuBytes: undefined }, "TransportInvalid", "mtuBytes"],
      [{ ...sound, framing: { ...sound.framing, ackBytes: -1 } }, "TransportInvalid", "framing.ackBytes"],
      [{ ...sound, telemetry: "yes" }, "TransportInvalid", "telemetry"],
      [
        (controller: ControllerFactory) => tcpFlows(tcpConfig({ controller, retryCount: -1 })),
        "TcpTransportError",
        "retryCount",
      ],
      [{ retryCount: -1 }, "RcOptionsError", "retryCount"],
    ]
    for (const [transport, _tag, option] of wrong) {
      expect(await refusal(transport)).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag, option } })
    }
  })
})

describe("a load balancer of one's own", () => {
  const graph = leafSpine({ leaves: 2, spines: 4, hostsPerLeaf: 4 })
  const flows = [0, 1, 2, 3].map((source) => ({ source, destination: 4 + source, size: 100_000 }))
  const options = { graph, controller: lineRate, seed: 3 }

  it("is made once for all switches, with the run's seed and the kernel's ports, and chooses the paths", () => {
    const made: Array<[number, number]> = []
    const asked = new Set<number>()
    const { outcome, run } = runFlows(
      {
        ...options,
        switches: sharedBufferSwitches({
          loadBalancer: (seed, ports): LoadBalancer => {
            made.push([seed, ports.queueBytes(0)])
            return {
              pick: (_now, _packet, node, count) => {
                asked.add(node)
                return count - 1
              },
            }
          },
        }),
      },
      flows,
    )
    expect(made).toEqual([[3, 0]])
    // The two leaves; spines have one way to each host.
    expect([...asked].sort()).toEqual([8, 9])
    expect(outcome.flowsFinished).toBe(4)
    const { kernel, ports } = run.world
    const sent = [...ports.portsOf(8)].filter((port) => ports.peerNode(port) > 9).map((port) => kernel.sentBytes(port))
    expect(sent.filter((bytes) => bytes > 0)).toHaveLength(1)
  })

  it("that is none is a typed error, and so is a choice that is none", async () => {
    const using = (pick: unknown) =>
      Layer.succeed(SwitchModel, sharedBufferSwitches({ loadBalancer: () => pick as LoadBalancer }))
    const error = (pick: unknown) =>
      Fabric.layer.pipe(
        Layer.provide(using(pick)),
        Layer.provide(Layer.succeed(CongestionControl, lineRate)),
        Layer.provide(Layer.succeed(Topology, graph)),
        (fabric) => Effect.runPromise(Effect.flip(Effect.provide(simulateFlows(flows), fabric))),
      )
    for (const none of [undefined, {}, { pick: 1 }, () => 0]) {
      expect(await error(none)).toMatchObject({ _tag: "NetworkInvalid", cause: { option: "balancer" } })
    }
    expect(await error({ pick: () => 4 })).toMatchObject({ _tag: "LoadBalancerFault" })
  })

  it("is asked for each packet where it says so, by both kernels alike", () => {
    const digests = (["exact", "fused"] as const).map((kernel) => {
      let turn = 0
      const loadBalancer = (): LoadBalancer => ({
        perPacket: true,
        pick: (_now, packet, _node, count) => (packet.psn + (turn++ & 0)) % count,
      })
      const { outcome } = runFlows({ ...options, kernel, switches: sharedBufferSwitches({ loadBalancer }) }, flows)
      expect(turn).toBeGreaterThan(400)
      return outcome.digest
    })
    expect(digests[1]).toBe(digests[0])
  })
})

it("the flows of a workload are those that a fabric takes", () => {
  const graph = star(8)
  const hosts = Array.from({ length: 8 }, (_, host) => host)
  const workload = permutationFlows({ hosts, sizes: fixedSize(5000), startPs: 7e6, seed: 1 })
  const flows = flowsOf(flowInputs(workload), graph)
  expect(flows).toHaveLength(8)
  flows.forEach((flow, i) => {
    const { source, destination, sizeBytes: bytes, startPs: start, priority, destinationPort } = workload[i]!
    expect(flow).toMatchObject({ source, destination, bytes, start, priority, destinationPort })
  })
})

it("a part counts where it is provided to Fabric.layer; merged it is ignored", async () => {
  let made = 0
  const mine = Layer.succeed(NicModel, (context) => {
    made++
    return readyListNics(context)
  })
  const flows = incast(4, 1000)
  const plain = network(lineRate, {})
  await Effect.runPromise(Effect.provide(simulateFlows(flows), Layer.merge(plain, mine)))
  expect(made).toBe(0)
  await Effect.runPromise(Effect.provide(simulateFlows(flows), plain.pipe(Layer.provide(mine))))
  expect(made).toBe(1)
})

describe("a part that breaks its word in the middle of a run", () => {
  const fault = (controller: ControllerFactory, transport: TransportModel) =>
    Effect.runPromise(Effect.flip(Effect.provide(simulateFlows(incast(4, "1MB")), network(controller, transport))))

  it("a transport whose packets are larger than it said is told of, with its host and the moment", async () => {
    const cubic = tcp({ variant: "cubic" })
    const larger = (controller: ControllerFactory): FlowTransport => {
      const made = tcpFlows(tcpConfig({ controller }))
      return { ...made, mtuBytes: made.mtuBytes - 1 }
    }
    expect(await fault(cubic, larger)).toMatchObject({
      _tag: "PacketFault",
      message: expect.stringMatching(
        /^NIC of host \d, at .* us: it sent \d+ bytes, expected a packet of 1 to \d+ bytes/,
      ),
    })
  })

  it("a controller that refuses its flow's path is told of, with its flow", async () => {
    const choosy: ControllerFactory = {
      ...lineRate,
      make: (_now, { mtuBytes }) => {
        throw new RcOptionsError("mtuBytes", mtuBytes, "another one")
      },
    }
    expect(await fault(choosy, {})).toMatchObject({
      _tag: "ControllerFault",
      flow: 0,
      message: expect.stringContaining("mtuBytes is 1000, expected another one"),
    })
  })
})
