import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { Effect, Path } from "effect"
import { describe, expect, test } from "vitest"
import { defaultFolder, openResultFolder, type ResultFolder } from "../src/ResultFolder.ts"
import { WorkingDirectory } from "../src/Screen.ts"
import { filesIn, folderOf } from "./rdmakit.ts"

/** Opens a result folder, writes some files, publishes; gives the refusal instead. */
const written = (
  cwd: string,
  name: string,
  files: Readonly<Record<string, string>>,
  options: {
    readonly force?: boolean
    readonly publish?: boolean
    readonly before?: (folder: ResultFolder) => void
  } = {},
) =>
  Effect.gen(function* () {
    const folder = yield* openResultFolder(name, { force: options.force ?? false, input: "config.txt" })
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder.staging, file), text)
    options.before?.(folder)
    if (options.publish !== false) yield* folder.publish
    return "published"
  }).pipe(
    Effect.scoped,
    Effect.catchTag("Refused", ({ message, hint }) => Effect.succeed(`${message}; ${hint}`)),
    Effect.provideService(WorkingDirectory, cwd),
    Effect.provide(NodeFileSystem.layer),
    Effect.provide(NodePath.layer),
    Effect.runPromise,
  )

const result = { "summary.json": '{"files":{"fct":"fct.txt","out":"../x"}}', "flows.csv": "1", "fct.txt": "1" }

describe("a result folder", () => {
  test("is new, and unseen until it is published", async () => {
    const cwd = folderOf({})
    const before = () => expect(existsSync(join(cwd, "deep/out"))).toBe(false)
    expect(await written(cwd, "deep/out", result, { before })).toBe("published")
    expect(filesIn(cwd)).toEqual(["deep/out/fct.txt", "deep/out/flows.csv", "deep/out/summary.json"])
    expect(statSync(join(cwd, "deep/out")).mode & 0o777).toBe(0o755)
  })

  test("that another run has written meanwhile is not mixed with it", async () => {
    const cwd = folderOf({ "old/summary.json": "{}", "old/flows.csv": "0" })
    for (const name of ["out", "old"]) {
      const before = () => {
        mkdirSync(join(cwd, name), { recursive: true })
        rmSync(join(cwd, name, "summary.json"), { force: true })
        writeFileSync(join(cwd, name, "summary.json"), '{"input":"other.txt"}')
      }
      const options = { before, force: name === "old" }
      expect(await written(cwd, name, result, options)).toBe(
        `${name}: another run has written there meanwhile, and this one's results are given up; run it again, one after the other, or each with an --out of its own`,
      )
    }
    expect(filesIn(cwd)).toEqual(["old/flows.csv", "old/summary.json", "out/summary.json"])
  })

  test("leaves nothing when it is not published", async () => {
    const cwd = folderOf({ "old/summary.json": "{}" })
    await written(cwd, "out", result, { publish: false })
    await written(cwd, "old", result, { publish: false })
    expect(filesIn(cwd)).toEqual(["old/summary.json"])
  })

  test("may be an empty one, the working directory too", async () => {
    const cwd = folderOf({})
    expect(await written(cwd, ".", result)).toBe("published")
    expect(filesIn(cwd)).toEqual(["fct.txt", "flows.csv", "summary.json"])
  })

  test("replaces a result and the files that this one named; others stay", async () => {
    const cwd = folderOf({ x: "kept", "out/plot.png": "kept", "out/old.tr": "" })
    await written(cwd, "out", { ...result, "summary.json": '{"files":{"fct":"fct.txt","x":"../x"}}' }, { force: true })
    const next = { "summary.json": "{}", "flows.csv": "2", "hpcc.fct.txt": "2" }
    expect(await written(cwd, "out", next)).toBe("published")
    expect(filesIn(cwd)).toEqual([
      "out/flows.csv",
      "out/hpcc.fct.txt",
      "out/old.tr",
      "out/plot.png",
      "out/summary.json",
      "x",
    ])
    expect(readFileSync(join(cwd, "out/flows.csv"), "utf8")).toBe("2")
  })

  test("copes with a summary that is none", async () => {
    const cwd = folderOf({ "out/summary.json": "not JSON" })
    expect(await written(cwd, "out", result)).toBe("published")
  })

  test.each<readonly [string, Readonly<Record<string, string>>, string]>([
    [
      "a folder with other things",
      { "out/a": "", "out/b": "" },
      "out: found a folder with other things (a, …), expected",
    ],
    [
      "the results of another input",
      { "out/flows.csv": "1", "out/summary.json": '{"input":"other.txt"}' },
      "out: holds the results of other.txt, expected none or those of config.txt; choose another with --out DIR, or --force",
    ],
    ["a file", { out: "" }, "out: found a file, expected a folder or nothing; choose another with --out DIR"],
  ])("is not %s", async (_, files, message) => {
    const cwd = folderOf(files)
    expect(await written(cwd, "out", result)).toContain(message)
    expect(filesIn(cwd)).toEqual(Object.keys(files))
  })

  test("cannot lie below a file", async () => {
    expect(await written(folderOf({ f: "" }), "f/out", result)).toContain("f/out: cannot be written to: ")
  })

  test.runIf(process.getuid?.() !== 0)("cannot lie in a folder of somebody else's", async () => {
    expect(await written("/", "out", result)).toContain("out: cannot be written to: permission denied")
  })

  test("is called after its config", async () => {
    const name = Path.Path.useSync((path) =>
      ["mix/config.txt", "hpcc.config.txt", "-"].map((file) => defaultFolder(path, file)),
    )
    const names = await Effect.runPromise(Effect.provide(name, NodePath.layer))
    expect(names).toEqual(["config.results", "hpcc.config.results", "stdin.results"])
  })
})
