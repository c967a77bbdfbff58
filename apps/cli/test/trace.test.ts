import { describe, expect, test } from "vitest"
import { octetsOf, rdmakit, textOf } from "./rdmakit.ts"

describe("trace", () => {
  test.each(["hpcc", "timely", "dcqcn"])("prints %s as trace_reader does", async (name) => {
    const { code, out, err } = await rdmakit(["trace", `tiny/${name}.tr`])
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out.split("\n").length).toBe(56)
    if (name !== "dcqcn") expect(out).toBe(textOf(`tiny/${name}.tr.txt`))
  })

  test("filters, and reads standard input", async () => {
    const filter = "time>2000004000&ack.sport=100"
    const { code, out } = await rdmakit(["trace", "-", filter], { stdin: octetsOf("tiny/hpcc.tr") })
    expect(code).toBe(0)
    const expected = textOf("tiny/hpcc.tr.txt")
      .split("\n")
      .filter((line) => {
        return Number(line.split(" ")[0]) > 2000004000 && line.includes(" 100 10000 A ")
      })
    expect(out.trimEnd().split("\n")).toEqual(expected)
    expect(expected.length).toBeGreaterThan(2)
  })

  test("--json prints an object a line", async () => {
    const { code, out } = await rdmakit(["trace", "tiny/hpcc.tr", "--json"])
    expect(code).toBe(0)
    const records = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(records.length).toBe(55)
    expect(records[0]).toEqual({
      ...{ time: 2000000000, node: 0, nodeType: "host", intf: 1, qidx: 3, qlen: 0, event: "Dequ", ecn: 0 },
      ...{ sip: "0x0b000001", dip: "0x0b000101", size: 1090, protocol: "data", sport: 10000, dport: 100 },
      ...{ seq: 0, ts: 0, pg: 3, payload: 1000 },
    })
    expect(records.at(-1)).toMatchObject({ event: "Recv", protocol: "ack", seq: 5000, flags: 0, pg: 3, size: 88 })
  })

  test("stops when the reader leaves", async () => {
    const header = octetsOf("tiny/hpcc.tr").subarray(0, 52)
    const record = octetsOf("tiny/hpcc.tr").subarray(52, 52 + 56)
    const stdin = new Uint8Array(52 + 56 * 50_000)
    stdin.set(header)
    for (let at = 52; at < stdin.length; at += 56) stdin.set(record, at)
    const { code, out, err } = await rdmakit(["trace", "-"], { stdin, readerLeavesAfter: 1 })
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out.split("\n").length).toBeLessThan(3000)
  })
})

describe("trace refuses, with exit code 2", () => {
  test("a wrong filter, with a caret below it", async () => {
    expect(await rdmakit(["trace", "tiny/hpcc.tr", "node=2&evnt=3"])).toEqual({
      code: 2,
      out: "",
      err: `error: filter:1:8: field: found "evnt", expected one of time node nodeType intf qidx qlen sip dip size l3Prot event ecn data.sport data.dport data.seq ack.sport ack.dport ack.flags qp.sport qp.dport flow biflow rflow queue; did you mean event?
  1 | node=2&evnt=3
             ^
`,
    })
  })

  test.each<readonly [string, string, string]>([
    ["no.tr", "", 'error: no.tr: trace: found "no.tr", expected a file; it does not exist\n'],
    ["tiny", "", 'error: tiny: trace: found "tiny", expected a file that can be read; it is a folder\n'],
    ["tiny/flow.txt", "", "error: tiny/flow.txt@"],
    ["-", "", "error: standard input@0: header: found nothing, expected 4 octets; the file was cut off\n"],
  ])("%s", async (file, out, message) => {
    const outcome = await rdmakit(["trace", file])
    expect(outcome.code).toBe(2)
    expect(outcome.out).toBe(out)
    expect(outcome.err).toContain(message)
  })

  test("a trace that was cut off, after what could be read", async () => {
    const stdin = octetsOf("tiny/hpcc.tr").subarray(0, 52 + 56 * 2 + 10)
    const { code, out, err } = await rdmakit(["trace", "-"], { stdin })
    expect(code).toBe(2)
    expect(out).toBe(`${textOf("tiny/hpcc.tr.txt").split("\n").slice(0, 2).join("\n")}\n`)
    expect(err).toContain('standard input@164: record 2: found "10 octets", expected 56 octets; the file was cut off')
  })
})
