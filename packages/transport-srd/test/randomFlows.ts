import { type Crossing, type End, EnginePair } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import { type ControllerFactory, type FlowCommand, type FlowEvent, unpaced } from "@rdmakit/protocol"
import { hash32 } from "@rdmakit/units"
import { endsOf } from "./connection.ts"

const US = 1e6

/** Draws of one seed, each by its number: 0 to 1. */
class Seeded {
  private readonly seed: number
  private drawn = 0

  constructor(seed: number) {
    this.seed = seed
  }
  next(): number {
    return hash32(this.seed, 0x737264, this.drawn++) / 2 ** 32
  }
  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }
  pick<A>(from: ReadonlyArray<A>): A {
    return from[this.below(from.length)]!
  }
}

/** A window that halves with each timeout and grows with each acknowledgement, between one packet and a hundred. */
const restlessWindow: ControllerFactory = {
  name: "restless",
  needs: [],
  make: (_now, { lineRateBps }) => {
    const controller = {
      ...unpaced,
      window: 30_000,
      rate: lineRateBps,
      onAck: () => {
        controller.window = Math.min(1e5, controller.window + 500)
        return true
      },
      onLoss: (_time: number, timeout: boolean) => {
        if (timeout) controller.window = Math.max(1000, controller.window / 2)
        return timeout
      },
    }
    return controller
  },
}

/** Ways that fail together, of 16: which, from when to when, and how: for good, or down and up again all the time. */
interface Failure {
  readonly ways: number
  readonly from: number
  readonly to: number
  readonly flapPs: number
}

/**
 * A network of 16 ways, by port: each its own delay; losses, corrupted packets, which are dropped where they arrive, and
 * duplicates by chance; black holes and flapping links for a time; and times at which nothing comes through at all.
 */
const networkOf = (draws: Seeded, portOf: () => number) => {
  const flightPs = draws.pick([1, 6, 50, 400]) * US
  const loss = [draws.pick([0, 0.001, 0.01, 0.1, 0.3]), draws.pick([0, 0.001, 0.01, 0.1, 0.3])]
  const corrupt = draws.pick([0, 0, 0.001, 0.05])
  const duplicate = draws.pick([0, 0, 0.01, 0.2])
  const jitter = draws.pick([0, 0, 0.1, 1, 5])
  const skew = draws.pick([0, 0, 0.5, 10])
  const failures = Array.from({ length: draws.below(5) }, (): Failure => {
    const from = draws.below(20_000) * US
    const ways = draws.pick([0xffff, 0x0001, 0x0f0f, 0x7fff, draws.below(0x10000)])
    const flapPs = draws.pick([Number.POSITIVE_INFINITY, 50 * US, 500 * US])
    return { ways, from, to: from + draws.pick([5, 100, 5000, 100_000]) * US, flapPs }
  })
  const isDown = (time: number, way: number): boolean =>
    failures.some(
      ({ ways, from, to, flapPs }) =>
        time >= from && time < to && (ways & (1 << way)) !== 0 && Math.floor((time - from) / flapPs) % 2 === 0,
    )
  return ({ time, from }: Crossing): ReadonlyArray<number> => {
    const way = portOf() & 15
    const delay = (): number => Math.floor(flightPs * (1 + draws.next() * jitter + (way / 16) * skew))
    if (isDown(time, way) || draws.next() < loss[from]! || draws.next() < corrupt) return []
    return draws.next() < duplicate ? [delay(), delay()] : [delay()]
  }
}

/**
 * One context of random options, through a random network, with messages both ways at random times: everything that the
 * seed decides. Returns what is wrong, in words.
 */
export const runSeed = (seed: number): ReadonlyArray<string> => {
  const draws = new Seeded(seed)
  const ends = endsOf(0, {
    controller: restlessWindow,
    paths: draws.pick([1, 2, 16, 64]),
    renewAfterPackets: draws.pick([1, 16, 1000]),
    windowPackets: draws.pick([1, 8, 100, 4096]),
  })
  const pool = new PacketPool()
  let port = 0
  const pair = new EnginePair<FlowCommand, FlowEvent>({
    pool,
    ends,
    onWay: (packet) => {
      port = packet.udpPorts & 0xffff
    },
    path: networkOf(draws, () => port),
  })
  const sizes: readonly [Array<number>, Array<number>] = [[], []]
  for (let left = 1 + draws.below(30); left > 0; left--) {
    const end = draws.below(2) as End
    const writeBytes = draws.pick([0, 1, 7, 64, 1000, 1001, 5000, 50_000, 300_000])
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
    const told = ended.map(({ message, type, bytes }) => `${message} ${type} ${bytes}`).sort()
    const expected = sizes[end].map((bytes, message) => `${message} completed ${bytes}`).sort()
    if (told.join() !== expected.join()) wrong.push(`end ${end}: told [${told}], expected [${expected}]`)
    const received = ends[1 - end]!.bytesReceived
    const sent = sizes[end].reduce((sum, bytes) => sum + bytes, 0)
    if (received !== sent) wrong.push(`end ${end} sent ${sent} bytes, and ${received} were taken in`)
  }
  if (pool.alive !== 0) wrong.push(`${pool.alive} packets are left over`)
  return wrong
}
