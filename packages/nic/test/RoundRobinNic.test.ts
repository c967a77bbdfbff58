import { NEVER, type Time } from "@rdmakit/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Endpoints, RoundRobinNic } from "../src/index.ts"
import { bit, FakePorts, FakeQueuePair, pull, receive } from "./world.ts"

/** A NIC of one port and some queue pairs, by flow 0, 2, 4 … */
const host = (count: number, make: (flow: number) => FakeQueuePair = (flow) => new FakeQueuePair(flow)) => {
  const ports = new FakePorts()
  const endpoints = new Endpoints<number, string>()
  const nic = new RoundRobinNic<number, string>({
    ports,
    endpoints,
    portIds: [0],
    controlPauseMask: bit(3),
    onEvent: () => {},
  })
  const queuePairs = Array.from({ length: count }, (_, i) => make(2 * i))
  for (const each of queuePairs) {
    endpoints.add(each)
    nic.add(0, each)
  }
  const [a, b, c, d, e] = queuePairs as [FakeQueuePair, FakeQueuePair, FakeQueuePair, FakeQueuePair, FakeQueuePair]
  return {
    ports,
    endpoints,
    nic,
    a,
    b,
    c,
    d,
    e,
    pull: (now: Time = 0, paused = 0) => {
      // What a test has done to them by hand.
      for (const each of queuePairs) endpoints.note(each)
      return pull(nic, ports, now, 0, paused)
    },
  }
}

describe("RoundRobinNic scans (rule 5)", () => {
  it("from the one after the last it chose, and from the second at first", () => {
    const { pull } = host(3)
    expect([pull(), pull(), pull(), pull()]).toEqual(["2", "4", "0", "2"])
    expect([host(1).pull(), host(2).pull()]).toEqual(["0", "2"])
  })

  it("past those that are paused, have nothing, are window-bound, or paced", () => {
    const { a, b, c, d, pull } = host(5, (flow) => new FakeQueuePair(flow, { priority: flow === 8 ? 5 : 3 }))
    b.left = 0
    c.windowBound = true
    d.paceTime = 1
    expect(pull(0, bit(5))).toBe("0")
    expect(pull(0)).toBe("8")
    expect(pull(1, bit(5))).toBe("0")
    expect([pull(1, bit(5)), a.looks > 0]).toEqual(["6", true])
    expect(pull(0, bit(5) | bit(3))).toBeUndefined()
  })

  it("and leaves a queue pair that has finished where it is, until a scan meets it", () => {
    const { nic, a, b, c, pull } = host(4)
    c.left = 0
    c.finished = true
    expect(pull()).toBe("2")
    // The scan stopped at b: c is still there.
    expect([c.place >= 0, nic.quiet(0)]).toEqual([true, false])
    expect(pull()).toBe("6")
    expect(c.place).toBe(-1)
    // d moved to index 2, which is the last one chosen: a is next.
    expect([pull(), pull(), pull()]).toEqual(["0", "2", "6"])
    expect([a.place, b.place]).toEqual([0, 0])
  })

  it("then drops every finished one from the lowest it met on, and counts on from where the chosen one is now", () => {
    const { a, b, c, d, e, nic, pull } = host(5)
    expect([pull(), pull()]).toEqual(["2", "4"])
    // The last chosen is index 2; d, e, a and b are scanned, c is not.
    for (const each of [a, c, e]) {
      each.left = 0
      each.finished = true
    }
    d.windowBound = true
    expect(pull()).toBe("2")
    expect([a, b, c, d, e].map(({ place }) => place)).toEqual([-1, 0, -1, 0, -1])
    d.windowBound = false
    expect([pull(), pull()]).toEqual(["6", "2"])
    b.finished = true
    d.finished = true
    b.left = 0
    d.left = 0
    expect([pull(), nic.quiet(0)]).toEqual([undefined, true])
  })

  it("and leaves the last chosen untouched when it finds none", () => {
    const { a, b, c, pull } = host(3)
    expect([pull(), pull()]).toEqual(["2", "4"])
    // Index 2 was chosen last. b goes, a and c are bound.
    b.left = 0
    b.finished = true
    a.windowBound = true
    c.windowBound = true
    expect(pull()).toBeUndefined()
    a.windowBound = false
    c.windowBound = false
    // Of a and c, (2 + 1) mod 2 is c.
    expect([pull(), pull()]).toEqual(["4", "0"])
  })

  it("a queue pair that comes again, once", () => {
    const { nic, a, b, pull } = host(2)
    a.left = 0
    a.finished = true
    // The scan starts at b, and meets a only when b has nothing.
    b.windowBound = true
    expect(pull()).toBeUndefined()
    b.windowBound = false
    a.finished = false
    a.left = 10
    nic.add(0, a)
    nic.add(0, a)
    expect([pull(), pull(), pull(), pull()]).toEqual(["0", "2", "0", "2"])
  })
})

describe("RoundRobinNic wakes (rule 6)", () => {
  it("at the least pacing time of all with data, window-bound and paused ones included", () => {
    const { ports, a, b, c, d, pull } = host(4, (flow) => new FakeQueuePair(flow, { priority: flow === 2 ? 5 : 3 }))
    a.paceTime = 50
    a.windowBound = true
    b.paceTime = 40
    c.paceTime = 100
    d.paceTime = 10
    d.left = 0
    expect([pull(0, bit(5)), ports.wakeTime(0)]).toEqual([undefined, 40])
    const other = host(2)
    other.a.paceTime = 50
    other.a.windowBound = true
    other.b.paceTime = 100
    expect([other.pull(0), other.ports.wakeTime(0)]).toEqual([undefined, 50])
  })

  it("only if that is to come: a queue pair can miss its turn", () => {
    const { ports, a, b, pull } = host(2)
    a.paceTime = 10
    a.windowBound = true
    b.paceTime = 100
    expect([pull(10), ports.wakeTime(0)]).toEqual([undefined, NEVER])
  })

  it("only if no wake-up is pending, be it later", () => {
    const { ports, a, pull } = host(1)
    ports.wakeAt(0, 200)
    a.paceTime = 100
    expect([pull(0), ports.wakeTime(0)]).toEqual([undefined, 200])
  })

  it("not at all when nobody has data", () => {
    const { ports, a, pull } = host(1)
    a.left = 0
    expect([pull(0), ports.wakeTime(0)]).toEqual([undefined, NEVER])
    expect([host(0).pull(), host(0).nic.quiet(0)]).toEqual([undefined, true])
  })
})

describe("RoundRobinNic, when a rate changes (rule 7)", () => {
  const change = (pending: Time, paceTime: Time, now: Time): Time => {
    const { ports, nic, a } = host(1)
    ports.wakeAt(0, pending)
    a.paceTime = paceTime
    a.rateChanged = true
    receive(nic, ports, now, 0)
    expect(a.rateChanged).toBe(false)
    return ports.wakeTime(0)
  }

  it.each<readonly [string, Time, Time, Time, Time]>([
    ["moves a later wake-up to the pacing time", 100, 60, 50, 60],
    ["but not before now", 100, 40, 50, 50],
    ["moves none that is earlier", 100, 130, 50, 100],
    ["makes none", NEVER, 60, 50, NEVER],
  ])("%s", (_name, pending, paceTime, now, expected) => {
    expect(change(pending, paceTime, now)).toBe(expected)
  })

  it("and does none of it otherwise", () => {
    const { ports, nic, a } = host(1)
    ports.wakeAt(0, 100)
    a.paceTime = 60
    receive(nic, ports, 50, 0)
    expect(ports.wakeTime(0)).toBe(100)
  })
})

/** The rules once more, with nothing in common but the words. */
class Rules {
  private list: Array<FakeQueuePair> = []
  private last = 0

  add(each: FakeQueuePair): void {
    if (!this.list.includes(each)) this.list.push(each)
  }

  choose(now: Time, paused: number): FakeQueuePair | undefined {
    const count = this.list.length
    const order = Array.from({ length: count }, (_, i) => this.list[(this.last + 1 + i) % count]!)
    const may = (q: FakeQueuePair) => q.left > 0 && !q.windowBound && (paused & bit(q.priority)) === 0
    const hit = order.findIndex((q) => may(q) && q.paceTime <= now)
    const met = order.slice(0, hit < 0 ? count : hit).filter((q) => q.finished && !may(q))
    const chosen = order[hit]
    if (met.length > 0) {
      const from = Math.min(...met.map((q) => this.list.indexOf(q)))
      this.list = this.list.filter((q, i) => i < from || !q.finished)
    }
    if (chosen !== undefined) this.last = this.list.indexOf(chosen)
    return chosen
  }
}

it("RoundRobinNic chooses by the rules, whatever happens", () => {
  const flow = fc.integer({ min: 0, max: 7 })
  const step = fc.record({ kind: fc.constantFrom("pull", "pull", "pull", "bind", "finish", "add", "pace"), flow })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), fc.constantFrom(0, bit(4)), (steps, paused) => {
      const { nic, ports, endpoints } = host(0)
      const rules = new Rules()
      const all = Array.from({ length: 8 }, (_, i) => new FakeQueuePair(2 * i, { priority: 3 + (i & 1) }))
      for (const each of all) endpoints.add(each)
      let now = 0
      for (const { kind, flow: index } of steps) {
        const each = all[index]!
        now++
        if (kind === "add") {
          each.left = Infinity
          each.finished = false
          nic.add(now, each)
          rules.add(each)
        } else if (kind === "bind") {
          each.windowBound = !each.windowBound
        } else if (kind === "pace") {
          each.paceTime = now + index
        } else if (kind === "finish") {
          each.left = 0
          each.finished = true
        } else {
          for (const each of all) endpoints.note(each)
          expect(pull(nic, ports, now, 0, paused)).toBe(rules.choose(now, paused)?.flow.toString())
        }
      }
    }),
    { numRuns: 200 },
  )
})

it("RoundRobinNic forgets a port's queue pairs, and keeps where it was in the round", () => {
  const { nic, a, b, c, pull } = host(3)
  expect([pull(), pull()]).toEqual(["2", "4"])
  nic.clear(0)
  expect([nic.quiet(0), pull()]).toEqual([true, undefined])
  for (const each of [c, b, a]) nic.add(0, each)
  // It last chose index 2.
  expect([pull(), pull(), pull()]).toEqual(["4", "2", "0"])
})
