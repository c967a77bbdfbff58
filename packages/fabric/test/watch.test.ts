import { hpcc, hpccPresets } from "@rdmakit/cc-hpcc"
import { star } from "@rdmakit/topology"
import { expect, it } from "vitest"
import { incast, runFlows, start } from "./runs.ts"

const options = { graph: star(5), controller: hpcc(hpccPresets.simulation) }
const flows = incast(4, 20_000)

/** Looks every so many ps. */
const looks = (every: number) => {
  const times: Array<number> = []
  return {
    times,
    next: every,
    look(now: number): void {
      times.push(now)
      this.next = now + every
    },
  }
}

it("a watched run is the same run, whatever the budget of its steps", () => {
  const plain = runFlows(options, flows).outcome
  for (const budget of [1, 7, 1 << 20]) {
    const run = start(options, flows)
    const watch = looks(100_000)
    run.watch(watch)
    while (run.step(budget)) {}
    const { flows: table, idealPs: _, ...outcome } = run.outcome(false)
    const { flows: same, idealPs: __, ...expected } = plain
    expect(outcome).toEqual(expected)
    // Each moment of the grid once, up to the last event.
    expect(watch.times).toEqual(watch.times.map((_, index) => (index + 1) * 100_000))
    expect(watch.times.at(-1)).toBeLessThanOrEqual(run.world.kernel.now)
    expect(watch.times.length).toBe(Math.floor(run.world.kernel.now / 100_000))
    expect(table.finished).toEqual(same.finished)
  }
})

it("a look sees what happened before its moment, and not what happens at it", () => {
  const run = start(options, flows)
  // Host 0's first packet starts at 0: 1,090 bytes at 100 Gb/s, and the next right after it.
  const sent: Array<number> = []
  const moments = [0, 1, 87_200, 87_201, Number.POSITIVE_INFINITY]
  run.watch({
    get next() {
      return moments[sent.length]!
    },
    look: () => void sent.push(run.world.kernel.sentBytes(0)),
  })
  while (run.step(1 << 20)) {}
  expect(sent).toEqual([0, 1090, 1090, 2180])
})

it("nothing is seen from the stop time on", () => {
  const run = start(options, flows, 300_000)
  const watch = looks(100_000)
  run.watch(watch)
  while (run.step(1 << 20)) {}
  expect(watch.times).toEqual([100_000, 200_000])
})
