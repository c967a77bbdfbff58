import type { Device } from "@rdmakit/device"
import { Provider } from "@rdmakit/device/layer"
import { simulateProgram, Topology } from "@rdmakit/fabric"
import { openSoftnic } from "@rdmakit/softnic"
import { Effect, Layer, type Scope } from "effect"
import { expect } from "vitest"
import { NOTHING, resultOf } from "./program.ts"

/** What the same program is run in. */
export interface TestWorld {
  readonly name: string
  /** The result of a program that succeeds, on two devices; it must leave nothing behind. */
  readonly resultOf: <A, E>(program: Effect.Effect<A, E, Provider | Scope.Scope>) => Promise<A>
}

const expectNothing = (devices: ReadonlyArray<Device>): void => {
  for (const { resources } of devices) expect(resources).toEqual(NOTHING)
}

/** The program, and then a look at what it has left. */
const andNothingLeft = <A, E>(program: Effect.Effect<A, E, Provider | Scope.Scope>) =>
  Effect.gen(function* () {
    const value = yield* Effect.scoped(program)
    expectNothing((yield* Provider).devices)
    return value
  })

const LINK = { rateBps: 100e9, delayPs: 1e6, lossRate: 0 }
/** Two hosts at a switch. */
export const GRAPH = {
  nodes: 3,
  isSwitch: Uint8Array.of(0, 0, 1),
  links: [
    { a: 0, b: 2, ...LINK },
    { a: 1, b: 2, ...LINK },
  ],
}

/** A simulated network, in virtual time. */
const fabric: TestWorld = {
  name: "fabric",
  resultOf: async (program) => {
    const run = Effect.provide(simulateProgram(andNothingLeft(program)), Layer.succeed(Topology, GRAPH))
    const { value } = await Effect.runPromise(run)
    return value
  },
}

/** Two devices of this process, in real time, over UDP on loopback. */
const softnic: TestWorld = {
  name: "softnic",
  resultOf: async (program) => {
    const left = await openSoftnic({ link: { udp: { address: "127.0.0.2", port: 0 } }, device: { seed: 1 } })
    const right = await openSoftnic({
      link: { udp: { address: "127.0.0.3", port: left.port! } },
      device: { seed: 2 },
    })
    try {
      const devices = [left.device, right.device]
      return await Effect.runPromise(Effect.provideService(andNothingLeft(program), Provider, { devices }))
    } finally {
      left.close()
      right.close()
    }
  },
}

export const worlds: ReadonlyArray<TestWorld> = [
  { name: "loopback", resultOf: async (program) => resultOf(program) },
  fabric,
  softnic,
]
