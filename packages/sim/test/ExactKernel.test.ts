import { PacketPool } from "@rdmakit/packet"
import { describe, expect, it } from "vitest"
import { ExactKernel, type ExactKernelOptions } from "../src/index.ts"
import { Bench, threeHosts, twoHosts } from "./bench.ts"
import { networkOf, serializationPs } from "./smallNetwork.ts"

describe("a packet on its way", () => {
  it("takes a serialization and a flight for each hop", () => {
    const bench = new Bench(twoHosts)
    bench.send(500, 0, 1)
    bench.run()
    expect(bench.delivered).toEqual([{ now: 500 + 2 * (1000 + 1000), node: 1, flow: 0, psn: 0, priority: 3 }])
    expect(bench.kernel.packetHops).toBe(2)
    // A call and two arrivals: nobody waited for the ends of the serializations.
    expect(bench.kernel.events).toBe(3)
    expect(bench.pool.alive).toBe(0)
  })

  it("takes two events a hop where somebody waits for the end of a serialization", () => {
    const bench = new Bench(twoHosts)
    bench.send(0, 0, 1, {}, 10)
    bench.run()
    expect(bench.times()).toEqual(Array.from({ length: 10 }, (_, i) => 4000 + 1000 * i))
    expect(bench.kernel.packetHops).toBe(20)
    // 10 calls, 20 arrivals; ends that somebody waits for: nine at the host. At the switch each packet arrives at the end
    // of the one ahead, and such an end goes first.
    expect(bench.kernel.events).toBe(10 + 20 + 9)
  })

  it("does not overtake on a link that holds thousands, nor on its neighbours", () => {
    const [a, b] = [
      { between: [0, 3] as const, delayPs: 5e6 },
      { between: [1, 3] as const, delayPs: 3e6 },
    ]
    const bench = new Bench({ ...threeHosts, links: [a, b, { between: [2, 3], delayPs: 4e6 }] })
    bench.send(0, 0, 2, { wireBytes: 100 }, 3000)
    bench.send(0, 1, 2, { wireBytes: 100 }, 3000)
    bench.run()
    expect(bench.delivered.length).toBe(6000)
    for (const flow of [0, 2]) {
      const psns = bench.delivered.filter((d) => d.flow === flow).map(({ psn }) => psn)
      expect(psns).toEqual(Array.from({ length: 3000 }, (_, psn) => psn))
    }
    expect(bench.pool.alivePeak).toBeGreaterThan(5000)
    expect(bench.pool.alive).toBe(0)
  })

  it("asks for a route once a flow, or for each packet", () => {
    for (const perPacket of [false, true]) {
      const bench = new Bench({ ...twoHosts, plainSwitch: { perPacket } })
      bench.send(0, 0, 1, {}, 5)
      bench.run()
      expect(bench.switches[0]!.routed).toBe(perPacket ? 5 : 1)
    }
  })

  it("asks again once the paths are void", () => {
    const bench = new Bench(twoHosts)
    bench.send(0, 0, 1)
    bench.run()
    bench.kernel.paths.clear()
    bench.send(1e6, 0, 1)
    bench.run()
    expect(bench.switches[0]!.routed).toBe(2)
  })

  it("counts bytes and queues at the ports", () => {
    const bench = new Bench({ ...threeHosts, links: [...threeHosts.links] })
    bench.send(0, 0, 2, { wireBytes: 400 }, 3)
    bench.send(0, 1, 2, { wireBytes: 600, priority: 5 }, 2)
    // Port 5 of the switch leads to host 2. At 3,000 ps: 600 and 400 have come, one is being sent.
    bench.run(3001)
    const { kernel } = bench
    const queued = kernel.queueBytesOf(5, 3) + kernel.queueBytesOf(5, 5)
    expect(kernel.queueBytes(5)).toBe(queued)
    expect(kernel.sentBytes(5) + queued).toBe(400 * 3 + 600 * 2)
    expect(kernel.sendingUntil(5)).toBeGreaterThan(3000)
    expect(kernel.waiting).toBeGreaterThan(0)
    bench.run()
    expect([kernel.sentBytes(5), kernel.queueBytes(5), kernel.waiting]).toEqual([2400, 0, 0])
    expect([kernel.sentBytes(0), kernel.sentBytes(2)]).toEqual([1200, 1200])
    expect(kernel.sendingUntil(5)).toBeLessThanOrEqual(kernel.now)
  })
})

describe("queues of a port", () => {
  /** Priorities in the order in which they leave a port that two others feed. */
  const order = (discipline: "strict" | "round-robin") => {
    const bench = new Bench({ ...threeHosts, discipline })
    bench.send(0, 0, 2, { priority: 1, psn: 99 })
    for (const priority of [1, 5, 2]) bench.send(0, 0, 2, { priority, wireBytes: 100 }, 2)
    bench.send(0, 1, 2, { priority: 0, wireBytes: 900, psn: 50 })
    bench.send(0, 1, 2, { priority: 0, wireBytes: 200, psn: 51 })
    bench.run()
    return bench.delivered.map(({ priority }) => priority).join("")
  }

  it("are served in strict order of priority, control first", () => {
    // Two of control keep the port busy until all the others have come.
    expect(order("strict")).toBe("005522111")
  })

  it("are served in turn, control first", () => {
    expect(order("round-robin")).toBe("001251251")
  })
})

describe("running", () => {
  it("executes events strictly before `until`, at most `budget` of them", () => {
    const bench = new Bench(twoHosts)
    const { kernel } = bench
    const seen: Array<number> = []
    kernel.onCall = (now, target, argument) => void seen.push(now, target, argument)
    for (const time of [10, 20, 20, 30]) kernel.callAt(time, time + 1, time + 2)
    expect(kernel.run(10, 100)).toBe(0)
    expect(kernel.run(11, 100)).toBe(1)
    expect(kernel.now).toBe(10)
    expect(kernel.run(30, 1)).toBe(1)
    expect(kernel.run(30, 100)).toBe(1)
    expect(kernel.run(30, 100)).toBe(0)
    expect(kernel.pendingEvents).toBe(1)
    expect(kernel.run(Number.POSITIVE_INFINITY, 100)).toBe(1)
    expect(seen).toEqual([10, 11, 12, 20, 21, 22, 20, 21, 22, 30, 31, 32])
    expect([kernel.events, kernel.pendingEvents, kernel.now]).toEqual([4, 0, 30])
  })

  it("gives the same, however it is cut into pieces", () => {
    const run = (budget: number, stepPs: number) => {
      const bench = new Bench({ ...threeHosts, plainSwitch: { pauseBytes: 3000 } })
      bench.send(0, 0, 2, {}, 40)
      bench.send(700, 1, 2, { priority: 4, wireBytes: 300 }, 40)
      for (let until = stepPs; bench.kernel.pendingEvents > 0; until += stepPs) {
        while (bench.kernel.run(until, budget) > 0);
      }
      return [bench.delivered, bench.kernel.events]
    }
    const whole = run(1e9, 1e12)
    expect(run(1, 1e12)).toEqual(whole)
    expect(run(3, 777)).toEqual(whole)
  })
})

describe("wake-ups and timers", () => {
  /** A lone host whose NIC writes down what it is asked. */
  const alone = (options: Partial<ExactKernelOptions> = {}) => {
    const network = networkOf(2, 0, [{ between: [0, 1] }])
    const kernel = new ExactKernel({
      network,
      pool: new PacketPool({ capacity: 4 }),
      serializationPs,
      wireBytesMax: 1000,
      pfcBytes: 64,
      hopsMax: 2,
      ...options,
    })
    const asked: Array<string> = []
    for (const node of [0, 1]) {
      kernel.nics[node] = {
        receive: () => {},
        pull: (now, port) => {
          asked.push(`${now} pull ${port}`)
          return -1
        },
        quiet: () => true,
        timer: (now, endpoint) => void asked.push(`${now} timer ${node}.${endpoint}`),
      }
    }
    const run = () => {
      while (kernel.run(Number.POSITIVE_INFINITY, 10) > 0);
    }
    return { kernel, asked, run }
  }

  it("kick a port at their time, once", () => {
    const { kernel, asked, run } = alone()
    expect(kernel.wakeTime(0)).toBe(Number.POSITIVE_INFINITY)
    kernel.wakeAt(0, 700)
    expect(kernel.wakeTime(0)).toBe(700)
    run()
    expect(asked).toEqual(["700 pull 0"])
    expect(kernel.wakeTime(0)).toBe(Number.POSITIVE_INFINITY)
  })

  it("replace one that is pending, sooner or later", () => {
    const { kernel, asked, run } = alone()
    kernel.wakeAt(0, 700)
    kernel.wakeAt(0, 500)
    kernel.wakeAt(1, 600)
    kernel.wakeAt(1, 900)
    expect([kernel.wakeTime(0), kernel.wakeTime(1)]).toEqual([500, 900])
    run()
    expect(asked).toEqual(["500 pull 0", "900 pull 1"])
    // Cancelled ones are not counted as executed.
    expect(kernel.events).toBe(2)
  })

  it.each([
    ["by endpoint", "canonical", ["300 timer 0.7", "300 timer 1.40000"]],
    ["in the order of asking", "insertion", ["300 timer 1.40000", "300 timer 0.7"]],
  ] as const)("come at the NIC that asked, %s where the time is equal", (_order, ties, equals) => {
    const { kernel, asked, run } = alone({ ties })
    kernel.timerAt(1, 40_000, 15, 300)
    kernel.timerAt(0, 7, 0, 300)
    kernel.timerAt(0, 8, 3, 200)
    run()
    expect(asked).toEqual(["200 timer 0.8", ...equals])
  })

  describe("of NICs that are watched", () => {
    const fault = (node: number | undefined, time: number, message: string) =>
      expect.objectContaining({ _tag: "NicFault", node, time, message: expect.stringContaining(message) })

    it("come as ever where they are sound", () => {
      const asking = (watched: boolean) => {
        const { kernel, asked, run } = alone()
        if (watched) kernel.watchNics()
        kernel.wakeAt(0, 700)
        kernel.wakeAt(0, 500)
        kernel.wakeAt(1, Number.POSITIVE_INFINITY)
        kernel.cancelTimer(kernel.timerAt(0, 7, 0, 300))
        kernel.timerAt(0, 8, 3, 200)
        run()
        return { asked, wakeTime: kernel.wakeTime(1), events: kernel.events }
      }
      expect(asking(true)).toEqual(asking(false))
    })

    it("are refused at times that are none or have passed, and at ports of no host", () => {
      const { kernel, run } = alone()
      kernel.watchNics()
      kernel.wakeAt(0, 500)
      run()
      const expected = "expected a time that is not before now, ps"
      for (const [time, shown] of [
        [Number.NaN, "NaN"],
        ["600", '"600"'],
        [499, "499 ps, 1 ps ago"],
      ] as ReadonlyArray<[number, string]>) {
        const wake = `NIC of host 1, at 0.0005 us: it asked for a wake-up at ${shown}: ${expected}`
        expect(() => kernel.wakeAt(1, time)).toThrow(fault(1, 500, wake))
        const timer = `NIC of host 0, at 0.0005 us: it asked for a timer at ${shown}: ${expected}`
        expect(() => kernel.timerAt(0, 7, 0, time)).toThrow(fault(0, 500, timer))
      }
      for (const port of [2, -1, 0.5, Number.NaN]) {
        expect(() => kernel.wakeAt(port, 600)).toThrow(
          fault(undefined, 500, `a wake-up of port ${port}, expected a port`),
        )
      }
    })

    it("are refused when they let time pass no more, though others come in between", () => {
      const { kernel, run } = alone()
      kernel.watchNics()
      let woken = 0
      kernel.nics[1] = {
        ...kernel.nics[0]!,
        pull: (now, port) => {
          woken++
          kernel.wakeAt(port, now + 100)
          if (now === 300 && woken < 5000) kernel.wakeAt(port, now)
          return -1
        },
      }
      kernel.wakeAt(1, 100)
      expect(run).toThrow(
        fault(1, 300, "port 1 at 300 ps, which is now, when 1000 had just come: expected a later time"),
      )
      expect(woken).toBe(2 + 1000)
    })
  })

  it("pace a NIC", () => {
    const bench = new Bench({ ...twoHosts, nic: { gapPs: 2500 } })
    bench.send(0, 0, 1, {}, 4)
    bench.run()
    expect(bench.times()).toEqual([4000, 6500, 9000, 11_500])
  })
})
