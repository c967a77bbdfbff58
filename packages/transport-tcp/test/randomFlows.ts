import { type Crossing, type End, EnginePair } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import { type ControllerFactory, type FlowCommand, type FlowEvent, unpaced } from "@rdmakit/protocol"
import { uniform } from "@rdmakit/units"
import { endsOf } from "./connection.ts"

const US = 1e6

/** Draws of one seed, each by its number. */
class Seeded {
  private readonly seed: number
  private drawn = 0

  constructor(seed: number) {
    this.seed = seed
  }
  /** 0 to 1. */
  next(): number {
    return uniform(this.seed, 0x7463, this.drawn++)
  }
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }
  pick<A>(from: ReadonlyArray<A>): A {
    return from[this.below(from.length)]!
  }
}

/** A window that halves with each loss, is a segment after a timeout, and grows with each acknowledgement. */
const restlessWindow: ControllerFactory = {
  name: "restless",
  needs: [],
  make: (_now, { lineRateBps, mtuBytes }) => {
    const controller = {
      ...unpaced,
      window: 10 * mtuBytes,
      rate: lineRateBps,
      onAck: () => {
        controller.window = Math.min(1e6, controller.window + mtuBytes)
        return true
      },
      onLoss: (_time: number, timeout: boolean) => {
        controller.window = timeout ? mtuBytes : Math.max(mtuBytes, controller.window / 2)
        return true
      },
    }
    return controller
  },
}

/** A network: chances by packet, delays that overtake each other, and times at which nothing comes through. */
const networkOf = (draws: Seeded) => {
  const flightPs = draws.pick([1, 6, 50, 400]) * US
  const chances = [0, 0.001, 0.01, 0.1, 0.3]
  const loss = [draws.pick(chances), draws.pick(chances)]
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
  const ends = endsOf(
    0,
    {
      controller: restlessWindow,
      mtuBytes: draws.pick([536, 1000, 1448, 8949]),
      lossDetection: draws.pick(["rack-tlp", "rack-tlp", "sack"]),
      leastTimeoutPs: draws.pick([100, 5000, 200_000]) * US,
      initialTimeoutPs: draws.pick([5000, 1_000_000]) * US,
      ackEvery: draws.pick([1, 2, 2, 8]),
      delayedAckPs: draws.pick([0, 500, 40_000]) * US,
      quickAcks: draws.pick([0, 16]),
      rateReduction: draws.pick([true, true, false]),
      probesInRecovery: draws.pick([true, false]),
      offloadSegments: draws.pick([1, 1, 7]),
      processingPs: draws.pick([0, 1, 20]) * US,
      retryCount: 60,
      mostTimeoutPs: 2e12,
    },
    seed,
  )
  const pool = new PacketPool()
  const pair = new EnginePair<FlowCommand, FlowEvent>({ pool, ends, path: networkOf(draws) })
  const sizes: readonly [Array<number>, Array<number>] = [[], []]
  for (let left = 1 + draws.below(30); left > 0; left--) {
    const end = draws.below(2) as End
    const writeBytes = draws.pick([0, 1, 7, 64, 1000, 1448, 1449, 50_000, 300_000])
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
    const received = ends[end === 0 ? 1 : 0].bytesReceived
    const sent = sizes[end].reduce((sum, bytes) => sum + bytes, 0)
    if (received !== sent) wrong.push(`end ${end} sent ${sent} bytes, and ${received} were taken in`)
  }
  if (pool.alive !== 0) wrong.push(`${pool.alive} packets are left over`)
  return wrong
}
