import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, FileSystem, Layer, type Result } from "effect"
import { describe, expect, test } from "vitest"
import { WorkingDirectory } from "../src/Screen.ts"
import { failedRecord } from "../src/sweep/RunRecord.ts"
import { openSweepFolder, type SweepFolder } from "../src/sweep/SweepFolder.ts"
import { plannedRuns } from "../src/sweep/Vary.ts"
import { filesIn, folderOf, rdmakit, shell, shellCommand } from "./rdmakit.ts"

const scenario = `topology: { builder: star, hosts: 5 }
flows: { workload: poisson, load: 0.5, sizes: FB_Hadoop, duration: 50us }
controller: { name: hpcc }
`
const many = "sweep net.yaml --seeds 300 --jobs 1 --out out --force"

/** A sweep in whose folder something is done when some of its runs are made. */
const sweptWhile = async (cwd: string, meanwhile: () => void) => {
  let isDone = false
  const watch = (text: string) => {
    if (isDone || !/[1-9]\d* of 300 runs/.test(text)) return
    isDone = true
    meanwhile()
  }
  return rdmakit(many.split(" "), { cwd, terminal: true, watch })
}

describe("the folder of a sweep that is under way", () => {
  test("is another's when that begins anew in it: the first ends, and the second has all of its own", async () => {
    const cwd = folderOf({ "net.yaml": scenario })
    const line = "sweep net.yaml --vary controller.name=hpcc,timely --seeds 2 --jobs 1"
    let second: ReturnType<typeof shell> | undefined
    const first = await sweptWhile(cwd, () => {
      second = shell(`${shellCommand} ${line} --out out --force`, {}, cwd)
    })
    expect([first.code, first.out]).toEqual([2, ""])
    expect(first.err).toContain("out: another sweep has begun in it since")
    const { code, err } = await second!
    expect(code, err).toBe(0)
    expect((await rdmakit([...line.split(" "), "--out", "alone"], { cwd })).code).toBe(0)
    const tree = (folder: string) =>
      filesIn(join(cwd, folder)).map((name) => [name, readFileSync(join(cwd, folder, name), "utf8")])
    expect(tree("out")).toEqual(tree("alone"))
  }, 60_000)

  test("is no sweep's without its sweep.json", async () => {
    const cwd = folderOf({ "net.yaml": scenario })
    const { code, err } = await sweptWhile(cwd, () => rmSync(join(cwd, "out/sweep.json")))
    expect(code).toBe(2)
    expect(err).toContain("out/sweep.json is gone, in the middle of the sweep")
    expect(filesIn(join(cwd, "out")).filter((name) => name.includes("unfinished"))).toEqual([])
  }, 60_000)
})

describe("of two sweeps that begin in one folder at once", () => {
  const plan = plannedRuns([], 1)
  const none = { resume: false, force: false }
  const force = { resume: false, force: true }

  /** Files that let something else happen before the call of that number. */
  const interrupted = (files: FileSystem.FileSystem, at: number, meanwhile: Effect.Effect<unknown>) => {
    let calls = 0
    const wrapped = Object.entries(files).map(([name, method]) => {
      if (typeof method !== "function") return [name, method]
      const called = (...given: ReadonlyArray<unknown>) =>
        Effect.suspend(() => {
          const call = (): Effect.Effect<unknown> => method(...given)
          return calls++ === at ? Effect.andThen(meanwhile, Effect.suspend(call)) : call()
        })
      return [name, called]
    })
    return Object.fromEntries(wrapped) as FileSystem.FileSystem
  }

  /** The second begins, as a whole, before one call of the first's; undefined where the first has fewer. */
  const beginBoth = (cwd: string, at: number, first: typeof none, second: typeof none) =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const opened = (sweep: string, options: typeof none) =>
        Effect.result(openSweepFolder("out", { sweep }, plan, options))
      let other: Result.Result<SweepFolder, { readonly message: string }> | undefined
      const meanwhile = opened("second", second).pipe(
        Effect.tap((result) => Effect.sync(() => (other = result))),
        Effect.provideService(FileSystem.FileSystem, files),
        Effect.provide(services(cwd)),
      )
      const watched = interrupted(files, at, meanwhile)
      const one = yield* Effect.provideService(opened("first", first), FileSystem.FileSystem, watched)
      if (other === undefined) return undefined
      const ended: Array<string> = []
      for (const result of [one, other]) {
        const kept = Effect.flatMap(Effect.fromResult(result), (folder) => folder.keep(failedRecord(plan[0]!, "")))
        ended.push(
          yield* kept.pipe(
            Effect.as("goes on"),
            Effect.catch((error) => Effect.succeed(error.message)),
          ),
        )
      }
      return ended
    }).pipe(Effect.provide(services(cwd)))

  const services = (cwd: string) =>
    Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, Layer.succeed(WorkingDirectory, cwd))

  const told = ["out: another sweep has begun in it since", "out: found a sweep, expected none"]

  test.each([
    ["an empty folder", none, none, false],
    ["an empty folder, the second with --force", none, force, false],
    ["a sweep's folder", force, force, true],
  ])("one goes on and the other is told of it, in whatever moment it is: in %s", async (_, first, second, isThere) => {
    let at = 0
    for (; ; at++) {
      const cwd = folderOf({})
      if (isThere) await Effect.runPromise(beginBoth(cwd, Number.POSITIVE_INFINITY, none, none))
      const both = await Effect.runPromise(beginBoth(cwd, at, first, second))
      if (both === undefined) break
      expect([...both].sort(), `at ${at}`).toEqual(["goes on", expect.toBeOneOf(told)])
      const { sweep } = JSON.parse(readFileSync(join(cwd, "out/sweep.json"), "utf8"))
      expect(["first", "second"].indexOf(sweep), `at ${at}`).toBe(both.indexOf("goes on"))
      expect(filesIn(join(cwd, "out"))).toEqual(["runs/000000.json", "sweep.json"])
    }
    expect(at).toBeGreaterThan(10)
  })
})
