import { simulateProgram, Topology } from "@rdmakit/fabric"
import { iwarpLayer, layer as softnics } from "@rdmakit/softnic"
import { Effect, Layer } from "effect"
import { program } from "./twoEndpoints.ts"

/** Two hosts at a switch. */
const link = { rateBps: 100e9, delayPs: 1e6, lossRate: 0 }
const star = {
  nodes: 3,
  isSwitch: Uint8Array.of(0, 0, 1),
  links: [
    { a: 0, b: 2, ...link },
    { a: 1, b: 2, ...link },
  ],
}

/** In a simulated network, in virtual time: the same digest each time. */
export const simulated = simulateProgram(program).pipe(Effect.provide(Layer.succeed(Topology, star)))

/** In real time, over UDP on this machine. */
export const real = program.pipe(
  Effect.provide(
    softnics([
      { link: { udp: { address: "127.0.0.4" } } },
      { link: { udp: { address: "127.0.0.5" } }, device: { name: "rdmakit1", seed: 1 } },
    ]),
  ),
)

/** In real time, over iWARP: a TCP connection of this machine for the two queue pairs. */
export const overTcp = program.pipe(
  Effect.provide(
    iwarpLayer([{ address: "127.0.0.6" }, { address: "127.0.0.7", device: { name: "rdmakit1", seed: 1 } }]),
  ),
)
