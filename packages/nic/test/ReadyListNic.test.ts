import { NEVER, type Time } from "@rdmakit/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Endpoints, ReadyListNic } from "../src/index.ts"
import { bit, FakePorts, FakeQueuePair, pull, receive, TinyKernel } from "./world.ts"

type Given = ConstructorParameters<typeof FakeQueuePair>[1]

const host = <Ports extends FakePorts>(ports: Ports, portIds: ReadonlyArray<number> = [0]) => {
  const endpoints = new Endpoints<number, string>()
  const nic = new ReadyListNic<number, string>({
    ports,
    endpoints,
    portIds,
    controlPauseMask: 0,
    onEvent: () => {},
  })
  if (ports instanceof TinyKernel) ports.nic = nic
  let flow = 0
  const add = (given: Given = {}): FakeQueuePair => {
    const each = new FakeQueuePair(flow, given)
    flow += 2
    endpoints.add(each)
    nic.add(0, each)
    return each
  }
  return { ports, nic, add, pull: (now: Time = 0, paused = 0) => pull(nic, ports, now, 0, paused) }
}

const many = <A>(count: number, make: (index: number) => A): Array<A> =>
  Array.from({ length: count }, (_, i) => make(i))

describe("ReadyListNic takes turns", () => {
  it("packet by packet among those that may send", () => {
    const { add, pull } = host(new FakePorts())
    many(3, () => add())
    expect(many(7, () => pull())).toEqual(["0", "2", "4", "0", "2", "4", "0"])
  })

  it("the higher priority first, round and round within one", () => {
    const { add, pull } = host(new FakePorts())
    add({ priority: 1 })
    add({ priority: 6, left: 2 })
    add({ priority: 6, left: 3 })
    add({ priority: 0, left: 1 })
    expect(many(8, () => pull())).toEqual(["2", "4", "2", "4", "4", "0", "0", "0"])
  })

  it("without those whose priority is paused, each in its turn afterwards", () => {
    const { add, nic, pull } = host(new FakePorts())
    add({ priority: 6, left: 2 })
    add({ priority: 1 })
    expect([pull(0, bit(6)), pull(0, bit(6)), pull(0, bit(6) | bit(1))]).toEqual(["2", "2", undefined])
    expect(nic.quiet(0)).toBe(false)
    expect([pull(), pull(), pull()]).toEqual(["0", "0", "2"])
  })

  it("among thousands, however many have left", () => {
    const { add, pull } = host(new FakePorts())
    many(3000, () => add({ left: 2 }))
    const order = many(6000, () => Number(pull()) / 2)
    expect(order).toEqual(many(6000, (i) => i % 3000))
    expect(pull()).toBeUndefined()
  })
})

describe("ReadyListNic wakes", () => {
  it("exactly when the first that is paced may send", () => {
    const { add, ports, pull } = host(new FakePorts())
    add({ gap: 70 })
    add({ gap: 50 })
    expect([pull(), pull(), pull(), ports.wakeTime(0)]).toEqual(["0", "2", undefined, 50])
    ports.wakeAt(0, NEVER)
    expect([pull(49), pull(50), pull(50), ports.wakeTime(0)]).toEqual([undefined, "2", undefined, 49 + 1])
  })

  it("for the paced while others are paused", () => {
    const { add, ports, pull } = host(new FakePorts())
    add({ priority: 2, gap: 40 })
    add({ priority: 5 })
    expect([pull(0, bit(5)), pull(0, bit(5)), ports.wakeTime(0)]).toEqual(["0", undefined, 40])
  })

  it("never for those that are bound, or have nothing", () => {
    const { add, ports, nic, pull } = host(new FakePorts())
    const bound = add({ gap: 10 })
    add({ gap: 10, left: 1 })
    bound.windowBound = true
    expect([pull(), pull(), ports.wakeTime(0), nic.quiet(0)]).toEqual(["2", undefined, NEVER, true])
  })

  it("earlier when a new rate lets it, later when it must", () => {
    const { add, ports, nic, pull } = host(new FakePorts())
    const [a, b] = [add({ gap: 100 }), add({ gap: 80 })] as const
    expect([pull(), pull(), pull(), ports.wakeTime(0)]).toEqual(["0", "2", undefined, 80])
    const repace = (each: FakeQueuePair, now: Time, time: Time): void => {
      each.paceTime = time
      each.rateChanged = true
      receive(nic, ports, now, each.flow)
      expect(each.rateChanged).toBe(false)
    }
    repace(a, 10, 30)
    expect([pull(10), ports.wakeTime(0)]).toEqual([undefined, 30])
    repace(a, 20, 20)
    expect(pull(20)).toBe("0")
    // The wake-up at 30 comes to nothing, and is followed by the right one.
    repace(b, 25, 500)
    ports.wakeAt(0, NEVER)
    expect([pull(30), ports.wakeTime(0)]).toEqual([undefined, 120])
  })

  it("but finds a lower rate out at its turn when the queue pair was ready", () => {
    const { add, ports, nic, pull } = host(new FakePorts())
    const [a] = [add(), add()] as const
    a.paceTime = 60
    a.rateChanged = true
    receive(nic, ports, 5, a.flow)
    expect([pull(5), pull(5), pull(5)]).toEqual(["2", "2", "2"])
    expect([pull(60), pull(60)]).toEqual(["2", "0"])
  })
})

describe("ReadyListNic, of a queue pair that is window-bound", () => {
  it("hears when an acknowledgement opens the window", () => {
    const { add, ports, nic, pull } = host(new FakePorts())
    const one = add({ gap: 30 })
    expect(pull()).toBe("0")
    one.windowBound = true
    expect([pull(30), nic.quiet(0)]).toEqual([undefined, true])
    receive(nic, ports, 40, 0)
    expect(pull(40)).toBeUndefined()
    one.windowBound = false
    receive(nic, ports, 50, 0)
    expect([ports.kicks.at(-1), pull(50)]).toEqual([0, "0"])
  })

  it("waits for its pacing time even so", () => {
    const { add, ports, nic, pull } = host(new FakePorts())
    const one = add({ gap: 100 })
    one.windowBound = true
    expect(pull()).toBeUndefined()
    one.windowBound = false
    one.paceTime = 90
    receive(nic, ports, 50, 0)
    expect([pull(50), ports.wakeTime(0), pull(90)]).toEqual([undefined, 90, "0"])
  })
})

it("ReadyListNic takes up a queue pair again that has new work, once", () => {
  const { add, nic, pull } = host(new FakePorts())
  const one = add({ left: 1 })
  add()
  expect([pull(), pull(), pull()]).toEqual(["0", "2", "2"])
  one.command(0, 2)
  nic.add(0, one)
  nic.add(0, one)
  expect(many(5, () => pull())).toEqual(["2", "0", "2", "0", "2"])
})

it("ReadyListNic forgets a queue pair that had nothing at its turn, until something happens to it", () => {
  const { add, ports, nic, pull } = host(new FakePorts())
  const one = add()
  one.lies = true
  expect([pull(), nic.quiet(0), ports.pool.alive]).toEqual([undefined, true, 0])
  one.lies = false
  receive(nic, ports, 1, 0)
  expect(pull(1)).toBe("0")
})

it("ReadyListNic gives a new queue pair its turn though another of that number was still waiting", () => {
  const ports = new FakePorts()
  const { nic, pull } = host(ports)
  const old = new FakeQueuePair(0, { gap: 100 })
  nic.add(0, old)
  expect(pull()).toBe("0")
  old.left = 0
  const fresh = new FakeQueuePair(0)
  nic.add(10, fresh)
  expect([pull(10), pull(10), pull(100), pull(100)]).toEqual(["0", "0", "0", "0"])
  expect(old.place).toBe(-1)
})

describe("ReadyListNic over a link", () => {
  const TX = 100

  it("shares it equally among those that are not paced", () => {
    const { ports, add } = host(new TinyKernel(TX))
    ports.paused[0] = bit(3)
    many(7, () => add())
    ports.paused[0] = 0
    ports.kick(0, 0)
    ports.run(702 * TX)
    const counts = many(7, (i) => ports.sent.filter(({ flow }) => flow === 2 * i).length)
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1)
    expect(counts.reduce((sum, count) => sum + count)).toBe(702)
  })

  it("sends each paced one at its own time, waking once for each", () => {
    const { ports, add } = host(new TinyKernel(TX))
    add({ gap: 1000 })
    add({ gap: 2000 })
    ports.run(17_000)
    const times = (flow: number) => ports.sent.filter((each) => each.flow === flow).map(({ time }) => time)
    expect(times(0)).toEqual(many(17, (i) => 1000 * i))
    // The second starts when the link is free of the first, and goes on from there.
    expect(times(2)).toEqual(many(9, (i) => 100 + 2000 * i))
    expect(ports.wakeUps).toBeLessThanOrEqual(ports.sent.length)
  })

  it("never sends early, lets none starve, and keeps the link busy when it can", () => {
    const flow = fc.record({
      gap: fc.constantFrom(0, 50, 100, 350, 1000),
      port: fc.constantFrom(2, 5),
      priority: fc.constantFrom(3),
    })
    fc.assert(
      fc.property(fc.array(flow, { minLength: 1, maxLength: 12 }), (flows) => {
        const { ports, add } = host(new TinyKernel(TX), [2, 5])
        const all = flows.map((given) => add(given))
        ports.run(40_000)
        for (const port of [2, 5]) {
          const sent = ports.sent.filter((each) => each.port === port)
          const mine = all.filter((each) => each.port === port)
          for (const { flow: name, gap } of mine) {
            const times = sent.filter((each) => each.flow === name).map(({ time }) => time)
            const gaps = times.slice(1).map((time, i) => time - times[i]!)
            if (gaps.some((each) => each < gap)) throw new Error(`${name} sent early`)
            // All others at most once between two of its own, and one that is just leaving.
            const most = gap + TX * (mine.length + 1)
            if ([...gaps, 40_000 - times.at(-1)!].some((each) => each > most)) throw new Error(`${name} starved`)
          }
          if (mine.some(({ gap }) => gap === 0)) expect(sent.map(({ time }) => time)).toEqual(many(400, (i) => i * TX))
        }
      }),
      { numRuns: 50 },
    )
  })

  it("resumes when a pause ends", () => {
    const { ports, add } = host(new TinyKernel(TX))
    add()
    ports.run(1000)
    ports.paused[0] = bit(3)
    ports.run(5000)
    ports.paused[0] = 0
    ports.kick(5000, 0)
    ports.run(5500)
    expect(ports.sent.filter(({ time }) => time > 1000).map(({ time }) => time)).toEqual([5000, 5100, 5200, 5300, 5400])
  })
})

it("ReadyListNic looks at a few queue pairs for each packet, of thousands", () => {
  const looks = (count: number): number => {
    const { ports, add, nic } = host(new TinyKernel(10))
    const all = many(count, (i) => add({ gap: 20 * count, port: 0, priority: i % 8 }))
    ports.run(20 * count)
    for (const each of all) each.looks = 0
    ports.sent.length = 0
    ports.run(60 * count)
    const { length } = ports.sent
    // Replies to each, new rates among them.
    for (const each of all) {
      each.rateChanged = true
      receive(nic, ports, ports.now, each.flow)
    }
    expect(length).toBe(2 * count)
    return all.reduce((sum, each) => sum + each.looks, 0) / length
  }
  expect(looks(5000)).toBeLessThanOrEqual(looks(50) + 1)
  expect(looks(5000)).toBeLessThan(6)
})

describe("ReadyListNic forgets a port's queue pairs", () => {
  it("those that may send, and those that are paced; added anew they take their turns at another port", () => {
    const { ports, nic, add, pull: pullHere } = host(new FakePorts(), [0, 1])
    const [a, b] = [add(), add({ gap: 100 })]
    expect([pullHere(), pullHere()]).toEqual(["0", "2"])
    nic.clear(0)
    expect([nic.quiet(0), pullHere(), pullHere(1000)]).toEqual([true, undefined, undefined])
    for (const each of [a, b]) {
      each.port = 1
      nic.add(0, each)
    }
    expect([pull(nic, ports, 0, 1), pull(nic, ports, 100, 1)]).toEqual(["0", "0"])
    expect(pull(nic, ports, 100, 1)).toBe("2")
  })
})
