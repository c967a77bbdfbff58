import { readFileSync } from "node:fs"
import { join } from "node:path"
import { figures, idsOf } from "@rdmakit/harness"
import { describe, expect, test } from "vitest"
import { filesIn, folderOf, rdmakit } from "./rdmakit.ts"

interface ListedFigure {
  readonly id: string
  readonly quick: object
  readonly claims: ReadonlyArray<{ readonly id: string }>
}

describe("rdmakit claims", () => {
  test("measures two claims and writes page, table and JSON, the same with any number of threads", async () => {
    const cwd = folderOf({})
    const ids = ["hpcc-13/drained", "parameters"]
    const one = await rdmakit(["claims", ...ids, "--out", "one", "--jobs", "1"], { cwd })
    expect(one.code).toBe(0)
    // HPCC drains in 75 to 100 µs (digitised: 56 to 125), reacting once a round trip alone takes longer.
    expect(one.out).toMatch(/drained +HPCC +75 µs to 100 µs +digitised +101 µs +within/)
    expect(one.out).toMatch(/count +HPCC +3 +read +3 +within/)
    expect(one.out.trimEnd().split("\n").at(-1)).toBe(
      "4 numbers: 4 within, 0 outside, 0 shape only; 2 of 2 orders right, 0 explained, 0 wrong",
    )
    const several = await rdmakit(["claims", ...ids, "--out", "several", "--jobs", "3", "--json"], { cwd })
    expect(JSON.parse(several.out).tally).toMatchObject({ numbers: 4, within: 4, reversed: 0 })
    expect(filesIn(join(cwd, "one"))).toEqual(["claims.csv", "claims.html", "claims.json", "summary.json"])
    for (const file of filesIn(join(cwd, "one"))) {
      const [a, b] = ["one", "several"].map((folder) => readFileSync(join(cwd, folder, file), "utf8"))
      expect(a).toBe(b)
    }
    const csv = readFileSync(join(cwd, "one", "claims.csv"), "utf8")
    expect(csv).toContain(
      "hpcc-13/drained,HPCC,queue gone (below 10 kB) after its peak,s,digitised,0.000075,0.0001,0.25,0.000101,,within,\n",
    )
    const page = readFileSync(join(cwd, "one", "claims.html"), "utf8")
    expect(page.match(/<svg/g)!.length).toBeGreaterThan(4)
    expect(page).not.toMatch(/<script(?! type="application\/json")|https?:/)
  }, 60_000)

  test("keeps the figures that were measured when Ctrl-C comes, and says that it is not all", async () => {
    const cwd = folderOf({})
    // One thread: the runs of a figure after those of the one before it.
    const { code, err, out } = await rdmakit(["claims", "parameters", "hpcc-13", "--out", "some", "--jobs", "1"], {
      cwd,
      terminal: true,
      watch: (text, signal) => {
        if (text.includes("parameters, ")) signal()
      },
    })
    expect(code).toBe(130)
    expect(err).toContain("stopped by Ctrl-C with 1 figure not measured: the results are partial")
    expect(out).toContain("hpcc-13")
    expect(out).not.toContain("parameters")
    const { partial, tally } = JSON.parse(readFileSync(join(cwd, "some", "summary.json"), "utf8"))
    expect([partial, tally.notMeasured]).toEqual([true, 0])
  }, 60_000)

  test("says which id was perhaps meant, and writes nothing", async () => {
    const cwd = folderOf({})
    const { code, err } = await rdmakit(["claims", "hpcc-11a/shrot"], { cwd })
    expect(code).toBe(2)
    expect(err).toBe("error: hpcc-11a/shrot: found no figure and no claim of that name\ndid you mean hpcc-11a/short?\n")
    expect(filesIn(cwd)).toEqual([])
  })

  test("lists figures, those of an id or all, and writes nothing", async () => {
    const cwd = folderOf({})
    const two = await rdmakit(["claims", "--list", "hpcc-13", "hpcc-14/p95"], { cwd })
    expect({ code: two.code, out: two.out }).toEqual({
      code: 0,
      out: `hpcc-13  Reacting to every acknowledgement and once a round trip
  HPCC, SIGCOMM 2019, Figure 13; quick run: as long as --full
hpcc-14  Additive increase and the queue
  HPCC, SIGCOMM 2019, Figure 14; quick run: 3 ms
2 figures
`,
    })
    const all = await rdmakit(["claims", "--list", "--json"], { cwd })
    const listed: ReadonlyArray<ListedFigure> = JSON.parse(all.out).figures
    expect(listed.map(({ id }) => id)).toEqual(figures.map(({ id }) => id))
    expect(listed.flatMap(({ id, claims }) => [id, ...claims.map((claim) => claim.id)])).toEqual(idsOf(figures))
    expect(listed.find(({ id }) => id === "hpcc-14")!.quick).toEqual({ isFull: false, extent: "3 ms" })
    expect(filesIn(cwd)).toEqual([])
  })

  test("an id like no other is answered with where to find them", async () => {
    const { code, err } = await rdmakit(["claims", "xyzzy"], { cwd: folderOf({}) })
    expect(code).toBe(2)
    expect(err).toContain("rdmakit claims --list names those there are")
  })

  test("refuses two scales at once", async () => {
    const { code, err } = await rdmakit(["claims", "--quick", "--full"], { cwd: folderOf({}) })
    expect(code).toBe(2)
    expect(err).toContain("--quick --full: found both, expected one of them")
  })
})
