import { describe, expect, it } from "vitest"
import { Bench, type BenchOptions } from "./bench.ts"

// Hosts 0 and 1 behind switch 3, host 2 behind switch 4. Ports: 0, 2 and 6 are the hosts', 1, 3 and 4 switch 3's, of
// which 4 leads to switch 4 (port 5), whose other port is 7. A frame of 1,000 B takes 1,000 ps, a link 1,000.
const options: BenchOptions = {
  hosts: 3,
  switches: 2,
  links: [{ between: [0, 3] }, { between: [1, 3] }, { between: [3, 4] }, { between: [2, 4] }],
}

/** Switch 4 pauses priority 3 at switch 3, for which four packets come from host 0 and two from host 1. */
const paused = () => {
  const bench = new Bench(options)
  const { kernel } = bench
  kernel.sendPfc(0, 5, 3, true)
  bench.send(2000, 0, 2, {}, 4)
  bench.send(2000, 1, 2, {}, 2)
  bench.run(20_000)
  expect(kernel.pausedMask(4)).toBe(8)
  expect(bench.delivered).toEqual([])
  return bench
}

describe("a port whose pauses are ignored", () => {
  it("sends what waits, and heeds them again afterwards", () => {
    const bench = paused()
    const { kernel } = bench
    kernel.ignorePauses(4, 8)
    expect(kernel.pausedMask(4)).toBe(0)
    bench.run(100_000)
    expect(bench.delivered).toHaveLength(6)
    // The peer's pause has stood all the time.
    kernel.ignorePauses(4, 0)
    expect(kernel.pausedMask(4)).toBe(8)
    bench.send(200_000, 0, 2)
    bench.run()
    expect(bench.delivered).toHaveLength(6)
    // A resume is heard while they are ignored.
    kernel.ignorePauses(4, 8)
    kernel.sendPfc(kernel.now, 5, 3, false)
    bench.run()
    expect(bench.delivered).toHaveLength(7)
    kernel.ignorePauses(4, 0)
    expect(kernel.pausedMask(4)).toBe(0)
  })

  it("only those of the priorities that are named", () => {
    const bench = paused()
    bench.kernel.ignorePauses(4, 16)
    bench.run()
    expect(bench.kernel.pausedMask(4)).toBe(8)
    expect(bench.delivered).toEqual([])
  })
})

describe("what waits in a queue", () => {
  it("is told apart by the port it came by", () => {
    const { kernel } = paused()
    expect([1, 3, 5].map((ingress) => kernel.queueBytesFrom(4, 3, ingress))).toEqual([4000, 2000, 0])
    expect([kernel.queueBytesFrom(4, 2, 1), kernel.queueBytesFrom(7, 3, 4)]).toEqual([0, 0])
  })

  it("can be dropped: counted, and the buffer given back", () => {
    const bench = paused()
    const { kernel } = bench
    expect(kernel.dropQueue(4, 3, -5)).toBe(6)
    expect(kernel.dropQueue(4, 3, -5)).toBe(0)
    expect(bench.dropped.map(({ node, reason }) => [node, reason])).toEqual(new Array(6).fill([3, -5]))
    expect([kernel.dropCounts[5], kernel.queueBytes(4), kernel.waiting, bench.pool.alive]).toEqual([6, 0, 0, 0])
    kernel.sendPfc(kernel.now, 5, 3, false)
    bench.send(30_000, 0, 2)
    bench.run()
    expect(bench.delivered).toHaveLength(1)
  })

  it("is dropped beside a frame of another priority that is being sent, which arrives", () => {
    const bench = paused()
    const { kernel } = bench
    bench.send(20_000, 0, 2, { priority: 5 }, 2)
    bench.run(22_500)
    kernel.dropQueue(4, 3, -5)
    bench.run()
    // By switch 3 at 22,000; then two links and two serializations of 1,000 each; the second right behind it.
    expect(bench.delivered.map(({ now, priority }) => [now, priority])).toEqual([
      [26_000, 5],
      [27_000, 5],
    ])
  })
})
