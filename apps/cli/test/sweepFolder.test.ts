import { readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
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
