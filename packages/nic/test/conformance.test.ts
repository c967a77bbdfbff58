import {
  type MadeNic,
  type NicExpectations,
  type NicSetup,
  type NicUnderTest,
  nicChecks,
  nicSuite,
} from "@rdmakit/conformance"
import type { Time } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { FirstComeNic } from "../examples/firstCome.ts"
import {
  Endpoints,
  type HostNic,
  type HostNicOptions,
  type NicQueuePair,
  ReadyListNic,
  RoundRobinNic,
} from "../src/index.ts"

type QueuePair = NicQueuePair<never, string>
type Options = HostNicOptions<never, string>

const underTest = (name: string, make: (options: Options) => HostNic<never, string>): NicUnderTest => ({
  name,
  make: (setup: NicSetup): MadeNic => {
    const endpoints = new Endpoints<never, string>()
    return { endpoints, nic: make({ ...setup, endpoints }) }
  },
})

nicSuite(underTest("the ready-list NIC", (options) => new ReadyListNic(options)))
// A wake-up is set for the least pacing time, of queue pairs that their window holds back too.
nicSuite(
  underTest("the round-robin NIC", (options) => new RoundRobinNic(options)),
  { punctual: false },
)
nicSuite(
  underTest("first come, first served", (options) => new FirstComeNic(options)),
  { fair: false },
)

describe("the suite of NICs finds", () => {
  /** What the suite finds wrong with a scheduler, all messages together. */
  const faults = (
    make: (options: Options) => HostNic<never, string>,
    expectations: NicExpectations = { fair: false },
  ): string =>
    nicChecks(underTest("faulty", make), expectations)
      .flatMap(({ run }) => {
        try {
          run()
          return []
        } catch (error) {
          return [(error as Error).message]
        }
      })
      .join("\n")

  it("nothing wrong with a sound one, unless turns are expected", () => {
    expect(faults((options) => new FirstComeNic(options))).toBe("")
    expect(faults((options) => new FirstComeNic(options), {})).toMatch(/one is \d packets ahead/)
    expect(faults((options) => new RoundRobinNic(options))).toMatch(
      /port \d+ is idle at \d+ ps, though flow \d+ may send/,
    )
  })

  it("a wake-up that is not asked for", () => {
    class Sleepy extends FirstComeNic<never, string> {
      constructor(options: Options) {
        super({ ...options, ports: { ...options.ports, wakeAt: () => {} } })
      }
    }
    expect(faults((options) => new Sleepy(options))).toMatch(/port \d+ is idle at \d+ ps, though flow \d+ may send/)
    expect(faults((options) => new Sleepy(options), { fair: false, punctual: false })).toMatch(/is idle at/)
  })

  it("pauses that are not heeded", () => {
    class Deaf extends FirstComeNic<never, string> {
      constructor(options: Options) {
        super(options)
        const { pullData } = this
        Object.assign(this, { pullData: (now: Time, port: number) => pullData(now, port, 0) })
      }
    }
    expect(faults((options) => new Deaf(options))).toMatch(/a packet of priority \d left, which is paused/)
    const mask = 0
    expect(faults((options) => new FirstComeNic({ ...options, controlPauseMask: mask }))).toMatch(
      /a control packet left, which is paused/,
    )
  })

  it("a rate that changes and is not looked at, a port that is not quiet, a queue pair that is listed twice", () => {
    class Dull extends ReadyListNic<never, string> {
      constructor(options: Options) {
        super(options)
        const { touched } = this
        Object.assign(this, {
          touched: (now: Time, endpoint: QueuePair): void => {
            endpoint.rateChanged = false
            touched(now, endpoint)
          },
        })
      }
    }
    expect(faults((options) => new Dull(options), {})).toMatch(/is idle at \d+ ps, though flow \d+ may send at/)
    class Quiet extends FirstComeNic<never, string> {
      protected override readonly dataQuiet = (): boolean => true
    }
    expect(faults((options) => new Quiet(options))).toMatch(/port \d+ said it was quiet, and had a packet/)
    class Twice extends RoundRobinNic<never, string> {
      protected override enlist(endpoint: QueuePair): void {
        endpoint.place = -1
        super.enlist(endpoint)
      }
    }
    expect(faults((options) => new Twice(options), { punctual: false })).toMatch(
      /added three times was served in other turns/,
    )
  })

  it("a port that forgets nothing", () => {
    class Faithful extends ReadyListNic<never, string> {
      override clear(): void {}
    }
    expect(faults((options) => new Faithful(options), {})).not.toBe("")
  })

  it("a NIC that keeps what is for nobody, tells nobody of ends, and lets timers pass", () => {
    class Hoarder extends ReadyListNic<never, string> {
      constructor(options: Options) {
        super(options)
        const { receive } = this
        Object.assign(this, {
          receive: (now: Time, packet: Parameters<typeof receive>[1], port: number): void => {
            if (this.endpoints.at(packet.flow ^ 1) !== undefined) receive(now, packet, port)
          },
        })
      }
    }
    expect(faults((options) => new Hoarder(options))).toMatch(/idle, 3 packets are still alive/)
    expect(faults((options) => new ReadyListNic({ ...options, onEvent: () => {} }))).toMatch(
      /onEvent was called 0 times/,
    )
    class Timeless extends ReadyListNic<never, string> {
      override timer(): void {}
    }
    expect(faults((options) => new Timeless(options))).toMatch(
      /a timer or timeout of flow \d+ is due at \d+ ps, and does/,
    )
  })
})
