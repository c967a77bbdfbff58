import {
  type Controller,
  type ControllerFactory,
  type FlowTransport,
  NEVER,
  type Time,
  Timers,
  unpaced,
  WrOpcode,
} from "@rdmakit/protocol"
import { CongestionControl } from "@rdmakit/protocol/layer"
import { star } from "@rdmakit/topology"
import { srdConfig, srdFlows, srdVerbs } from "@rdmakit/transport-srd"
import { tcpConfig, tcpFlows } from "@rdmakit/transport-tcp"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { Fabric, simulateFlows, Topology, VerbsNetwork } from "../src/index.ts"
import { runFlows } from "./runs.ts"
import { connect, type End, makeEnd, write } from "./verbs/connected.ts"
import { remoteOf, type SrdEnd, sgeOf, srdEnds, toEnd } from "./verbs/srdEnds.ts"

type Own = { -readonly [Field in keyof Controller]: Controller[Field] }

/** Line rate and no control, with timers of its own. */
const withTimer = (set: (own: Own, now: Time) => void): ControllerFactory => ({
  name: "timed",
  needs: [],
  make: (now, { lineRateBps }) => {
    const own: Own = { ...unpaced, window: 1e6, rate: lineRateBps, timers: undefined }
    set(own, now)
    return own
  },
})

const transports: Record<string, undefined | ((controller: ControllerFactory) => FlowTransport)> = {
  rc: undefined,
  tcp: (controller) => tcpFlows(tcpConfig({ controller })),
  srd: (controller) => srdFlows(srdConfig({ controller })),
}

const flows = [
  { source: 0, destination: 1, size: 10_000 },
  { source: 0, destination: 1, size: 10_000, start: "3us" },
]

/** Never, unless the controller of a flow breaks its contract. */
const UNTIL = 1e9

describe.each(Object.keys(transports))("over %s", (name) => {
  const makeTransport = transports[name]
  const run = (set: (own: Own, now: Time) => void) => () =>
    runFlows({ graph: star(2), controller: withTimer(set), ...(makeTransport && { makeTransport }) }, flows, UNTIL)
      .outcome
  /** What it does at each acknowledgement, or when its timer fires. */
  const doing = (deed: (now: Time) => void) => (now: Time) => {
    deed(now)
    return false
  }

  it.each<[string, (own: Own, now: Time) => void]>([
    [
      "is always 0",
      (own) => {
        own.nextTimer = 0
      },
    ],
    [
      "is always -1",
      (own) => {
        own.nextTimer = -1
      },
    ],
    [
      "is always when the flow began",
      (own, now) => {
        own.nextTimer = now
      },
    ],
    [
      "falls",
      (own) => {
        own.nextTimer = 1
        own.onTimer = doing(() => own.nextTimer--)
      },
    ],
    [
      "is now, whenever that is",
      (own) => {
        own.onAck = doing((now) => {
          own.nextTimer = now
        })
      },
    ],
  ])("a timer that %s is a fault", (_name, set) => {
    expect(run(set)).toThrow(expect.objectContaining({ _tag: "ControllerFault" }))
    expect(run(set)).toThrow(/controller of flow [01], at .* us: its timer is due at .* as it was 1000 times in a row/)
  })

  it("so is one of several", () => {
    const set = (own: Own, now: Time): void => {
      const timers = new Timers(2)
      timers.set(1, now + 1e6)
      own.timers = timers
      own.onTimer = doing((at) => timers.set(1, at))
    }
    expect(run(set)).toThrow("its timer is due at 1000000 ps, which is now, as it was 1000 times in a row")
  })

  it("and one that is no number, from the beginning or later", () => {
    const wrong = (own: Own): void => {
      own.nextTimer = Number.NaN
    }
    expect(run(wrong)).toThrow(/controller of flow \d, at 0 us: its nextTimer is NaN, expected a time, or NEVER/)
    const later = (own: Own): void => {
      own.onAck = doing(() => wrong(own))
    }
    expect(run(later)).toThrow(
      /controller of flow 0, at .* us: its timer is due at NaN: expected a later time, or NEVER/,
    )
    const oneOfSeveral = (own: Own): void => {
      const timers = new Timers(1)
      own.timers = timers
      own.onAck = doing(() => timers.set(0, Number.NaN))
    }
    expect(run(oneOfSeveral)).toThrow("its timer is due at NaN")
  })

  it("a timer that is due again at once, a few times, is well", () => {
    const calls: Array<Time> = []
    const set = (own: Own, now: Time): void => {
      let left = 3
      own.nextTimer = now + 1e6
      own.onTimer = doing((at) => {
        calls.push(at)
        if (--left === 0) own.nextTimer = NEVER
      })
    }
    expect(run(set)().flowsFinished).toBe(2)
    expect(calls.slice(0, 3)).toEqual([1e6, 1e6, 1e6])
  })
})

it.each([null, undefined, 5])("what makes %s for a controller is a fault", (made) => {
  const controller: ControllerFactory = { name: "none", needs: [], make: () => made as never }
  expect(() => runFlows({ graph: star(2), controller }, flows)).toThrow(
    /controller of flow 0, at 0 us: make returned (null|nothing|5), expected a controller/,
  )
})

const standing = withTimer((own) => {
  own.nextTimer = 0
})

it("a fabric fails with it", async () => {
  const network = Fabric.layer.pipe(
    Layer.provide(Layer.succeed(CongestionControl, standing)),
    Layer.provide(Layer.succeed(Topology, star(2))),
  )
  const error = await Effect.runPromise(Effect.flip(Effect.provide(simulateFlows(flows), network)))
  expect(error).toMatchObject({ _tag: "ControllerFault", flow: 0 })
})

it.each(["rc", "uc"] as const)("and so does a network of devices, over %s", (type) => {
  const network = new VerbsNetwork({ graph: star(2), controller: standing })
  const [a, b] = network.devices.map((device) => makeEnd(device, type)) as [End, End]
  connect(a, b)
  write(a, b, 100_000)
  expect(() => network.run()).toThrow(/its timer is due at 0 ps, .*, as it was 1000 times in a row/)
})

describe("over srd, where a device has a controller for each peer", () => {
  /** One host writes to two others, each with the controller that is made for it. */
  const run = (...each: ReadonlyArray<(own: Own, now: Time) => void>) => {
    let made = 0
    const controller = withTimer((own, now) => each[made++]?.(own, now))
    const network = new VerbsNetwork({ graph: star(3), transport: srdVerbs({ controller }) })
    const ends = srdEnds(network.devices)
    const [a, ...others] = ends as [SrdEnd, SrdEnd, SrdEnd]
    for (const [index, end] of others.entries()) {
      a.qp.postSend({
        id: index,
        opcode: WrOpcode.RdmaWrite,
        signaled: true,
        sges: [sgeOf(a, 0, 50_000)],
        datagram: toEnd(a, ends, index + 1),
        ...remoteOf(end, 0),
      })
    }
    network.run()
    return a
  }
  const stand = (own: Own): void => {
    own.nextTimer = 0
  }
  const well = (): void => {}

  it.each<[string, ReadonlyArray<(own: Own) => void>]>([
    ["the first", [stand]],
    ["the second", [well, stand]],
    ["each", [stand, stand]],
  ])("a network fails with the timer of %s", (_name, each) => {
    expect(() => run(...each)).toThrow(/its timer is due at 0 ps, .*, as it was 1000 times in a row/)
  })

  it.each([0, 1])("and with one that becomes no number, be it of peer %d", (peer) => {
    const wrong = (own: Own): void => {
      own.onAck = () => {
        own.nextTimer = Number.NaN
        return false
      }
    }
    const each = [well, well]
    each[peer] = wrong as () => void
    expect(() => run(...each)).toThrow("its timer is due at NaN")
  })

  it("one that is due again at once, a few times, is handled at once", () => {
    const calls: Array<Time> = []
    const again = (own: Own, now: Time): void => {
      let left = 500
      own.nextTimer = now + 1e6
      own.onTimer = (at) => {
        calls.push(at)
        if (--left === 0) own.nextTimer = NEVER
        return true
      }
    }
    expect(run(again, again).cq.poll(new Array(8))).toBe(2)
    expect(calls).toEqual(new Array(1000).fill(1e6))
  })
})
