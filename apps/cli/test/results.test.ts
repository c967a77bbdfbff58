import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { filesIn, folderOf, rdmakit } from "./rdmakit.ts"

const scenario = `topology: { builder: star, hosts: 5 }
flows: [{ from: 0..3, to: 4, size: 100KB }]
`
/** Runs a scenario of four flows to one host in a new folder. */
const ran = async (args: ReadonlyArray<string>, cwd = folderOf({ "incast.yaml": scenario })) => {
  const outcome = await rdmakit(["run", "incast.yaml", ...args], { cwd })
  const folder = join(cwd, "incast.results")
  const textOf = (name: string): string => readFileSync(join(folder, name), "utf8")
  return { ...outcome, cwd, folder, textOf, summary: () => JSON.parse(textOf("summary.json")) }
}

const costs = ["cpuSeconds", "wallSeconds", "peakRssBytes", "cpuNanosecondsPerPacketHop"]

/** What of a summary depends on inputs and seed alone, its list of files apart. */
const lasting = (summary: Readonly<Record<string, unknown>>) =>
  Object.entries(summary).filter(([key]) => key !== "files" && !costs.includes(key))

describe("what a run writes", () => {
  test("a page and a table of flows, unless told otherwise", async () => {
    const usual = await ran([])
    expect(usual.code).toBe(0)
    expect(filesIn(usual.folder)).toEqual(["flows.csv", "links.csv", "report.html", "summary.json"])
    expect(usual.summary().files).toEqual({ flows: "flows.csv", links: "links.csv", report: "report.html" })
    const without = await ran(["--no-report"])
    expect(filesIn(without.folder)).toEqual(["flows.csv", "links.csv", "summary.json"])
    expect(without.summary().files).toEqual({ flows: "flows.csv", links: "links.csv" })
  })

  test("a table of links, with queues where they are sampled", async () => {
    const [usual, without] = [await ran([]), await ran(["--no-report"])]
    const [header, ...rows] = usual.textOf("links.csv").trimEnd().split("\n")
    expect(header).toMatch(/^from,to,interface,rate_bps,sent_bytes,use_fraction,paused_ps,queue_p50_bytes,/)
    expect(rows.map((row) => row.split(",").slice(0, 3).join())).toEqual(
      [0, 1, 2, 3, 4].flatMap((host) => [`${host},5,1`, `5,${host},${host + 1}`]),
    )
    // 100 packets of 1,090 B from each of four hosts.
    expect(rows.at(-1)).toMatch(/^5,4,5,100000000000,436000,0\.\d{6},0,\d+,\d+,\d+$/)
    expect(without.textOf("links.csv").trimEnd().split("\n")[10]).toBe(rows.at(-1)!.replace(/(,\d+){3}$/, ",,,"))
  })

  test("what is recorded changes nothing about the run", async () => {
    const [plain, recorded] = [
      await ran(["--no-report"]),
      await ran(["--series", "rate,window,queue", "--sample", "10ns"]),
    ]
    expect(recorded.textOf("flows.csv")).toBe(plain.textOf("flows.csv"))
    // Fairness is of what was sampled: nothing of a run that was not looked at.
    const [{ fairness, ...seen }, { fairness: none, ...unseen }] = [recorded.summary(), plain.summary()]
    expect(lasting(seen)).toEqual(lasting(unseen))
    expect(none).toEqual([])
    expect(fairness).toMatchObject([{ host: 4, interface: null, flows: 4 }])
  })

  test("the same page, series and Parquet from the same input, byte for byte", async () => {
    const args = ["--parquet", "--series", "rate,window,queue"]
    const [a, b] = [await ran(args), await ran(args)]
    const names = ["flows.csv", "flows.parquet", "links.csv", "queue.csv", "rate.csv", "report.html", "window.csv"]
    expect(filesIn(a.folder)).toEqual([...names.slice(0, 6), "summary.json", "window.csv"])
    for (const name of names) expect(readFileSync(join(a.folder, name))).toEqual(readFileSync(join(b.folder, name)))
    expect(a.summary().files).toEqual({
      ...{ flows: "flows.csv", links: "links.csv", parquet: "flows.parquet", report: "report.html" },
      ...{ rate: "rate.csv", window: "window.csv", queue: "queue.csv" },
    })
  })

  test("the page agrees with the summary", async () => {
    const { textOf, summary } = await ran([])
    const data = JSON.parse(/id="data">(.*?)<\/script>/s.exec(textOf("report.html"))![1]!)
    expect(data.slowdown).toEqual(summary().slowdown)
    expect(textOf("report.html")).toContain(`digest ${summary().digest}`)
    expect(textOf("report.html")).toContain("the time alone in the network")
  })

  test("of a config the page says which ideal its slowdowns are against", async () => {
    const cwd = folderOf({})
    await rdmakit(["run", "tiny/hpcc.config.txt", "--out", join(cwd, "out")])
    const page = readFileSync(join(cwd, "out/report.html"), "utf8")
    expect(page).toContain("<h1>hpcc.config.txt</h1>")
    expect(page).toContain("the standalone time by the HPCC simulator&#39;s formula")
  })

  test("takes the series of before away when they are not asked for again", async () => {
    const { cwd, folder } = await ran(["--series", "rate", "--parquet"])
    expect(filesIn(folder)).toContain("rate.csv")
    await ran(["--no-report"], cwd)
    expect(filesIn(folder)).toEqual(["flows.csv", "links.csv", "summary.json"])
  })
})

describe("series", () => {
  test("at the period that is asked for", async () => {
    const { out, textOf } = await ran(["--series", "queue", "--series", "rate", "--sample", "2us"])
    expect(out).toContain("\nrate, queue sampled every 2us\n")
    const [header, ...rows] = textOf("rate.csv").trimEnd().split("\n")
    expect(header).toBe("time_ps,flow,rate_bps")
    const times = rows.map((row) => Number(row.split(",")[0]))
    expect(times.slice(0, 8)).toEqual([2e6, 2e6, 2e6, 2e6, 4e6, 4e6, 4e6, 4e6])
    expect(textOf("queue.csv").split("\n")[0]).toBe("time_ps,node,interface,queue_bytes")
  })

  test("with --json nothing is said but the summary", async () => {
    const { out } = await ran(["--series", "rate", "--json"])
    expect(JSON.parse(out).files.rate).toBe("rate.csv")
  })

  test.each([
    [
      ["--series", "rate,speed"],
      '--series: found "speed", expected rate, window, queue, fairness, or several with commas between them',
    ],
    [["--series", ""], '--series: found ""'],
    [["--sample", "soon"], '--sample: "soon" is no time'],
    [["--sample", "0us"], '--sample: found "0us", expected a time above 0'],
    [["--sample", "5"], '--sample: "5" is no time: the unit is missing'],
  ])("%j is refused before anything is run", async (args, message) => {
    const { code, err, cwd } = await ran(args)
    expect(code).toBe(2)
    expect(err).toContain(message)
    expect(filesIn(cwd)).toEqual(["incast.yaml"])
  })

  test("no output of a config takes a result's name", async () => {
    const args = ["run", "tiny/hpcc.config.txt", "--set", "FCT_OUTPUT_FILE=mix/report.html"]
    const { code, err } = await rdmakit([...args, "--out", join(folderOf({}), "out")])
    expect(code).toBe(2)
    expect(err).toContain(
      "expected a base name other than report.html; outputs go to one folder, where the report has that name",
    )
  })
})
