import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { describe, expect, it, test } from "vitest"
import { folderOf, rdmakit } from "./rdmakit.ts"

const captures = fileURLToPath(new URL("../../../testdata/captures/", import.meta.url))
const octetsOf = (name: string): Uint8Array =>
  new Uint8Array(gunzipSync(readFileSync(join(captures, `${name}.pcap.gz`))))
const run = (args: ReadonlyArray<string>, setting = {}) => rdmakit(["pcap", ...args], { cwd: captures, ...setting })

describe("flows", () => {
  it("prints a line for each direction, and connections", async () => {
    const { code, out } = await run(["flows", "cm_rping_v4.pcap.gz"])
    expect(code).toBe(0)
    const lines = out.trimEnd().split("\n")
    expect(lines.length).toBe(6)
    expect(lines[1]).toMatch(/^10\.0\.0\.1 0x29 {2}10\.0\.0\.2 0x28 {2}RC +18 +288 B .* 6 +\d+ us/)
    expect(lines[5]).toBe(
      "frame 1  10.0.0.1 → 10.0.0.2 0x1061c06, queue pairs 0x29 and 0x28: set up in 139 ms, disconnected",
    )
  })

  it("pairs queue pairs of one number on both hosts, and chooses by it", async () => {
    const { out } = await run(["flows", "srq_send_v4.pcap.gz", "--json", "--qp", "0x1a"])
    const { flows } = JSON.parse(out)
    expect(flows).toMatchObject([
      { source: "10.0.0.1", qp: 0x1a, sourceQp: 0x1a, messages: 7, acks: 7, gaps: 0 },
      { source: "10.0.0.2", qp: 0x1a, sourceQp: 0x1a, messages: 7, acks: 7, gaps: 0 },
    ])
  })

  it("matches READs and atomics with their answers", async () => {
    const flowOf = async (name: string) => JSON.parse((await run(["flows", `${name}.pcap.gz`, "--json"])).out).flows
    const [read, back] = await flowOf("read_5000_v4")
    expect(read).toMatchObject({ messages: 10, messageBytes: 50_000, pathMtu: 1024, gaps: 0 })
    expect(back).toMatchObject({ readBytes: 50_000, payloadBytes: 50_000 })
    expect(read.answerP50Ns).toBeGreaterThan(100_000)
    const [atomic] = await flowOf("atomic_cas_v4")
    expect(atomic).toMatchObject({ messages: 10, messageBytes: 80, gaps: 0 })
    expect(atomic.answerP50Ns).toBeGreaterThan(100_000)
  })

  it("--csv has a header and the same figures", async () => {
    const csv = (await run(["flows", "lossy_rc_send_v4.pcap.gz", "--csv"])).out.trimEnd().split("\n")
    const names = csv[0]!.split(",")
    const { flows } = JSON.parse((await run(["flows", "lossy_rc_send_v4.pcap.gz", "--json"])).out)
    expect(csv.length).toBe(1 + flows.length)
    csv.slice(1).forEach((line, index) => {
      expect(line.split(",")).toEqual(names.map((name) => String(flows[index][name] ?? "")))
    })
    expect(flows[0]).toMatchObject({ gaps: 6, repeated: 34, repeatsByNak: 6, messages: 14 })
    expect(flows[1]).toMatchObject({ sequenceNaks: 6, repeated: 8, repeatsByTimeout: 1 })
  })

  it("reads several captures as one", async () => {
    const { out } = await run(["flows", "siw_rping_v4.pcap.gz", "v_badrkey.pcap.gz", "--json"])
    const { flows } = JSON.parse(out)
    expect(flows.map(({ transport }: { transport: string }) => transport)).toEqual(["RC", "RC", "iWARP", "iWARP"])
    expect(flows[1]).toMatchObject({ fatalNaks: 1, acks: 0 })
  })

  it("reads a rotated set from one of its names, in the order of time", async () => {
    const folder = folderOf({})
    const at = { cwd: folder }
    const stdin = octetsOf("lossy_rc_send_v4")
    // The ring wrapped round: the second file is older.
    for (const [name, frames] of [
      ["ring.pcap0", "101..313"],
      ["ring.pcap1", "1..100"],
    ] as const) {
      const { code } = await run(["convert", "-", name, "--format", "pcap", "--filter", `frame=${frames}`], {
        ...at,
        stdin,
      })
      expect(code).toBe(0)
    }
    const whole = JSON.parse((await run(["flows", "lossy_rc_send_v4.pcap.gz", "--json"])).out)
    const set = JSON.parse((await run(["flows", "ring.pcap1", "--rotated", "--json"], at)).out)
    expect(set.flows).toEqual(whole.flows)
    const given = JSON.parse((await run(["flows", "ring.pcap0", "ring.pcap1", "--json"], at)).out)
    expect(given.flows).toEqual(whole.flows)
  })
})

describe("diagnose", () => {
  test.each([
    ["v_rnr", "receiver not ready: 18 RNR NAKs"],
    ["v_badrkey", "remote access error"],
    ["v_psnwrap", "PSN wraps"],
    ["lossy_rc_send_v4", "packets lost before this point"],
    ["dup_reorder_rc_v4", "packets twice, identical"],
    ["dup_reorder_rc_v4", "packets overtaken by later ones"],
  ])("%s: %s", async (name, text) => {
    const { code, out } = await run(["diagnose", `${name}.pcap.gz`])
    expect(code).toBe(0)
    expect(out).toContain(text)
    expect(out).toMatch(/\n {2}(?:certain|likely) {2,4}\w/)
    expect(out).toMatch(/\n {2}frames? \d/)
  })

  it("of a clean capture: nothing", async () => {
    expect(await run(["diagnose", "rc_send_8192_v4.pcap.gz"])).toEqual({
      code: 0,
      out: "rc_send_8192_v4.pcap.gz  122 packets: nothing is wrong\n",
      err: "",
    })
    const { out } = await run(["diagnose", "-", "--json"], { stdin: octetsOf("write_3000_v4") })
    expect(JSON.parse(out)).toEqual({ file: "standard input", ok: true, packets: 80, findings: [], notes: [] })
  })

  it("of TCP alone: nothing that it could judge", async () => {
    const scenario = [
      "topology: { builder: star, hosts: 2, link: { rate: 100Gbps, delay: 1us } }",
      "flows: [{ from: 0, to: 1, size: 10kB }]",
      "transport: { name: tcp }",
    ]
    const folder = folderOf({ "tcp.yaml": scenario.join("\n") })
    expect((await rdmakit(["run", "tcp.yaml", "--pcap", "1"], { cwd: folder })).code).toBe(0)
    const { out } = await run(["diagnose", "tcp.results/port-1-1.pcap"], { cwd: folder })
    expect(out).toMatch(/: nothing to judge\n\nnote: no packet of RoCE, InfiniBand or iWARP in the capture\n$/)
  })

  it("of what was cut and of part of it", async () => {
    const folder = folderOf({})
    await run(["convert", "-", "cut.pcapng", "--snap", "128"], { cwd: folder, stdin: octetsOf("v_rnr") })
    const { out } = await run(["diagnose", "cut.pcapng"], { cwd: folder })
    expect(out).toContain("receiver not ready: 18 RNR NAKs")
    expect(out).toContain("cut short by the capture")
    const other = await run(["diagnose", "v_rnr.pcap.gz", "--json", "--qp", "0x99"])
    expect(JSON.parse(other.out).findings).toEqual([])
  })
})

describe("rates", () => {
  it("counts in intervals, and names who sends most", async () => {
    const { out } = await run(["rates", "lossy_rc_send_v4.pcap.gz", "--interval", "100ms", "--json"])
    const { intervalNs, rows, talkers } = JSON.parse(out)
    expect(intervalNs).toBe(1e8)
    const sum = (field: string) => rows.reduce((total: number, row: Record<string, number>) => total + row[field]!, 0)
    expect([sum("packets"), sum("repeated"), sum("naks")]).toEqual([313, 42, 6])
    expect(talkers[0]).toMatchObject({ source: "10.0.0.1", destination: "10.0.0.2", packets: 168 })
    const csv = (await run(["rates", "lossy_rc_send_v4.pcap.gz", "--interval", "100ms", "--csv"])).out
    expect(csv.split("\n").length).toBe(rows.length + 2)
  })

  it("fits a terminal", async () => {
    const { out } = await run(["rates", "lossy_rc_send_v4.pcap.gz"], { columns: 80 })
    const lines = out.split("\n")
    expect(lines.length).toBeLessThan(32)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  })

  it("takes short intervals of a long capture, and says where they are longer than asked for", async () => {
    // Of 402 ms.
    const many = await run(["rates", "lossy_rc_send_v4.pcap.gz", "--interval", "1us"])
    expect([many.code, many.err, many.out.split("\n").length]).toEqual([0, "", 401_518])
    const { code, out, err } = await run(["rates", "lossy_rc_send_v4.pcap.gz", "--interval", "100ns", "--csv"])
    expect([code, err]).toEqual([0, "note: intervals of 800ns, not 100ns: there would be more than 1,000,000\n"])
    expect(out.split("\n")[2]).toMatch(/^800,0,/)
    const few = await run(["rates", "v_rnr.pcap.gz", "--interval", "500us", "--time", "0ms..2ms"])
    expect(few.out.split("\n")[3]).toMatch(/^0\.000500 /)
    const short = await run(["rates", "v_rnr.pcap.gz", "--interval", "500ns", "--time", "0ms..2ms"])
    expect(short.out.split("\n")[3]).toMatch(/^0\.000000500 /)
  }, 30_000)

  it("refuses an interval that is none", async () => {
    const { code, err } = await run(["rates", "v_rnr.pcap.gz", "--interval", "often"])
    expect(code).toBe(2)
    expect(err).toContain(
      '--interval: found "often", expected a time of at least 1ns, such as 10ms; "often" is no time',
    )
    const short = await run(["rates", "v_rnr.pcap.gz", "--interval", "1ps"])
    expect([short.code, short.err]).toEqual([
      2,
      expect.stringContaining('found "1ps", expected a time of at least 1ns'),
    ])
  })
})
