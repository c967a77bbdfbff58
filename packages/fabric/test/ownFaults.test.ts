import { HostNic, type HostNicOptions, type NicQueuePair, ReadyListNic } from "@rdmakit/nic"
import type { Packet } from "@rdmakit/packet"
import {
  type ControllerFactory,
  Drop,
  type FlowCommand,
  type FlowEngine,
  type FlowEvent,
  type FlowTransport,
  type Switch,
  type Time,
  unpaced,
} from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { star } from "@rdmakit/topology"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import {
  Fabric,
  type NicFactory,
  NicModel,
  type SwitchFactory,
  SwitchModel,
  sharedBufferSwitches,
  simulateFlows,
  simulateProgram,
  Topology,
  Transport,
  type TransportModel,
  VerbsNetwork,
} from "../src/index.ts"
import { incast, lineRate, runFlows } from "./runs.ts"
import { connect, type End, makeEnd, write } from "./verbs/connected.ts"

interface Parts {
  readonly switches?: unknown
  readonly nics?: unknown
  readonly transport?: unknown
}

/** What a fabric of these parts says of an incast of two flows. */
const refusal = ({ switches = sharedBufferSwitches(), nics, transport = {} }: Parts) =>
  Fabric.layer.pipe(
    Layer.provide(nics === undefined ? Layer.empty : Layer.succeed(NicModel, nics as NicFactory)),
    Layer.provide(Layer.succeed(SwitchModel, switches as SwitchFactory)),
    Layer.provide(Layer.succeed(Transport, transport as TransportModel)),
    Layer.provide(Layer.succeed(CongestionControl, lineRate)),
    Layer.provide(Layer.succeed(Topology, star(3))),
    (fabric) => Effect.runPromise(Effect.flip(Effect.provide(simulateFlows(incast(2, 10_000)), fabric))),
  )

/** The least a switch can be; of a star whose middle is node 3. */
const plainSwitches =
  (own: Partial<Record<keyof Switch, unknown>>): SwitchFactory =>
  () =>
  ({ routes, node }): Switch =>
    ({
      dequeue: "lazy",
      perPacket: false,
      route: (_now: Time, { destination }: Packet) => routes.nextHop(node, destination, 0),
      admit: (_now: Time, { priority }: Packet) => priority,
      dequeued: () => {},
      ...own,
    }) as Switch

describe("a switch of one's own", () => {
  it.each<[unknown, string]>([
    [Number.NaN, "NaN"],
    [undefined, "nothing"],
    [1.5, "1.5"],
    [0, "0"],
    [6, "6"],
    ["1", '"1"'],
    [-32, "-32"],
    [Number.POSITIVE_INFINITY, "Infinity"],
  ])("whose route is %s is told of, with the switch, the packet and its ports", async (way, shown) => {
    for (const perPacket of [false, true]) {
      const error = await refusal({ switches: plainSwitches({ perPacket, route: () => way }) })
      expect(error).toMatchObject({ _tag: "SwitchFault", node: 3 })
      expect(error.message).toMatch(
        new RegExp(
          `^switch 3, at \\S+ us: its route gave ${shown} for a packet from host \\d to host 2, expected one of`,
        ),
      )
      expect(error.message).toContain("its ports (1, 3, 5), or a Drop, -1 to -31")
    }
  })

  it.each<[unknown, string]>([
    [Number.NaN, "NaN"],
    [undefined, "nothing"],
    [0.5, "0.5"],
    [8, "8"],
    ["3", '"3"'],
    [-32, "-32"],
  ])("whose admit is %s is told of", async (queue, shown) => {
    const error = await refusal({ switches: plainSwitches({ admit: () => queue }) })
    expect(error).toMatchObject({ _tag: "SwitchFault", node: 3 })
    expect(error.message).toContain(
      `its admit gave ${shown} for a packet from host 0 to host 2, expected a queue, 0 to 7, or a Drop, -1 to -31`,
    )
  })

  it("may drop for a reason of its own", () => {
    const parts = { graph: star(3), controller: lineRate, switches: plainSwitches({ admit: () => -31 }) }
    expect(runFlows(parts, incast(2, 1000), 1e9).outcome.dropsByReason).toEqual({ "reason-31": 2 })
    const noWay = { ...parts, switches: plainSwitches({ route: () => Drop.NoRoute }) }
    expect(runFlows(noWay, incast(2, 1000), 1e9).outcome.dropsByReason).toEqual({ "no-route": 2 })
  })

  it("is told of in a network of devices too", () => {
    const network = new VerbsNetwork({ graph: star(2), switches: plainSwitches({ route: () => 7.5 }) })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc")) as [End, End]
    connect(a, b)
    write(a, b, 1000)
    expect(() => network.run()).toThrow(/^switch 2, at .* us: its route gave 7.5 for a packet from host 0 to host 1/)
  })

  it.each<[unknown, string, string]>([
    [() => undefined, "what switches gave", "is nothing, expected a function that makes a switch"],
    [
      () => () => undefined,
      "switch 3",
      "is nothing, expected a switch, { dequeue, perPacket, route, admit, dequeued }",
    ],
    [plainSwitches({ route: undefined }), "switch 3: route", "is nothing, expected a function, as a switch has it"],
    [plainSwitches({ admit: 1 }), "switch 3: admit", "is 1, expected a function"],
    [plainSwitches({ dequeued: null }), "switch 3: dequeued", "is null, expected a function"],
    [plainSwitches({ dequeue: "late" }), "switch 3: dequeue", 'is "late", expected eager or lazy'],
    [plainSwitches({ perPacket: undefined }), "switch 3: perPacket", "is nothing, expected true or false"],
  ])("that is none is refused: %#", async (switches, option, message) => {
    const error = await refusal({ switches })
    expect(error).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "NetworkOptionError", option } })
    expect(error.message).toContain(`network: ${option} ${message}`)
    const program = simulateProgram(Effect.void).pipe(
      Effect.provide(Layer.succeed(Topology, star(3))),
      Effect.provide(Layer.succeed(SwitchModel, switches as SwitchFactory)),
    )
    expect(await Effect.runPromise(Effect.flip(program))).toMatchObject({ _tag: "NetworkInvalid", cause: { option } })
  })
})

type Options = HostNicOptions<FlowCommand, FlowEvent>
type End1 = NicQueuePair<FlowCommand, FlowEvent>

/** A NIC that sends for whoever came first; what it does before each look. */
const wakingNics = (wake: (ports: Options["ports"], now: Time, port: number) => void): NicFactory => {
  class Waking extends HostNic<FlowCommand, FlowEvent> {
    private readonly list: Array<End1> = []
    protected readonly touched = (_now: Time, each: End1): void => {
      if (each.place < 0 && each.hasData) each.place = this.list.push(each)
    }
    protected readonly pullData = (now: Time, port: number): number => {
      wake(this.ports, now, port)
      const each = this.list.find((one) => one.port === port && one.hasData && !one.windowBound && one.paceTime <= now)
      return each === undefined ? -1 : this.take(now, each)
    }
    protected readonly dataQuiet = (): boolean => false
    clear(): void {}
  }
  return () => (options) => new Waking(options)
}

describe("a NIC of one's own", () => {
  it.each<[string, (now: Time) => unknown, string]>([
    ["NaN", () => Number.NaN, "NaN"],
    ["undefined", () => undefined, "nothing"],
    ["a text", () => "1us", '"1us"'],
    ["a time that has passed", (now) => now - 5, `\\S+ ps, 5 ps ago`],
  ])("that asks for a wake-up at %s is told of, with its host", async (_name, time, shown) => {
    const nics = wakingNics((ports, now, port) => ports.wakeAt(port, time(now) as Time))
    const error = await refusal({ nics })
    expect(error).toMatchObject({ _tag: "NicFault", node: 0 })
    expect(error.message).toMatch(
      new RegExp(
        `^NIC of host 0, at 0 us: it asked for a wake-up at ${shown}: expected a time that is not before now, ps`,
      ),
    )
  })

  it("so is one that asks for a timer at no time, and one that wakes a port that no host has", async () => {
    const timed = wakingNics((ports) => ports.timerAt(0, 0, 0, Number.NaN))
    expect(await refusal({ nics: timed })).toMatchObject({
      _tag: "NicFault",
      message: expect.stringContaining("it asked for a timer at NaN: expected a time that is not before now, ps"),
    })
    for (const port of [1, 6, undefined, 0.5]) {
      const nics = wakingNics((ports, now) => ports.wakeAt(port as number, now))
      expect(await refusal({ nics })).toMatchObject({
        _tag: "NicFault",
        node: undefined,
        message: expect.stringMatching(/^NIC, at 0 us: it asked for a wake-up of port \S+, expected a port of a host/),
      })
    }
  })

  it("one that wakes itself at once for ever is stopped, be there flows or devices", async () => {
    const stuck = /wake-up of port \d at \S+ ps, which is now, when 1000 had just come: expected a later/
    const nics = wakingNics((ports, now, port) => ports.wakeAt(port, now))
    const error = await refusal({ nics })
    expect(error).toMatchObject({ _tag: "NicFault", node: 0, message: expect.stringMatching(stuck) })

    class Restless<Command, Event> extends ReadyListNic<Command, Event> {
      override readonly pull = (now: Time, port: number): number => {
        this.ports.wakeAt(port, now)
        return -1
      }
    }
    const network = new VerbsNetwork({ graph: star(2), makeNic: (options) => new Restless(options) })
    const [a, b] = network.devices.map((device) => makeEnd(device, "rc")) as [End, End]
    connect(a, b)
    write(a, b, 1000)
    expect(() => network.run()).toThrow(stuck)
  })

  it("may wake a port at once a few times, and set a wake-up anew as often as it likes", () => {
    const run = (wake: Parameters<typeof wakingNics>[0]) =>
      runFlows({ graph: star(3), controller: lineRate, nics: wakingNics(wake) }, incast(2, 10_000)).outcome
    let left = 20
    const afew = run((ports, now, port) => {
      if (left-- > 0) ports.wakeAt(port, now)
    })
    let once = true
    const anew = run((ports, now, port) => {
      for (let i = 0; once && i < 5000; i++) ports.wakeAt(port, now)
      once = false
    })
    expect([afew, anew].map(({ flowsFinished }) => flowsFinished)).toEqual([2, 2])
    expect(anew.digest).toBe(afew.digest)
  })

  it.each<[unknown, string, string]>([
    [() => undefined, "what nics gave", "is nothing, expected a function that makes the NICs of all hosts"],
    [() => () => undefined, "NICs", "is nothing, expected the NICs of all hosts, a subclass of HostNic"],
    [() => () => ({}), "NICs: receive", "is nothing, expected a function, as a subclass of HostNic has it"],
    [
      () => (options: Options) => Object.assign(new ReadyListNic(options), { pullData: undefined }),
      "NICs: pullData",
      "is nothing, expected a function",
    ],
  ])("that is none is refused: %#", async (nics, option, message) => {
    const error = await refusal({ nics })
    expect(error).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "NetworkOptionError", option } })
    expect(error.message).toContain(`network: ${option} ${message}`)
    if (option.startsWith("what")) return
    const make = (nics as () => never)()
    expect(() => new VerbsNetwork({ graph: star(2), makeNic: make })).toThrow(`network: ${option} ${message}`)
  })
})

describe("a transport of one's own", () => {
  const tcp = tcpFlows(tcpConfig({ controller: lineRate }))
  /** TCP, but for what is changed of each end. */
  const changed = (change: (end: FlowEngine) => unknown): FlowTransport => ({
    ...tcp,
    open: (hops) => {
      const make = tcp.open(hops)
      return (now, address) => change(make(now, address)) as FlowEngine
    },
  })

  it.each([undefined, null, {}])("whose open gives %s is refused", async (given) => {
    const error = await refusal({ transport: { ...tcp, open: () => given } })
    expect(error).toMatchObject({
      _tag: "NetworkInvalid",
      cause: { _tag: "TransportInvalid", option: "what open gave", value: given },
      message: expect.stringContaining("expected a function that makes the ends of flows, (now, address)"),
    })
  })

  it.each<[string, (end: FlowEngine) => unknown, string]>([
    ["nothing", () => undefined, "it made nothing, expected an end, a FlowEngine"],
    ["a text", () => "end", 'it made "end", expected an end'],
    ["no engine", () => ({}), "handlePacket of an end is nothing, expected a function"],
    [
      "an end that cannot be polled",
      (end) => Object.create(end, { pollEvent: { value: 7 } }),
      "pollEvent of an end is 7, expected a function",
    ],
    [
      "an end of another flow",
      (end) => Object.create(end, { flow: { value: 2 ** 40 } }),
      "flow of an end is 1099511627776, expected that of its address, 0",
    ],
    [
      "an end of another host",
      (end) => Object.create(end, { node: { value: 1.5 } }),
      "node of an end is 1.5, expected that of its address, 0",
    ],
    [
      "events of another flow",
      (end) => Object.assign(end, { pollEvent: () => ({ type: "completed", time: 0, message: 7, bytes: 0 }) }),
      "its pollEvent gave an event of message 7, expected one of its message, 0",
    ],
    [
      "no events",
      (end) => Object.assign(end, { pollEvent: () => null }),
      "its pollEvent gave null as an event, expected one of its message, 0",
    ],
  ])("that makes %s is told of, with its flow", async (_name, change, message) => {
    const error = await refusal({ transport: changed(change) })
    expect(error).toMatchObject({ _tag: "TransportFault", flow: 0 })
    expect(error.message).toContain("transport of flow 0, at 0 us: ")
    expect(error.message).toContain(message)
  })

  it("whose events have no end is told of", async () => {
    const event: FlowEvent = { type: "failed", time: 0, message: 0, bytes: 0 }
    const error = await refusal({ transport: changed((end) => Object.assign(end, { pollEvent: () => event })) })
    expect(error).toMatchObject({
      _tag: "TransportFault",
      flow: 0,
      message:
        "transport of flow 0, at 0 us: its pollEvent gave more than 1048576 events in a row, expected undefined when there is none left",
    })
  })

  it("whose packets no network has room for is refused, and so are such settings", async () => {
    const { framing } = tcp
    for (const [transport, option] of [
      [{ ...tcp, mtuBytes: 2 ** 40 }, "mtuBytes"],
      [{ ...tcp, framing: { ...framing, dataBytes: 2 ** 40 } }, "framing.dataBytes"],
      [{ ...tcp, framing: { ...framing, pfcBytes: 2 ** 21 } }, "framing.pfcBytes"],
      [{ mtuBytes: 2 ** 40 }, "mtuBytes"],
    ] as const) {
      const error = await refusal({ transport })
      expect(error).toMatchObject({ _tag: "NetworkInvalid", cause: { _tag: "TransportInvalid", option } })
      expect(error.message).toContain("expected at most 1048576 bytes")
    }
  })
})

it("a timer that is set into the past comes at once: time does not go back", () => {
  const times: Array<Time> = []
  const controller: ControllerFactory = {
    name: "late",
    needs: [],
    make: (_now, { lineRateBps }) => ({
      ...unpaced,
      window: 1e6,
      rate: lineRateBps,
      onAck(now: Time): boolean {
        times.push(now)
        if (times.length === 1) Object.assign(this, { nextTimer: now - 1e6 })
        return false
      },
      onTimer(now: Time): boolean {
        times.push(-now)
        Object.assign(this, { nextTimer: Number.POSITIVE_INFINITY })
        return false
      },
    }),
  }
  runFlows({ graph: star(2), controller }, incast(1, 10_000))
  expect(times[1]).toBe(-times[0]!)
  expect(times.filter((time) => time < 0)).toHaveLength(1)
  const inOrder = times.map(Math.abs)
  expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b))
})
