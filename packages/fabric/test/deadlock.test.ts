import type { ExactKernel } from "@rdmakit/sim"
import { ring, star } from "@rdmakit/topology"
import { describe, expect, it } from "vitest"
import { type NativeOptions, PfcWatchdog, sharedBufferSwitches } from "../src/index.ts"
import { incast, lineRate, runFlows } from "./runs.ts"

// Hosts 0 to 4, switches 5 to 9; every host sends to the next but one, over two of the ring's five links.
const graph = ring({ switches: 5, hostsPerSwitch: 1 })
const flows = [0, 1, 2, 3, 4].map((source) => ({ source, destination: (source + 2) % 5, size: 2_000_000 }))
const stuck: NativeOptions = {
  graph,
  controller: lineRate,
  switches: sharedBufferSwitches({ threshold: { bytes: 20_000 } }),
  transport: { ackTimeoutPs: Number.POSITIVE_INFINITY },
}
const CYCLE = "node 5 (port 2) -> node 6 (port 3) -> node 7 (port 3) -> node 8 (port 3) -> node 9 (port 3) -> node 5"

describe("a ring of switches whose flows all go two links on", () => {
  it("comes to a deadlock, and the run says so and why each flow is unfinished", () => {
    const { outcome } = runFlows(stuck, flows)
    expect(outcome.flowsFinished).toBe(0)
    expect(outcome.dropsByReason).toEqual({})
    expect(outcome.deadlock).toEqual({ priority: 3, ports: [10, 12, 14, 16, 18], text: CYCLE })
    expect(outcome.notes[0]).toBe(`deadlock: PFC pauses priority 3 at ports that wait for each other: ${CYCLE}`)
    for (const { flow, reason } of outcome.unfinished) {
      expect(reason).toMatch(
        /^paused by node \d \(priority 3\); waiting for PSN \d+ \(\d+ of 2000000 B acknowledged\)$/,
      )
      // A flow is held at its first switch, or before it.
      expect([`${5 + flow}`, `${5 + ((flow + 1) % 5)}`]).toContain(/node (\d)/.exec(reason)?.[1])
    }
  })

  it("ends then, though timers would go on for ever", () => {
    const { run, outcome } = runFlows({ ...stuck, transport: { retryCount: 2 ** 31 } }, flows)
    expect(outcome.deadlock?.text).toBe(CYCLE)
    expect(run.world.kernel.pendingEvents).toBeGreaterThan(0)
    // It all stood still within a millisecond, which is looked at after the next.
    expect(outcome.simulatedPs).toBeLessThan(2e9)
    expect(run.step(1)).toBe(false)
  })

  it("the same however the run is cut into steps", () => {
    const whole = runFlows({ ...stuck, transport: { retryCount: 2 ** 31 } }, flows)
    const { run } = runFlows({ ...stuck, transport: { retryCount: 2 ** 31 } }, [], 0)
    expect(run.outcome(false).deadlock).toBeNull()
    const pieces = runFlows({ ...stuck, transport: { retryCount: 2 ** 31 } }, flows)
    while (pieces.run.step(17)) {}
    expect(pieces.run.outcome(false).events).toBe(whole.outcome.events)
  })

  it("does not without PFC, nor where one of the five is silent", () => {
    const lossy = { ...stuck, switches: sharedBufferSwitches({ lossless: false }), transport: {} }
    for (const { outcome } of [runFlows(lossy, flows), runFlows(stuck, flows.slice(1))]) {
      expect(outcome.flowsFinished).toBe(outcome.flowsTotal)
      expect(outcome.deadlock).toBeNull()
    }
  })
})

it("pauses that stand in no cycle are no deadlock", () => {
  const { outcome } = runFlows({ ...stuck, graph: star(5) }, incast(4, 2_000_000))
  expect(outcome.pfcPauses).toBeGreaterThan(0)
  expect(outcome).toMatchObject({ flowsFinished: 4, deadlock: null, watchdog: null })
  // Cut in the middle of it: paused, but each by a port that drains.
  const early = runFlows({ ...stuck, graph: star(5) }, incast(4, 2_000_000), 100e6)
  expect(early.outcome.unfinished.some(({ reason }) => reason.startsWith("paused by node 5"))).toBe(true)
  expect(early.outcome.deadlock).toBeNull()
})

describe("a PFC watchdog", () => {
  const watched = (action: "drop" | "forward") =>
    runFlows(
      {
        ...stuck,
        transport: { ackTimeoutPs: 1e9, retryCount: 100 },
        watchdog: { detectionPs: 5e8, restorationPs: 1e8, action },
      },
      flows.map((flow) => ({ ...flow, size: 200_000 })),
    )

  it.each(["drop", "forward"] as const)("%s: ends a deadlock, and every flow finishes", (action) => {
    const { outcome } = watched(action)
    expect(outcome.flowsFinished).toBe(5)
    expect(outcome.deadlock).toBeNull()
    expect(outcome.watchdog?.storms).toBeGreaterThan(0)
    expect(outcome.watchdog?.restored).toBe(outcome.watchdog?.storms)
    const { storms, drained } = outcome.watchdog!
    expect(outcome.notes).toContain(
      `PFC watchdog: ${storms} storms detected, ${storms} over, ${drained} waiting packets dropped`,
    )
    if (action === "drop") {
      expect(drained).toBeGreaterThan(0)
      expect(outcome.dropsByReason["pfc-watchdog"]).toBeGreaterThanOrEqual(drained)
      expect(outcome.retransmissions).toBeGreaterThan(0)
    } else {
      expect(drained).toBe(0)
      expect(outcome.dropsByReason["pfc-watchdog"]).toBeUndefined()
    }
  })

  it("does the same twice", () => {
    const [one, other] = [watched("drop").outcome, watched("drop").outcome]
    expect([one.digest, one.events, one.watchdog]).toEqual([other.digest, other.events, other.watchdog])
  })

  it("that detects nothing changes nothing", () => {
    const options = { ...stuck, graph: star(5) }
    const without = runFlows(options, incast(4, 500_000)).outcome
    const { outcome } = runFlows({ ...options, watchdog: {} }, incast(4, 500_000))
    expect(outcome.watchdog).toEqual({ storms: 0, restored: 0, drained: 0 })
    expect(outcome.digest).toBe(without.digest)
    expect(outcome.packetHops).toBe(without.packetHops)
  })
})

describe("the watchdog's times, to the picosecond", () => {
  /** Detection after 100, restoration after 50; what it asked for and did. */
  const watchdogOf = (action: "drop" | "forward") => {
    const log: Array<string> = []
    const alarms: Array<{ time: number; place: number }> = []
    const kernel = {
      ignorePauses: (port: number, mask: number) => void log.push(`ignore ${port}: ${mask}`),
      dropQueue: (port: number, queue: number, reason: number) => {
        log.push(`drop ${port}.${queue}, reason ${reason}`)
        return 7
      },
    } as unknown as ExactKernel
    const watchdog = new PfcWatchdog(
      kernel,
      { count: 4, isWatched: (port) => port !== 3 },
      { detectionPs: 100, restorationPs: 50, action },
      (time, place) => void alarms.push({ time, place }),
    )
    /** Alarms up to and at this time, then what was done since the last call. */
    const until = (now: number): Array<string> => {
      for (let next = alarms[0]; next !== undefined && next.time <= now; next = alarms[0]) {
        alarms.shift()
        watchdog.alarm(next.time, next.place)
        alarms.sort((a, b) => a.time - b.time)
      }
      return log.splice(0)
    }
    return { watchdog, until, alarms }
  }

  it("a pause that stands for the detection time is a storm; it is over when none has stood for the restoration time", () => {
    const { watchdog, until, alarms } = watchdogOf("drop")
    watchdog.paused(10, 2, 3, true)
    watchdog.paused(60, 2, 3, false)
    watchdog.paused(70, 2, 3, true)
    // Resumed in between: not from 10 on but from 70.
    expect(until(169)).toEqual([])
    expect(until(170)).toEqual(["drop 2.3, reason -5", "ignore 2: 8"])
    expect(watchdog.dropping[2]).toBe(8)
    watchdog.paused(200, 2, 3, false)
    watchdog.paused(240, 2, 3, true)
    watchdog.paused(300, 2, 3, false)
    expect(until(349)).toEqual([])
    expect(until(350)).toEqual(["ignore 2: 0"])
    expect(watchdog.dropping[2]).toBe(0)
    expect(watchdog.counts).toEqual({ storms: 1, restored: 1, drained: 7 })
    expect(alarms).toEqual([])
  })

  it("forward ignores the pauses of a port's priorities one by one, and drops nothing", () => {
    const { watchdog, until } = watchdogOf("forward")
    watchdog.paused(0, 1, 3, true)
    watchdog.paused(20, 1, 5, true)
    // A frame that says it again does not begin it again; a host's port is not watched.
    watchdog.paused(50, 1, 3, true)
    watchdog.paused(0, 3, 3, true)
    expect(until(119)).toEqual(["ignore 1: 8"])
    expect(until(1000)).toEqual(["ignore 1: 40"])
    watchdog.paused(1000, 1, 3, false)
    expect(until(2000)).toEqual(["ignore 1: 32"])
    expect(watchdog.counts).toEqual({ storms: 2, restored: 1, drained: 0 })
  })
})
