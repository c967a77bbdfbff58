import { describe, expect, test } from "vitest"
import { folderOf, octetsOf, rdmakit, textOf } from "./rdmakit.ts"

const lines = textOf("incast16/hpcc.fct.txt").trimEnd().split("\n")
const changed = (index: number, from: string, to: string) =>
  `${lines.map((line, at) => (at === index ? line.replace(from, to) : line)).join("\n")}\n`

/** Of a trace of two links: what comes before its first event. */
const TRACE_HEADER_OCTETS = 52

describe("compare", () => {
  test("the same file: identical, exit 0", async () => {
    const { code, out, err } = await rdmakit(["compare", "incast16/hpcc.fct.txt", "incast16/hpcc.fct.txt"])
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toBe(`A  incast16/hpcc.fct.txt
B  incast16/hpcc.fct.txt
16 flows in both: 16 identical (100 %), 16 within 1 % (100 %)

Slowdown by flow size
size ≤  flows  p50 A      B  diff  p95 A      B  diff  p99 A      B  diff
    1M     16  16.05  16.05     =  16.88  16.88     =  16.88  16.88     =
   all     16  16.05  16.05     =  16.88  16.88     =  16.88  16.88     =

identical
`)
  })

  test("the order of lines does not matter", async () => {
    const folder = folderOf({ "fct.txt": `${lines.toReversed().join("\n")}\n` })
    expect((await rdmakit(["compare", "incast16/hpcc.fct.txt", `${folder}/fct.txt`])).code).toBe(0)
  })

  test("different runs: agreement, the worst flow by name, exit 1", async () => {
    const { code, out } = await rdmakit(["compare", "incast16/hpcc.fct.txt", "incast16/timely.fct.txt"])
    expect(code).toBe(1)
    expect(out).toContain("16 flows in both: 0 identical (0 %), 1 within 1 % (6.3 %)\n")
    expect(out).toContain(
      "most different: host 9 port 10000 to host 16 port 100, 1,000,000 bytes from 2,000,000,000 ns: A 1,084,224 ns, B 1,286,604 ns (+18.7 %)\n",
    )
    expect(out).toMatch(/\ndifferent\n$/)
  })

  test("files of pauses, and of queues, line by line", async () => {
    const pauses = await rdmakit(["compare", "pfcdemo/timely.pfc.txt", "pfcdemo/timely.pfc.txt"])
    expect(pauses).toMatchObject({ code: 0, out: "PFC events: 358 lines, identical\n\nidentical\n" })
    const queues = await rdmakit(["compare", "incast16/hpcc.qlen.txt", "incast16/timely.qlen.txt"])
    expect(queues.code).toBe(1)
    expect(queues.out).toContain("queue lengths: the first line that differs is 36\n")
  })

  test("a side whose run was stopped is told", async () => {
    const folder = folderOf({
      "fct.txt": `${lines.slice(7).join("\n")}\n`,
      "summary.json": JSON.stringify({ transport: "rc", partial: true, files: { fct: "fct.txt" } }),
    })
    const { out } = await rdmakit(["compare", "incast16/hpcc.fct.txt", folder])
    expect(out).toContain("B is of a run that was stopped: it has the flows alone that had finished\n")
  })

  test("flows that one side lacks are named, five at most", async () => {
    const folder = folderOf({ "fct.txt": `${lines.slice(7).join("\n")}\n` })
    const { code, out } = await rdmakit(["compare", "incast16/hpcc.fct.txt", `${folder}/fct.txt`])
    expect(code).toBe(1)
    expect(out).toContain("only in A: 7 flows\n  host 9 port 10000 to host 16 port 100, 1,000,000 bytes")
    expect(out).toContain("  and 2 more\n")
    expect(out).toContain("flows A  flows B")
  })

  test("a nanosecond is a difference, and so is a standalone time", async () => {
    const folder = folderOf({ "a.txt": changed(3, " 88000", " 88001"), "b.txt": changed(0, " 1084224 ", " 1084225 ") })
    const a = await rdmakit(["compare", "incast16/hpcc.fct.txt", `${folder}/a.txt`])
    expect(a.code).toBe(1)
    expect(a.out).toContain("1 flow of the same completion time, but of another size, start or standalone time")
    const b = await rdmakit(["compare", "incast16/hpcc.fct.txt", `${folder}/b.txt`])
    expect(b.code).toBe(1)
    expect(b.out).toContain("15 identical (93.8 %), 16 within 1 % (100 %)")
    expect(b.out).toContain("A 1,084,224 ns, B 1,084,225 ns (+<0.001 %)")
  })

  test("--json", async () => {
    const { code, out } = await rdmakit(["compare", "incast16/hpcc.fct.txt", "incast16/timely.fct.txt", "--json"])
    expect(code).toBe(1)
    const json = JSON.parse(out)
    expect(json).toMatchObject({
      a: "incast16/hpcc.fct.txt",
      b: "incast16/timely.fct.txt",
      identical: false,
      flows: {
        ...{ a: 16, b: 16, matched: 16, identical: 0, identicalInEveryField: 0, withinOnePercent: 1 },
        ...{ missingInA: [], missingInB: [] },
        worst: { src: 9, dst: 16, sport: 10000, dport: 100, fctNsA: 1084224, fctNsB: 1286604 },
      },
    })
    expect(json.slowdown.map((row: { upToBytes: unknown }) => row.upToBytes)).toEqual([
      ...[300, 1000, 2000, 10000, 50000, 120000, 500000, 1000000, 5000000, null, "all"],
    ])
    expect(json.slowdown.at(-1).a.count).toBe(16)
    expect(json.slowdown[0].a).toEqual({ count: 0, mean: null, p50: null, p95: null, p99: null })
  })

  test("the 320-host fabric, HPCC against DCQCN, in 80 columns and in 40", async () => {
    const folder = folderOf({
      "a/fct.txt": octetsOf("fat320-fbhdp/hpcc.fct.txt.gz"),
      "b/fct.txt": octetsOf("fat320-fbhdp/dcqcn.fct.txt.gz"),
    })
    const wide = await rdmakit(["compare", "a", "b"], { cwd: folder, columns: 80 })
    expect(wide.code).toBe(1)
    expect(wide.out).toContain("A  a/fct.txt\nB  b/fct.txt\n7,981 flows in both: ")
    const table = wide.out.slice(wide.out.indexOf("size ≤"))
    expect(table.split("\n").length).toBeGreaterThanOrEqual(12)
    for (const line of table.split("\n")) expect(line.length).toBeLessThanOrEqual(80)
    expect(table).toContain("p95 A")
    const narrow = await rdmakit(["compare", "a", "b"], { cwd: folder, columns: 40 })
    for (const line of narrow.out.slice(narrow.out.indexOf("size ≤")).split("\n")) {
      expect(line.length).toBeLessThanOrEqual(40)
    }
  })
})

describe("compare finds files", () => {
  test("in folders, every kind that both have", async () => {
    const { code, out } = await rdmakit(["compare", "pfcdemo", "pfcdemo"])
    expect(code).toBe(0)
    expect(out).toContain("16 flows in both: 16 identical")
    expect(out).toContain("\nPFC events: 358 lines, identical\n")
    expect(out).toContain("\nqueue lengths: 36 lines, identical\n")
  })

  test("by the name of the other side's, when a folder has several", async () => {
    const folder = folderOf({ "hpcc.fct.txt": textOf("incast16/hpcc.fct.txt"), "flows.csv": "", "plot_fct.py": "" })
    const { code, out } = await rdmakit(["compare", folder, "incast16"])
    expect(code).toBe(0)
    expect(out).toContain("B  incast16/hpcc.fct.txt\n")
  })

  test("tells the first line of PFC events that differs", async () => {
    const pfc = textOf("pfcdemo/timely.pfc.txt").split("\n")
    const folder = folderOf({
      "fct.txt": textOf("pfcdemo/timely.fct.txt"),
      "pfc.txt": [...pfc.slice(0, 9), "1 2 3 4 5", ...pfc.slice(10)].join("\n"),
    })
    const { code, out } = await rdmakit(["compare", "pfcdemo", folder])
    expect(code).toBe(1)
    expect(out).toContain(`PFC events: the first line that differs is 10\n  A  ${pfc[9]}\n  B  1 2 3 4 5\n`)
  })

  test("on standard input", async () => {
    const stdin = octetsOf("tiny/hpcc.tr")
    expect((await rdmakit(["compare", "-", "tiny/hpcc.tr"], { stdin })).code).toBe(0)
    const fct = octetsOf("incast16/hpcc.fct.txt")
    expect((await rdmakit(["compare", "incast16/hpcc.fct.txt", "-"], { stdin: fct })).code).toBe(0)
  })
})

describe("compare traces", () => {
  test("identical but for garbage", async () => {
    const { code, out } = await rdmakit(["compare", "tiny/hpcc.tr", "tiny/hpcc.tr"])
    expect(code).toBe(0)
    expect(out).toContain("55 events in both: 55 identical, 0 different\n\nidentical\n")
  })

  test("the first event that differs, and what one has more", async () => {
    const trace = octetsOf("tiny/hpcc.tr").slice(0, 52 + 56 * 50)
    trace[52 + 56 * 20 + 12] = 9
    const folder = folderOf({ "b.tr": trace })
    const { code, out } = await rdmakit(["compare", "tiny/hpcc.tr", `${folder}/b.tr`])
    const printed = textOf("tiny/hpcc.tr.txt").split("\n")
    expect(code).toBe(1)
    expect(out).toContain("50 events in both: 49 identical, 1 different\nfirst event that differs: number 21\n")
    expect(out).toContain(
      `\n  A  ${printed[20]}\n  B  ${printed[20]!.replace(" 0 Dequ", " 9 Dequ").replace(" 0 Enqu", " 9 Enqu").replace(" 0 Recv", " 9 Recv")}\n  in qlen (0 and 9)\n`,
    )
    expect(out).toContain(`A goes on for 5 events, first\n  A  ${printed[50]}\n`)
    const { out: text } = await rdmakit(["compare", "tiny/hpcc.tr", `${folder}/b.tr`, "--json"])
    expect(JSON.parse(text).trace).toMatchObject({
      ...{ same: false, header: [], a: 55, b: 50, identical: 49, differing: 1, rest: printed[50] },
      first: { index: 20, fields: [{ field: "qlen", a: 0, b: 9 }] },
    })
  })
})

describe("compare, of scenarios", () => {
  const header =
    "flow,source,destination,priority,source_port,destination_port,size_bytes,start_ps,completion_ps,ideal_ps,slowdown,state,reason\n"
  const one = "0,0,2,3,10000,100,1000,0,2000500,1000000,2.000500,finished,\n"
  const two = "1,1,2,3,10000,100,1000,0,4000000,1000000,4.000000,finished,\n"
  const never = '1,1,2,3,10000,100,1000,0,,1000000,,unfinished,"waiting, still"\n'

  test("folders of results have their tables of flows", async () => {
    const cwd = folderOf({
      "a/flows.csv": header + one + two,
      "b/flows.csv": header + one + two.replace("4000000", "5000000").replace("4.0", "5.0"),
      "c/flows.csv": header + one + never,
    })
    const same = await rdmakit(["compare", "a", "a/flows.csv"], { cwd })
    expect(same.code).toBe(0)
    expect(same.out).toContain("2 flows in both: 2 identical (100 %)")
    const other = await rdmakit(["compare", "a", "b"], { cwd })
    expect(other.code).toBe(1)
    expect(other.out).toContain("A 4,000 ns, B 5,000 ns (+25.0 %)")
    const unfinished = await rdmakit(["compare", "a", "c"], { cwd })
    expect(unfinished.code).toBe(1)
    expect(unfinished.out).toContain("only in A: 1 flow\n")
  })

  test("and the simulator's times of the same flows, which have other ports", async () => {
    const cwd = folderOf({
      "flows.csv": header + (one + two).replaceAll(",10000,", ",49152,"),
      "fct.txt": `0b000001 0b000201 10000 100 1000 0 2001 1000\n0b000101 0b000201 10000 100 1000 0 4000 1000\n`,
    })
    const { code, out } = await rdmakit(["compare", "flows.csv", "fct.txt"], { cwd })
    expect(code).toBe(1)
    expect(out).toContain(
      "2 flows in both: 1 identical (50.0 %), 2 within 1 % (100 %)\nnote: no flow has the same ports in",
    )
    expect(out).not.toContain("only in")
    const { flows } = JSON.parse((await rdmakit(["compare", "flows.csv", "fct.txt", "--json"], { cwd })).out)
    expect(flows).toMatchObject({ matched: 2, matchedBy: "start", identical: 1, identicalInEveryField: 0 })
    const same = await rdmakit(["compare", "flows.csv", "flows.csv", "--json"], { cwd })
    expect(JSON.parse(same.out).flows).toMatchObject({ matchedBy: "ports", identicalInEveryField: 2 })
  })

  test("flows that have not finished, and priorities", async () => {
    const further = never.replace("waiting, still", "waiting for PSN 9")
    const cwd = folderOf({
      ...{ "a/flows.csv": header + one + never, "b/flows.csv": header + one + never.replace("waiting, still", "-") },
      ...{ "c/flows.csv": header + one + never + further, "d/flows.csv": header + one.replace(",3,", ",4,") + never },
    })
    const same = await rdmakit(["compare", "a", "a/flows.csv"], { cwd })
    expect([same.code, same.out]).toEqual([
      0,
      expect.stringContaining("unfinished: 1 flow in A, 1 in B, and they came as far\n"),
    ])
    const other = await rdmakit(["compare", "a", "b"], { cwd })
    const words = "host 1 port 10000 to host 2 port 100, 1,000 bytes: waiting, still\n"
    expect([other.code, other.out]).toEqual([
      1,
      expect.stringContaining(`unfinished like this only in A: 1 flow\n  ${words}`),
    ])
    const more = await rdmakit(["compare", "c", "a", "--json"], { cwd })
    expect(more.code).toBe(1)
    expect(JSON.parse(more.out).unfinished).toEqual({ a: 2, b: 1, onlyInA: 1, onlyInB: 0 })
    const priority = await rdmakit(["compare", "a", "d"], { cwd })
    expect([priority.code, priority.out]).toEqual([1, expect.stringContaining("1 flow of another priority\n")])
  })

  test("under two transports: ideal times differ, which is said", async () => {
    const summaryOf = (transport: string) => JSON.stringify({ transport, files: { flows: "flows.csv" } })
    const cwd = folderOf({
      ...{ "a/flows.csv": header + one, "a/summary.json": summaryOf("rc") },
      ...{ "b/flows.csv": header + two, "b/summary.json": summaryOf("srd") },
      ...{ "c/flows.csv": header + one, "c/summary.json": "{" },
      "a/other_fct.csv": header + one,
    })
    const said = "A is rc, B srd: their headers differ, and so do the ideal times that slowdowns are against\n"
    expect((await rdmakit(["compare", "a", "b"], { cwd })).out).toContain(said)
    expect((await rdmakit(["compare", "a", "a"], { cwd })).out).not.toContain("ideal times")
    const { out } = await rdmakit(["compare", "a", "b", "--json"], { cwd })
    expect(JSON.parse(out).transports).toEqual({ a: "rc", b: "srd" })
    // A summary that cannot be read, and one of another file.
    const unsaid = await rdmakit(["compare", "c", "a/other_fct.csv", "--json"], { cwd })
    expect(JSON.parse(unsaid.out).transports).toEqual({ a: null, b: null })
  })

  test("what is no table of flows, and one that was cut off", async () => {
    const cwd = folderOf({
      "a/flows.csv": header + one,
      "cut/flows.csv": header + one + two.slice(0, 30),
      "odd/flows.csv": header + one.replace("2000500", "soon"),
      // Columns that another program has put in another order.
      "moved/flows.csv":
        "flow,source,destination,state,source_port,destination_port,size_bytes,start_ps,completion_ps,ideal_ps\n0,1,2,finished,10\n",
    })
    const moved = await rdmakit(["compare", "a", "moved"], { cwd })
    expect([moved.code, moved.err]).toEqual([
      2,
      expect.stringContaining("moved/flows.csv:2:1: destination_port: found"),
    ])
    const cut = await rdmakit(["compare", "a", "cut"], { cwd })
    expect([cut.code, cut.err]).toEqual([2, expect.stringContaining("cut/flows.csv:3:1: state: found nothing")])
    const odd = await rdmakit(["compare", "a", "odd"], { cwd })
    expect([odd.code, odd.err]).toEqual([
      2,
      expect.stringContaining('odd/flows.csv:2:1: completion_ps: found "soon", expected a number'),
    ])
  })
})

describe("compare refuses, with exit code 2", () => {
  test.each<readonly [string, string, string]>([
    ["tiny/hpcc.tr", "tiny/hpcc.fct.txt", "have nothing in common: a trace against completion times"],
    [
      "tiny",
      "tiny",
      "error: tiny: found 3 files of completion times, expected one\nname the one that is meant: tiny/dcqcn",
    ],
    ["fat320-fbhdp", "tiny", "fat320-fbhdp: found neither completion times nor a trace"],
    ["-", "-", "error: both sides are standard input\n"],
    ["fat320-fbhdp/hpcc.fct.txt.gz", "tiny/hpcc.fct.txt", "expected one that is not\ngunzip -c fat320-fbhdp"],
    ["pfcdemo/timely.pfc.txt", "tiny/hpcc.fct.txt", "have nothing in common: PFC events against completion times"],
    ["nowhere.txt", "tiny", 'error: nowhere.txt: result: found "nowhere.txt", expected a file; it does not exist'],
    ["tiny/flow.txt", "tiny/hpcc.fct.txt", "error: tiny/flow.txt:2:"],
  ])("%s %s", async (a, b, message) => {
    const { code, out, err } = await rdmakit(["compare", a, b])
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
  })

  test("what has no result in it, whatever it is", async () => {
    const header =
      "flow,source,destination,priority,source_port,destination_port,size_bytes,start_ps,completion_ps,ideal_ps,slowdown,state,reason\n"
    const cwd = folderOf({
      "empty.txt": "",
      "blank.txt": "\n",
      "flows.csv": header,
      "r/fct.txt": "",
      "r/pfc.txt": "",
      "pfc.txt": "",
      "a.tr": octetsOf("tiny/hpcc.tr").subarray(0, TRACE_HEADER_OCTETS),
      "one.txt": `${lines[0]}\n`,
    })
    const hint = "they are empty: nothing had happened, or they are no results of a run\n"
    for (const [a, b] of [
      ["empty.txt", "empty.txt"],
      ["empty.txt", "blank.txt"],
      ["flows.csv", "flows.csv"],
      ["flows.csv", "empty.txt"],
      ["r", "r"],
    ] as const) {
      const { code, out, err } = await rdmakit(["compare", a, b], { cwd })
      expect({ code, out }).toEqual({ code: 2, out: "" })
      const name = a === "r" ? "r/fct.txt" : a
      const other = b === "r" ? "r/fct.txt" : b
      expect(err).toBe(`error: ${name} and ${other}: found no flow in either, expected results\n${hint}`)
    }
    // Flows of one side alone are a difference, and a run without pauses is like another.
    expect((await rdmakit(["compare", "empty.txt", "one.txt"], { cwd })).code).toBe(1)
    expect((await rdmakit(["compare", "pfc.txt", "pfc.txt"], { cwd })).code).toBe(0)
    const trace = await rdmakit(["compare", "a.tr", "a.tr", "--json"], { cwd })
    const message = "a.tr and a.tr: found no event in either, expected results"
    expect([trace.code, JSON.parse(trace.out).faults[0].message]).toEqual([2, message])
  })

  test("with --json as an object, too", async () => {
    const { code, out } = await rdmakit(["compare", "tiny/flow.txt", "tiny/hpcc.fct.txt", "--json"])
    expect(code).toBe(2)
    expect(JSON.parse(out)).toMatchObject({ ok: false, faults: [{ file: "tiny/flow.txt", line: 2 }] })
  })
})

describe("a file of completion times that was cut off", () => {
  const whole = lines.join("\n")
  test("in the middle of its last number is refused with its line", async () => {
    const folder = folderOf({ "fct.txt": whole.slice(0, -2) })
    const { code, out, err } = await rdmakit(["compare", "incast16/hpcc.fct.txt", `${folder}/fct.txt`])
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(`${folder}/fct.txt:16:`)
    expect(err).toContain("expected a line that ends with a line feed; the file may have been cut off")
  })

  test("after its last number is too: nothing tells that from the other", async () => {
    expect((await rdmakit(["compare", "incast16/hpcc.fct.txt", "-"], { stdin: whole })).code).toBe(2)
    expect((await rdmakit(["compare", "incast16/hpcc.fct.txt", "-"], { stdin: `${whole}\n` })).code).toBe(0)
    expect((await rdmakit(["compare", "incast16/hpcc.fct.txt", "-"], { stdin: `${whole}\n \t` })).code).toBe(0)
  })
})
