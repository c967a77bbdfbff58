import type { Packet } from "@rdmakit/packet"
import { NEVER, Timers } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { Endpoints, type HostNicOptions, type NicQueuePair, ReadyListNic, RoundRobinNic } from "../src/index.ts"
import { bit, FakePorts, FakeQueuePair, pull, receive, TIMEOUT } from "./world.ts"

const kinds = [
  ["ReadyListNic", (options: HostNicOptions<number, string>) => new ReadyListNic(options)],
  ["RoundRobinNic", (options: HostNicOptions<number, string>) => new RoundRobinNic(options)],
] as const

describe.each(kinds)("%s as a host's NIC", (_name, make) => {
  const host = (portIds: ReadonlyArray<number> = [0], options: Partial<HostNicOptions<number, string>> = {}) => {
    const ports = new FakePorts()
    const endpoints = options.endpoints ?? new Endpoints<number, string>()
    const events: Array<string> = []
    const nic = make({
      ports,
      endpoints,
      portIds,
      controlPauseMask: bit(3),
      onEvent: (endpoint, event) => events.push(`${endpoint.flow} ${event}`),
      ...options,
    })
    const add = (flow: number, given: ConstructorParameters<typeof FakeQueuePair>[1] = {}): FakeQueuePair => {
      const each = new FakeQueuePair(flow, { port: portIds[0]!, ...given })
      endpoints.add(each)
      nic.add(0, each)
      return each
    }
    return { ports, endpoints, nic, events, add }
  }

  describe("on arrival of a packet", () => {
    it("hands it to the endpoint of the other direction, lets it go, and queues what it answers", () => {
      const { ports, nic, add } = host()
      const one = add(4, { left: 0 })
      receive(nic, ports, 7, 4, "request")
      expect(one.calls).toEqual(["7 packet 0"])
      expect([ports.pool.alive, nic.quiet(0)]).toEqual([1, false])
      expect([pull(nic, ports, 7), pull(nic, ports, 7)]).toEqual(["ack 4", undefined])
      expect(ports.pool.alive).toBe(0)
    })

    it("kicks the endpoint's port when it answers, and when a reply came; else there is nothing new to send", () => {
      const { ports, nic, add } = host()
      add(4, { left: 0 })
      ports.kicks.length = 0
      receive(nic, ports, 1, 4, "silent")
      expect(ports.kicks).toEqual([])
      receive(nic, ports, 2, 4, "request")
      receive(nic, ports, 3, 4, "reply")
      expect(ports.kicks).toEqual([0, 0])
    })

    it("drains the endpoint though it does not answer: timer and events", () => {
      const { ports, nic, add, events } = host()
      const one = add(4, { left: 0 })
      one.nextTimeout = 99
      one.events.push("arrived", "again")
      receive(nic, ports, 1, 4, "silent")
      expect(events).toEqual(["4 arrived", "4 again"])
      expect(ports.timers).toEqual([{ node: 6, endpoint: 4, time: 99 }])
    })

    it("counts those for endpoints that are gone, or never were", () => {
      const { ports, endpoints, nic, add } = host()
      add(4)
      endpoints.remove(4)
      receive(nic, ports, 1, 4, "request")
      receive(nic, ports, 1, 1000)
      expect([nic.late, ports.pool.alive]).toEqual([2, 0])
    })

    it("hands data for those that are gone to one that is made for them, where one is (the ns-3 model)", () => {
      const endpoints = new Endpoints<number, string>()
      const asked: Array<string> = []
      const makeLate = (now: number, index: number): FakeQueuePair | undefined => {
        asked.push(`${now} ${index}`)
        if (index !== 4) return undefined
        const each = new FakeQueuePair(index, { port: 0, left: 0 })
        endpoints.add(each)
        return each
      }
      const { ports, nic } = host([0], { endpoints, makeLate })
      receive(nic, ports, 1, 4, "reply")
      receive(nic, ports, 2, 6, "request")
      expect([asked, nic.late, ports.pool.alive]).toEqual([["2 6"], 2, 0])
      receive(nic, ports, 3, 4, "request")
      receive(nic, ports, 4, 4, "silent")
      expect([asked, nic.late]).toEqual([["2 6", "3 4"], 3])
      expect([pull(nic, ports, 5), ports.pool.alive]).toEqual(["ack 4", 0])
    })

    it("survives an engine that says it has an answer, and has none", () => {
      const { ports, nic, add } = host()
      const one = add(4, { left: 0 })
      one.lies = true
      receive(nic, ports, 1, 4, "request")
      one.replies = 1
      receive(nic, ports, 1, 4, "silent")
      expect([pull(nic, ports, 1), ports.pool.alive]).toEqual([undefined, 0])
    })

    it("tells of each event, and lets the endpoint be removed meanwhile", () => {
      const seen: Array<string> = []
      const endpoints = new Endpoints<number, string>()
      const { ports, nic, add } = host([0], {
        endpoints,
        onEvent: (endpoint: NicQueuePair<number, string>, event) => {
          seen.push(event)
          endpoints.remove(endpoint.flow)
        },
      })
      const one = new FakeQueuePair(2, { left: 0 })
      endpoints.add(one)
      nic.add(0, one)
      add(4)
      one.events.push("completed 1", "completed 2")
      receive(nic, ports, 1, 2)
      expect([seen, endpoints.at(2)]).toEqual([["completed 1", "completed 2"], undefined])
      expect(pull(nic, ports, 1)).toBe("4")
    })
  })

  describe("sends acknowledgements", () => {
    it("in order, ahead of data, several at once", () => {
      const { ports, nic, add } = host()
      add(2)
      const other = add(4, { left: 0 })
      receive(nic, ports, 1, 2, "request")
      receive(nic, ports, 1, 4, "request")
      other.replies = 2
      receive(nic, ports, 1, 4, "silent")
      expect(Array.from({ length: 5 }, () => pull(nic, ports, 1))).toEqual(["ack 2", "ack 4", "ack 4", "ack 4", "2"])
    })

    it("unless their priority is paused; data of another may go meanwhile", () => {
      const { ports, nic, add } = host()
      add(2, { priority: 5, gap: 10 })
      receive(nic, ports, 1, 2, "request")
      expect([pull(nic, ports, 1, 0, bit(3)), pull(nic, ports, 1, 0, bit(3)), nic.quiet(0)]).toEqual([
        "2",
        undefined,
        false,
      ])
      expect([pull(nic, ports, 1, 0, bit(5)), pull(nic, ports, 1)]).toEqual(["ack 2", undefined])
    })

    it("that a tracer sees first", () => {
      const { ports, nic, add } = host()
      const seen: Array<string> = []
      nic.onControl = (now, port, packet: Packet) => seen.push(`${now} ${port} ${packet.flow}`)
      add(2)
      receive(nic, ports, 5, 2, "request")
      expect(seen).toEqual(["5 0 2"])
    })

    it("by the port of their endpoint", () => {
      const { ports, nic, add } = host([5, 3])
      add(2, { port: 3, left: 0 })
      add(4, { port: 5, left: 0 })
      receive(nic, ports, 1, 4, "request")
      receive(nic, ports, 1, 2, "request")
      expect([pull(nic, ports, 1, 3), pull(nic, ports, 1, 3), pull(nic, ports, 1, 5)]).toEqual([
        "ack 2",
        undefined,
        "ack 4",
      ])
    })
  })

  describe("keeps timers", () => {
    it("asks for one, and for another only if it is earlier", () => {
      const { ports, nic, add } = host()
      const one = add(4)
      const times = () => ports.timers.map(({ time }) => time)
      expect(times()).toEqual([])
      for (const time of [100, 100, 150, NEVER, 60]) {
        one.nextTimeout = time
        receive(nic, ports, 1, 4)
      }
      expect(times()).toEqual([100, 60])
    })

    it("passes over those that a later request made void, and asks again for what is still to come", () => {
      const { ports, nic, add } = host()
      const one = add(4)
      one.nextTimeout = 100
      receive(nic, ports, 1, 4)
      one.nextTimeout = 60
      receive(nic, ports, 1, 4)
      one.nextTimeout = 130
      // At 60 nothing is due any more.
      nic.timer(60, 4, TIMEOUT)
      expect(one.calls.filter((call) => call.includes("timeout"))).toEqual([])
      expect(ports.timers.map(({ time }) => time)).toEqual([100, 60, 130])
      nic.timer(100, 4, TIMEOUT)
      nic.timer(130, 4, TIMEOUT)
      nic.timer(130, 4, TIMEOUT)
      expect(one.calls.filter((call) => call.includes("timeout"))).toEqual(["130 timeout"])
    })

    it("handles them, drains the endpoint and kicks its port", () => {
      const { ports, nic, add, events } = host()
      const one = add(4, { left: 0 })
      one.nextTimeout = 100
      receive(nic, ports, 1, 4)
      one.left = 1
      one.events.push("timed out")
      ports.kicks.length = 0
      nic.timer(100, 4, TIMEOUT)
      expect([events, ports.kicks, pull(nic, ports, 100)]).toEqual([["4 timed out"], [0], "4"])
    })

    it("of a packet sent", () => {
      const { ports, nic, add } = host()
      const one = add(4)
      one.nextTimeout = 77
      expect(pull(nic, ports, 1)).toBe("4")
      expect(ports.timers).toEqual([{ node: 6, endpoint: 4, time: 77 }])
    })

    it("of endpoints that are gone do nothing; a new endpoint with an old number has its own", () => {
      const { ports, endpoints, nic, add } = host()
      const one = add(4)
      one.nextTimeout = 100
      receive(nic, ports, 1, 4)
      endpoints.remove(4)
      nic.timer(100, 4, TIMEOUT)
      const two = add(4)
      nic.timer(100, 4, TIMEOUT)
      two.nextTimeout = 300
      receive(nic, ports, 2, 4)
      nic.timer(300, 4, TIMEOUT)
      expect([one.calls.at(-1), two.calls.at(-1)]).toEqual(["1 packet 0", "300 timeout"])
    })

    it("of a controller with several: an event for each, made when it is set, taken away when it is set anew", () => {
      const { ports, nic, add } = host()
      const timers = new Timers(3)
      timers.set(2, 500)
      timers.set(0, 500)
      const one = add(4, { timers })
      expect(ports.controllerTimers).toEqual([
        { endpoint: 4, timer: 0, time: 500 },
        { endpoint: 4, timer: 2, time: 500 },
      ])
      timers.set(0, 900)
      timers.cancel(2)
      receive(nic, ports, 1, 4)
      expect(ports.cancelled).toEqual([0, 1])
      expect(ports.controllerTimers.slice(2)).toEqual([{ endpoint: 4, timer: 0, time: 900 }])
      nic.timer(900, 4, 0)
      expect([one.calls.at(-1), timers.due[0]]).toEqual(["900 timer 0", NEVER])
      // It has come: there is nothing to take away when it is set again.
      timers.set(0, 1000)
      receive(nic, ports, 901, 4)
      expect([ports.cancelled.length, ports.controllerTimers.length]).toEqual([2, 4])
    })

    it("of an endpoint that is due again at once are borne, a thousand in a row are not", () => {
      for (const due of [100, 99, -1]) {
        const { ports, nic, add } = host()
        const one = add(4, { due: [...new Array(999).fill(due), 200, ...new Array(1000).fill(due)] })
        one.nextTimeout = 100
        receive(nic, ports, 1, 4)
        const fire = () => nic.timer(ports.timers.at(-1)!.time, 4, TIMEOUT)
        for (let turn = 0; turn < 999; turn++) fire()
        fire()
        expect(ports.timers.at(-1)!.time).toBe(200)
        const again = () => {
          for (let turn = 0; turn < 1001; turn++) fire()
        }
        expect(again).toThrow(
          /controller of flow 2, .*: its timer is due at -?\d+ ps, .*, as it was 1000 times in a row/,
        )
      }
    })

    it("of a controller with several too, also where one sets the other", () => {
      const { ports, nic, add } = host()
      const timers = new Timers(2)
      timers.set(0, 100)
      add(4, { timers, onTimer: (now, timer) => timers.set(1 - timer, now) })
      const fire = () => {
        for (let turn = 0; turn < 1000; turn++) nic.timer(100, 4, turn % 2)
      }
      expect(fire).toThrow(
        "its timer is due at 100 ps, which is now, as it was 1000 times in a row when it had just fired",
      )
      expect(ports.controllerTimers.length).toBe(1000)
    })

    it("that have passed are due now", () => {
      const { ports, nic, add } = host()
      const one = add(4)
      one.nextTimeout = 60
      receive(nic, ports, 100, 4)
      receive(nic, ports, 100, 4)
      expect(ports.timers).toEqual([{ node: 6, endpoint: 4, time: 100 }])
      nic.timer(100, 4, TIMEOUT)
      expect(one.calls.at(-1)).toBe("100 timeout")
      const timers = new Timers(2)
      const two = add(6, { timers })
      timers.set(1, 150)
      receive(nic, ports, 200, 6)
      expect(ports.controllerTimers).toEqual([{ endpoint: 6, timer: 1, time: 200 }])
      nic.timer(200, 6, 1)
      expect([two.calls.at(-1), timers.due[1]]).toEqual(["200 timer 1", NEVER])
    })

    it("that are no numbers are refused as they are set", () => {
      const { ports, nic, add } = host()
      add(4).nextTimeout = Number.NaN
      expect(() => receive(nic, ports, 1, 4)).toThrow("controller of flow 2, at 0.000001 us: its timer is due at NaN")
      const timers = new Timers(1)
      timers.set(0, Number.NaN)
      expect(() => add(6, { timers })).toThrow(
        "controller of flow 3, at 0 us: its timer is due at NaN: expected a later",
      )
    })
  })

  it("refuses an endpoint whose events have no end, and takes as many as work requests may have", () => {
    let told = 0
    const { ports, nic, add } = host([0], { onEvent: () => told++ })
    const one = add(4)
    one.events.push(...new Array(50_000).fill("done"))
    receive(nic, ports, 1, 4)
    expect(told).toBe(50_000)
    Object.assign(one, { pollEvent: () => "again" })
    expect(() => receive(nic, ports, 2, 4)).toThrow(
      expect.objectContaining({
        _tag: "TransportFault",
        flow: 2,
        time: 2,
        message: expect.stringMatching(
          /^transport of flow 2, at 0.000002 us: its pollEvent gave more than 1048576 events/,
        ),
      }),
    )
  })

  it("keeps ports apart: a queue pair sends through its own", () => {
    const { ports, nic, add } = host([5, 3])
    add(2, { port: 3 })
    add(4, { port: 5 })
    add(6, { port: 3 })
    expect(new Set([pull(nic, ports, 0, 3), pull(nic, ports, 0, 3), pull(nic, ports, 0, 3)])).toEqual(
      new Set(["2", "6"]),
    )
    expect([pull(nic, ports, 0, 5), pull(nic, ports, 0, 5)]).toEqual(["4", "4"])
    expect([nic.quiet(3), nic.quiet(5), ports.kicks]).toEqual([false, false, [3, 5, 3]])
  })

  it("is quiet on a port where nothing could be sent", () => {
    const { nic } = host([5, 3])
    expect([nic.quiet(5), nic.quiet(3)]).toEqual([true, true])
  })
})

describe("Endpoints", () => {
  it("grow with the numbers they are given", () => {
    const endpoints = new Endpoints<number, string>()
    const far = new FakeQueuePair(1000)
    endpoints.add(far)
    expect([endpoints.at(1000), endpoints.at(999), endpoints.at(5000)]).toEqual([far, undefined, undefined])
    expect([endpoints.armed(1000), endpoints.armed(0)]).toEqual([NEVER, NEVER])
    endpoints.remove(5000)
    endpoints.remove(1000)
    expect(endpoints.at(1000)).toBeUndefined()
  })
})
