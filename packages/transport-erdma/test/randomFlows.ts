import { type Crossing, type End, EnginePair } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import type { ControllerFactory, FlowCommand, FlowEvent } from "@rdmakit/protocol"
import { unpaced } from "@rdmakit/protocol"
import { hash32 } from "@rdmakit/units"
import { erdmaFlows } from "../src/index.ts"
import { addressOf, US } from "./connection.ts"

/** Draws of one seed, each by its number: 0 to 1. */
class Seeded {
  private readonly seed: number
  private drawn = 0

  constructor(seed: number) {
    this.seed = seed
  }
  next(): number {
    return hash32(this.seed, 0x6572, this.drawn++) / 2 ** 32
  }
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }
  pick<A>(from: ReadonlyArray<A>): A {
    return from[this.below(from.length)]!
  }
}

/** A window that halves with each loss and grows with each acknowledgement, between one packet and a hundred. */
const restlessWindow: ControllerFactory = {
  name: "restless",
  needs: [],
  make: (_now, { lineRateBps }) => {
    const controller = {
      ...unpaced,
      window: 100_000,
      rate: lineRateBps,
      onAck: () => {
        controller.window = Math.min(1e6, controller.window + 1000)
        return true
      },
      onLoss: () => {
        controller.window = Math.max(1000, controller.window / 2)
        return true
      },
    }
    return controller
  },
}

/** A network: chances by packet, and times at which nothing comes through, one way or both. */
const networkOf = (draws: Seeded) => {
  const flightPs = draws.pick([1, 6, 50, 400]) * US
  const loss = [draws.pick([0, 0.001, 0.01, 0.1, 0.3]), draws.pick([0, 0.001, 0.01, 0.1, 0.3])]
  const duplicate = draws.pick([0, 0, 0.01, 0.2])
  const jitter = draws.pick([0, 0, 0.1, 1, 5])
  const outages = Array.from({ length: draws.below(4) }, () => {
    const from = draws.below(20_000) * US
    return { from, to: from + draws.pick([5, 100, 5000, 100_000]) * US, way: draws.below(3) }
  })
  const delay = (): number => flightPs + Math.floor(draws.next() * jitter * flightPs)
  return ({ time, from }: Crossing): ReadonlyArray<number> => {
    if (outages.some((out) => time >= out.from && time < out.to && (out.way === 2 || out.way === from))) return []
    if (draws.next() < loss[from]!) return []
    return draws.next() < duplicate ? [delay(), delay()] : [delay()]
  }
}

/**
 * One connection of a random kind, through a random network, with messages both ways at random times: everything that the
 * seed decides. Returns what is wrong, in words.
 */
export const runSeed = (seed: number): ReadonlyArray<string> => {
  const draws = new Seeded(seed)
  const transport = erdmaFlows({
    controller: restlessWindow,
    underlayMtuBytes: draws.pick([1000, 1550, 4200, 8550]),
    overlay: draws.pick(["vxlan", "none"]),
    ackEvery: draws.pick([1, 1, 2, 8]),
    retryCount: 40,
  })
  const open = transport.open(1)
  const ends = [open(0, addressOf(0)), open(0, addressOf(1))] as const
  const pool = new PacketPool()
  const pair = new EnginePair<FlowCommand, FlowEvent>({ pool, ends, path: networkOf(draws) })
  const sizes: readonly [Array<number>, Array<number>] = [[], []]
  for (let left = 1 + draws.below(30); left > 0; left--) {
    const end = draws.below(2) as End
    const writeBytes = draws.pick([0, 1, 7, 64, 1000, 8428, 8429, 50_000, 300_000])
    sizes[end].push(writeBytes)
    pair.command(end, { message: sizes[end].length - 1, writeBytes })
    if (draws.below(2) === 0) pair.run(pair.now + draws.pick([1, 20, 300, 3000]) * US)
  }
  const wrong: Array<string> = []
  try {
    pair.run()
  } catch (error) {
    wrong.push(String(error))
  }
  for (const end of [0, 1] as const) {
    const ended = pair.events.filter((each) => each.end === end).map(({ event }) => event)
    const told = ended.map(({ message, type, bytes }) => `${message} ${type} ${bytes}`)
    const expected = sizes[end].map((bytes, message) => `${message} completed ${bytes}`)
    if (told.join() !== expected.join()) wrong.push(`end ${end}: told [${told}], expected [${expected}]`)
    const received = (ends[1 - end] as unknown as { readonly bytesReceived: number }).bytesReceived
    const sent = sizes[end].reduce((sum, bytes) => sum + bytes, 0)
    if (received !== sent) wrong.push(`end ${end} sent ${sent} bytes, and ${received} were taken in`)
  }
  if (pool.alive !== 0) wrong.push(`${pool.alive} packets are left over`)
  return wrong
}
