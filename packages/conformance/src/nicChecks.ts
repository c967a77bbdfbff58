import type { QueuePairLoad } from "./BenchQueuePair.ts"
import { fail } from "./ContractViolation.ts"
import type { Check } from "./controllerChecks.ts"
import { Draws } from "./Draws.ts"
import { type MadeNic, NicBench, type NicSetup } from "./NicBench.ts"

/** A NIC, as the suite gets hold of it. */
export interface NicUnderTest {
  readonly name: string
  /** A fresh NIC, and the table of queue pairs it looks in. */
  readonly make: (setup: NicSetup) => MadeNic
}

/** What a NIC promises beyond the contract. */
export interface NicExpectations {
  /** A queue pair that may send does so as soon as its port is free. Default true; false: sooner or later. */
  readonly punctual?: boolean
  /** Queue pairs of one priority that may all send take turns, packet by packet. Default true. */
  readonly fair?: boolean
}

const SEEDS = [1, 2, 3, 4, 5]
const US = 1e6

/** Queue pairs of every kind on three ports: when each begins, and what it does. */
const mixture = (seed: number): ReadonlyArray<readonly [number, QueuePairLoad]> => {
  const draws = new Draws(seed)
  return Array.from({ length: 30 }, () => {
    const packets = draws.below(60)
    const load: QueuePairLoad = {
      port: draws.below(3),
      packets,
      priority: 1 + draws.below(7),
      gapPs: draws.pick([0, 0, 100e3, 1 * US, 7 * US]),
      windowPackets: draws.pick([1, 5, Number.POSITIVE_INFINITY]),
      lost: Array.from({ length: draws.pick([0, 0, 1, 4]) }, () => draws.below(60)),
      timed: draws.below(2) === 0,
    }
    return [draws.below(50) * US, load]
  })
}

/**
 * What `nicSuite` registers, for other test runners: run each, and count what throws. A broken promise of the contract is
 * a `ContractViolation`.
 */
export const nicChecks = (
  { make }: NicUnderTest,
  { punctual = true, fair = true }: NicExpectations = {},
): ReadonlyArray<Check> => {
  const bench = (): NicBench => new NicBench(make, punctual)

  /** Every packet came through, and each queue pair said so once. */
  const finish = (each: NicBench): void => {
    each.run()
    for (const { flow, finished, acknowledged } of each.queuePairs) {
      if (!finished) fail(`flow ${flow} has not finished`)
      const told = each.events.filter((event) => event === `${flow} finished`).length
      const expected = acknowledged > 0 ? 1 : 0
      if (told !== expected)
        fail(`flow ${flow} told of its end ${expected} times, and onEvent was called ${told} times`)
    }
  }

  const mixed = (seed: number, times = 1): NicBench => {
    const each = bench()
    for (const [time, load] of mixture(seed)) each.start(time, load, times)
    return each
  }

  const checks: Array<Check> = [
    {
      name: "is quiet until it is given work",
      run: () => {
        const each = bench()
        for (const port of [4, 5, 11]) {
          if (!each.made.nic.quiet(port)) fail(`port ${port} is not quiet, though nobody has anything to send`)
          if (each.made.nic.pull(0, port, 0) >= 0) fail("it has a packet, though nobody gave it work")
        }
        each.start(0, { port: 1, packets: 0 })
        finish(each)
        if (each.sent.length > 0) fail("a queue pair without packets sent one")
      },
    },
    {
      name: "sends all packets of every queue pair: paced, in windows, after losses, with timers",
      run: () => {
        for (const seed of SEEDS) finish(mixed(seed))
      },
    },
    {
      name: "wakes for a queue pair that is paced, when nothing else happens",
      run: () => {
        const each = bench()
        // Longer than any timeout, whose coming makes a port look too.
        each.start(0, { port: 2, packets: 5, gapPs: 100 * US })
        finish(each)
      },
    },
    {
      name: "holds paused priorities back, and no others, and goes on after",
      run: () => {
        for (const seed of SEEDS) {
          const each = mixed(seed)
          const draws = new Draws(seed + 100)
          for (let pause = 0; pause < 20; pause++) {
            const port = draws.below(3)
            each.at(draws.below(120) * US + 1, () => each.pause(port, draws.below(256) & ~1))
          }
          for (const port of [0, 1, 2]) each.at(130 * US, () => each.pause(port, 0))
          finish(each)
        }
      },
    },
    {
      name: "lets answers out ahead of data, unless they are paused",
      run: () => {
        for (const seed of SEEDS) {
          const each = mixed(seed)
          const draws = new Draws(seed + 200)
          for (let request = 0; request < 200; request++) {
            const flow = 2 * draws.below(30)
            each.at((50 + draws.below(60)) * US + draws.below(10) * 40e3, () => each.request(flow))
          }
          for (const port of [0, 1, 2]) {
            each.at(60 * US, () => each.pause(port, 1 << 3))
            each.at(70 * US, () => each.pause(port, 0))
          }
          finish(each)
          const answers = each.sent.filter(({ control }) => control).length
          if (answers !== 200) fail(`of 200 answers ${answers} left`)
        }
      },
    },
    {
      name: "keeps a queue pair once, however often it is told of it",
      run: () => {
        for (const seed of SEEDS) {
          const [once, thrice] = [mixed(seed), mixed(seed, 3)]
          finish(once)
          finish(thrice)
          const [one, other] = [once, thrice].map(({ sent }) => JSON.stringify(sent))
          if (one !== other) fail("a queue pair that was added three times was served in other turns")
        }
      },
    },
    {
      name: "moves queue pairs to another port",
      run: () => {
        for (const seed of SEEDS) {
          const each = mixed(seed)
          each.at(20 * US, () => each.move(0, 1))
          each.at(40 * US, () => each.move(1, 2))
          each.at(55 * US, () => each.move(2, 0))
          finish(each)
        }
      },
    },
    {
      name: "lets go of packets for queue pairs that are not there",
      run: () => {
        const each = mixed(1)
        for (const time of [0, 30, 60]) each.at(time * US, () => each.request(1000))
        finish(each)
      },
    },
    {
      name: "does the same again when it is made again",
      run: () => {
        const [one, other] = [mixed(6), mixed(6)].map((each) => {
          finish(each)
          return JSON.stringify([each.sent, each.events])
        })
        if (one !== other) fail("two runs of the same queue pairs sent different packets")
      },
    },
  ]
  if (fair) {
    checks.push({
      name: "serves queue pairs of one priority in turn",
      run: () => {
        const each = bench()
        for (let flow = 0; flow < 3; flow++) each.start(0, { port: 0, packets: 100 })
        finish(each)
        const counts = [0, 0, 0]
        for (const { flow } of each.sent.slice(0, 270)) {
          counts[flow / 2]!++
          const ahead = Math.max(...counts) - Math.min(...counts)
          // Whoever is there first has begun.
          if (ahead > 2) fail(`of three queue pairs that may all send, one is ${ahead} packets ahead`)
        }
      },
    })
  }
  return checks
}
