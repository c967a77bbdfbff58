import { describe, expect, test } from "vitest"
import { alphaShares, dcqcnBounds } from "../src/size/Sizing.ts"
import { folderOf, rdmakit, textOf } from "./rdmakit.ts"

const size = (args: string) => rdmakit(["size", ...args.split(" ")])
const json = async (args: string) => {
  const { code, out, err } = await size(`${args} --json`)
  expect({ code, err }).toEqual({ code: 0, err: "" })
  return JSON.parse(out)
}

describe("size", () => {
  test("headroom: 100 Gb/s, 1 us, frames of 1,048 B", async () => {
    // 2 * 12,500 B on the wire and two frames; then a third frame and a pause of 64 B.
    const { headroom, allHeadroomBytes, poolBytes } = await json("--rate 100Gbps --delay 1us")
    expect(headroom).toEqual({ ruleBytes: 27_096, losslessBytes: 28_208, simulatorBytes: 37_500 })
    // 32 ports, and 4,096 B of reserve each, of 32 MiB.
    expect(allHeadroomBytes).toBe(902_656)
    expect(poolBytes).toBe(33_554_432 - 902_656 - 131_072)
  })

  test("a length is 5 ns a metre; a response adds what comes in it", async () => {
    const { given, headroom } = await json("--rate 400Gbps --length 300m --mtu 4200 --response 100ns")
    expect(given.delayPs).toBe(1_500_000)
    // 3 us at 50 B/ns, two frames, 100 ns.
    expect(headroom.ruleBytes).toBe(150_000 + 8400 + 5000)
    expect((await json("--rate 100Gbps --length 2.5km")).given.delayPs).toBe(12_500_000)
  })

  test("marks: DCQCN's and DCTCP's, in proportion to the rate", async () => {
    const { dcqcn, dctcp } = await json("--rate 40Gbps --delay 1us --rtt 70us")
    expect(dcqcn.paper).toEqual({ kminBytes: 5000, kmaxBytes: 200_000, pmax: 0.01 })
    expect(dcqcn.hpcc).toEqual({ kminBytes: 160_000, kmaxBytes: 640_000, pmax: 0.2 })
    expect(dctcp.hpcc).toEqual({ kminBytes: 120_000, kmaxBytes: 120_000, pmax: 1 })
    // 70 us at 5 B/ns are 350,000 B: more than a seventh of them.
    expect(dctcp.leastBytes).toBe(50_001)
  })

  test("DCQCN's bounds are those of its paper: 12 MB, 32 ports, 8 priorities, 22.4 KB of headroom", () => {
    // Published: 24.47 KB; below one packet for a static Kmin; 21.7 KB with dynamic thresholds.
    expect(dcqcnBounds({ bufferBytes: 12e6, ports: 32, priorities: 8 }, 22_400)).toEqual({
      staticPauseBytes: 24_475,
      staticKminBytes: 764,
      dynamicKminBytes: 21_755,
    })
  })

  test("alphas: one queue has a half with 1, all ten together ten elevenths", () => {
    const one = alphaShares(110_000, 10).find(({ alpha }) => alpha === 1)
    expect(one).toEqual({ alpha: 1, aloneBytes: 55_000, eachBytes: 10_000 })
    expect(alphaShares(90_000, 1).find(({ alpha }) => alpha === 1 / 8)?.aloneBytes).toBe(10_000)
  })

  test("for people: a table, and warnings on the other side", async () => {
    const { code, out, err } = await size("--rate 100Gbps --delay 1ns")
    expect(code).toBe(0)
    expect(out).toContain("32 ports of 100Gbps, 1ns of cable, frames of 1,048 B, 1 lossless priority\n")
    expect(out).toMatch(/^port and priority +2,121 B {2}2 · delay · rate \+ 2 frames \+ response$/m)
    expect(err).toBe(
      "warning: 3 · delay · rate, the HPCC simulator's headroom, is 36 B here, not even a frame: it loses packets on cables this short\n",
    )
    const { err: early } = await size("--rate 100Gbps --delay 1us --buffer 4MiB")
    expect(early).toMatch(/Kmin of HPCC's for DCQCN, 400000 B, is not below \d+ B: with all ports congested/)
  })

  test.each([
    ["--delay 1us", "--rate"],
    ["--rate 100Gbs --delay 1us", 'did you mean "Gbps"?'],
    ["--rate 100Gbps", "expected a delay such as 1us, or --length such as 100m"],
    ["--rate 100Gbps --delay 1us --length 1m", "expected either --delay or --length"],
    ["--rate 100Gbps --length 5", "expected a length such as 100m or 2km"],
    ["--rate 100Gbps --delay 1us --mtu 10", "a size of at least 64 bytes"],
    ["--rate 100Gbps --delay 1us --ports 0", "a whole number 1..1024"],
    ["--rate 100Gbps --delay 1us --rtt 0s", "--rtt"],
    ["--rate 0Gbps --delay 1us", "--rate"],
    [
      "--rate 100Gbps --delay 1us --buffer 1MB",
      '--buffer: found "1MB", expected at least 1.034776MB; 32 ports with 1 priority keep 28208 B of headroom and 4096 B of reserve each: enlarge the buffer, use fewer lossless priorities, or shorter cables',
    ],
  ])("refuses %s", async (args, message) => {
    const { code, out, err } = await size(args)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
    expect(err).not.toMatch(/\n\s+at /)
  })

  test("every fault at once, and as JSON", async () => {
    const { code, out } = await size("--rate x --delay y --json")
    expect(code).toBe(2)
    const { ok, faults } = JSON.parse(out)
    expect(ok).toBe(false)
    expect(faults.map(({ field }: { field: string }) => field)).toEqual(["--rate", "--delay"])
  })
})

describe("a ring of switches that can deadlock", () => {
  const flows = [0, 1, 2, 3, 4].map((from) => `  - { from: ${from}, to: ${(from + 2) % 5}, size: 1MB }\n`).join("")
  const ring = `topology: { builder: ring, switches: 5, hostsPerSwitch: 1 }
flows:
${flows}controller: { name: timely }
switch: { pauseThreshold: 5KB }
`
  const cycle = "node 5 (port 2) -> node 6 (port 3) -> node 7 (port 3) -> node 8 (port 3) -> node 9 (port 3) -> node 5"

  test("lint warns of it, with the cycle; without PFC there is none", async () => {
    const cwd = folderOf({ "ring.yaml": ring })
    const { code, out } = await rdmakit(["lint", "ring.yaml"], { cwd })
    expect(code).toBe(0)
    expect(out).toContain(
      `ring.yaml:1:11: warning: the routes can deadlock: if PFC pauses priority 3 at all of these ports, each waits for the next: ${cycle}`,
    )
    const lossy = await rdmakit(["lint", "ring.yaml", "--set", "switch={lossless: false}"], { cwd })
    expect(lossy.out).not.toContain("deadlock")
  })

  test("so it does of the simulator's own files, where acknowledgements have their own priority or none", async () => {
    const config = textOf("tiny/timely.config.txt").replaceAll("tiny/", "")
    const links = [0, 1, 2, 3, 4].flatMap((i) => [`${i} ${5 + i}`, `${5 + i} ${5 + ((i + 1) % 5)}`])
    const topology = ["10 5 10", "5 6 7 8 9", ...links.map((ends) => `${ends} 100Gbps 1000ns 0`)]
    const flow = ["5", ...[0, 1, 2, 3, 4].map((i) => `${i} ${(i + 2) % 5} 3 100 1000 2`)]
    const cwd = folderOf({
      "config.txt": config,
      "topology.txt": `${topology.join("\n")}\n`,
      "flow.txt": `${flow.join("\n")}\n`,
      "trace.txt": textOf("tiny/trace.txt"),
    })
    const { code, out } = await rdmakit(["lint", "config.txt"], { cwd })
    expect(code).toBe(0)
    expect(out).toMatch(
      /^config.txt:\d+:\d+: warning: the routes can deadlock: if PFC pauses priority 3 at all of these/m,
    )
  })

  test("run warns before, says afterwards which ports wait for each other, and why each flow is unfinished", async () => {
    const cwd = folderOf({ "ring.yaml": ring })
    const { code, out, err } = await rdmakit(["run", "ring.yaml", "--no-report"], { cwd })
    expect(code).toBe(1)
    expect(err).toContain("warning: the routes can deadlock")
    expect(out).toContain(`deadlock: PFC pauses priority 3 at ports that wait for each other: ${cycle}`)
    expect(err.match(/paused by node \d \(priority 3\); waiting for PSN/g)).toHaveLength(5)
  })

  test("a watchdog gets it going again, and the summary counts what it did", async () => {
    const cwd = folderOf({ "ring.yaml": ring })
    const watchdog = "switch.watchdog={detection: 300us, restoration: 100us, action: forward}"
    const { code, out } = await rdmakit(["run", "ring.yaml", "--no-report", "--json", "--set", watchdog], { cwd })
    expect(code).toBe(0)
    const summary = JSON.parse(out)
    expect(summary.watchdog.storms).toBeGreaterThan(0)
    expect(summary.deadlock).toBeNull()
  })
})
