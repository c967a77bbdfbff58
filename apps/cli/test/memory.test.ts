/** Runs that need more memory than there is say so before it ends, and leave nothing behind. */
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { heapLimitBytes, isMemoryEnding } from "../src/Memory.ts"
import { folderOf, shell, shellCommand } from "./rdmakit.ts"

const base = `topology: { builder: star, hosts: 4 }
flows: [{ from: 0..2, to: 3, size: 100KB }]
controller: { name: hpcc }
`
const little = { NODE_OPTIONS: "--max-old-space-size=256" }

describe("flows that memory has no room for", () => {
  test.each([
    ["flows.0.count=200000", 'flows[0]: found "600000 flows that begin at the same moment", expected at most '],
    [
      "flows=[{ workload: all-to-all, hosts: 0..3, size: 1KB }, { workload: permutation, size: 1, rounds: 400000 }]",
      "",
    ],
  ])(
    "are refused before the run: %s",
    async (set, message) => {
      const cwd = folderOf({ "s.yaml": base })
      const { code, err } = await shell(`rdmakit run s.yaml --set '${set}'`, little, cwd)
      expect(code).toBe(2)
      expect(err).toContain(message)
      expect(err).toMatch(/^error: .*expected at most \d+/)
      expect(readdirSync(cwd)).toEqual(["s.yaml"])
    },
    60_000,
  )

  test("end the run that comes to have them", async () => {
    const cwd = folderOf({ "s.yaml": base })
    const flows = "flows={ workload: poisson, size: 100KB, load: 10, duration: 6ms }"
    const { code, err } = await shell(`rdmakit run s.yaml --set '${flows}' --set topology.hosts=32`, little, cwd)
    expect(err).toMatch(/^error: the run needs more memory than the \d+ MB that this process may use: \d/m)
    expect(err).toContain("\nfewer flows at once, or more memory: NODE_OPTIONS=--max-old-space-size=MIB\n")
    expect(code).toBe(2)
    expect(readdirSync(cwd)).toEqual(["s.yaml"])
  }, 60_000)
})

test("memory is ending when what is alive fills it", () => {
  expect(isMemoryEnding(heapLimitBytes())).toBe(false)
  expect(isMemoryEnding(1e6)).toBe(true)
})

test("a second Ctrl-C, while what there is of many flows is written, sweeps the unfinished folder away", async () => {
  const cwd = folderOf({ "s.yaml": base })
  mkdirSync(join(cwd, "results"))
  const line = `${shellCommand} run s.yaml --set flows.0.count=100000 --out results/out 2> err & child=$!
    until ls -A results | grep -q unfinished || ! kill -0 $child; do sleep 0.1; done; sleep 3; kill -INT $child
    until grep -q stopped err || ! kill -0 $child; do sleep 0.05; done; sleep 0.6; kill -INT $child; wait $child`
  const { code } = await shell(line, {}, cwd)
  expect(code).toBe(130)
  expect(readdirSync(join(cwd, "results")).filter((name) => name.includes("unfinished"))).toEqual([])
}, 60_000)
