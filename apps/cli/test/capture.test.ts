import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type PacketRecord, readCapture } from "@rdmakit/pcap"
import { checkIcrc, placeInEthernet } from "@rdmakit/wire/roce"
import { describe, expect, test } from "vitest"
import { filesIn, folderOf, rdmakit } from "./rdmakit.ts"

const place = () => join(folderOf({}), "out")
const summaryOf = (folder: string) => JSON.parse(readFileSync(join(folder, "summary.json"), "utf8"))

const packetsOf = async (path: string): Promise<ReadonlyArray<PacketRecord>> => {
  const packets: Array<PacketRecord> = []
  for await (const record of readCapture([readFileSync(path)])) if (record.kind === "packet") packets.push(record)
  return packets
}
const isRight = ({ data }: PacketRecord): boolean => {
  const at = placeInEthernet(data)
  return at !== undefined && checkIcrc(data, at) === "right"
}

const incast = `topology: {builder: star, hosts: 5}
flows:
  - {from: 1..4, to: 0, size: 100KB}
controller: {name: hpcc, preset: simulation}
`

const pair = `topology: {builder: star, hosts: 3}
flows:
  - {from: 0, to: 2, size: 20KB}
`

describe("run --pcap", () => {
  test("writes ports of a config's network, and nothing else changes", async () => {
    const [plain, out] = [place(), place()]
    await rdmakit(["run", "tiny/hpcc.config.txt", "--out", plain, "--no-report"])
    const run = await rdmakit(["run", "tiny/hpcc.config.txt", "--out", out, "--no-report", "--pcap", "0,2:2,2-1"])
    expect(run.code).toBe(0)
    // 2:2 and 2-1 are one port.
    expect(filesIn(out).filter((name) => name.endsWith(".pcap"))).toEqual(["port-0-1.pcap", "port-2-2.pcap"])
    const [first, second] = [await packetsOf(join(out, "port-0-1.pcap")), await packetsOf(join(out, "port-2-2.pcap"))]
    expect(first.length).toBe(10)
    expect(run.out).toContain(`${first.length + second.length} frames written as octets\n`)
    expect([...first, ...second].every(isRight)).toBe(true)
    // The flow starts at 2 s.
    expect(String(first[0]!.timeNs)).toMatch(/^2000000\d{3}$/)
    expect(summaryOf(out).digest).toBe(summaryOf(plain).digest)
    expect(summaryOf(out).files).toMatchObject({ "pcap 0:1": "port-0-1.pcap", "pcap 2:2": "port-2-2.pcap" })
    for (const name of filesIn(plain).filter((each) => each !== "summary.json")) {
      expect(readFileSync(join(out, name)).equals(readFileSync(join(plain, name))), name).toBe(true)
    }
  })

  test("writes a scenario's, the same from either kernel, into one pcapng", async () => {
    const cwd = folderOf({ "incast.yaml": incast })
    const written = async (kernel: string) => {
      const out = place()
      const more = ["--kernel", kernel, "--no-report", "--pcap", "0", "--pcap", "5:1, 5-2", "--pcap-format", "pcapng"]
      const run = await rdmakit(["run", "incast.yaml", "--out", out, ...more], { cwd })
      expect(run.code).toBe(0)
      expect(summaryOf(out).files).toMatchObject({ pcapng: "ports.pcapng" })
      return join(out, "ports.pcapng")
    }
    const [fused, exact] = [await written("fused"), await written("exact")]
    expect(readFileSync(fused).equals(readFileSync(exact))).toBe(true)
    const packets = await packetsOf(fused)
    expect(packets.every(isRight)).toBe(true)
    // 400 packets and as many acknowledgements at both ends of one link, 100 of each at the other.
    expect(packets.length).toBe(2 * 800 + 200)
    expect(new Set(packets.map((packet) => packet.interface.id))).toEqual(new Set([0, 1, 2]))
  })

  test("writes telemetry where it is asked for", async () => {
    const cwd = folderOf({ "incast.yaml": incast })
    const sizes = async (...more: ReadonlyArray<string>) => {
      const out = place()
      await rdmakit(["run", "incast.yaml", "--out", out, "--no-report", "--pcap", "0", ...more], { cwd })
      return (await packetsOf(join(out, "port-0-1.pcap"))).map(({ data }) => data.length)
    }
    const plain = await sizes()
    expect(await sizes("--pcap-int", "hpcc")).toEqual(plain.map((bytes) => bytes + 10))
    expect(await sizes("--pcap-int", "ns3")).toEqual(plain.map((bytes) => bytes + 42))
  })

  test("writes TCP's segments where the transport is TCP", async () => {
    const cwd = folderOf({ "tcp.yaml": `${pair}transport: {name: tcp}\n` })
    const out = place()
    const run = await rdmakit(["run", "tcp.yaml", "--out", out, "--no-report", "--pcap", "2:1"], { cwd })
    expect(run.code).toBe(0)
    const shown = await rdmakit(["pcap", "show", join(out, "port-2-1.pcap")])
    expect(shown.out).toMatch(/11\.0\.0\.1 → 11\.0\.2\.1 +TCP .*sequence 1449 1448 octets/)
    expect(shown.out).not.toContain("SEND")
  })

  test.each([
    ["srd", [], "--pcap: flows of srd have no octets, only sizes: those of rc, tcp, iwarp and erdma can be written"],
    [
      "erdma",
      ["--pcap-int", "ns3"],
      '--pcap-int: the layout "ns3" is of RoCEv2, and packets of erdma/vxlan are TCP\'s',
    ],
  ])("refuses what %s cannot be, before the run, and writes nothing", async (name, more, message) => {
    const cwd = folderOf({ "s.yaml": `${pair}transport: {name: ${name}}\n` })
    const out = place()
    const run = await rdmakit(["run", "s.yaml", "--out", out, "--pcap", "0", ...more], { cwd })
    expect([run.code, run.out, existsSync(out)]).toEqual([2, "", false])
    expect(run.err).toContain(`error: ${message}`)
  })

  test.each([
    [
      ["--pcap", "2:7"],
      'error: --pcap: found "2:7", expected a port 1..2 of switch 2\nswitch 2 has 2:1 to host 0, 2:2 to host 1\n',
    ],
    [["--pcap", "0,9"], `error: --pcap: found "9", expected a node 0..2\n'rdmakit lint FILE --ports' lists all\n`],
    [["--pcap", "0,"], 'error: --pcap: found "", expected NODE:PORT (16:2), NODE-NEIGHBOUR (16-1)'],
    [
      ["--pcap", "0", "--set", "FCT_OUTPUT_FILE=mix/port-0-1.pcap"],
      "two outputs would be named port-0-1.pcap\ngive the config's output another name with --set\n",
    ],
    [
      ["--pcap-format", "pcapng"],
      "error: --pcap-format: found no --pcap beside it, expected the ports that are written\n",
    ],
  ])("refuses %j, and writes nothing", async (flags, message) => {
    const out = place()
    const run = await rdmakit(["run", "tiny/hpcc.config.txt", "--out", out, ...flags])
    expect([run.code, existsSync(out)]).toEqual([2, false])
    expect(run.err).toContain(message)
  })
})

test("lint --ports lists every port", async () => {
  const lines = (await rdmakit(["lint", "tiny/hpcc.config.txt", "--ports"])).out.split("\n")
  const ports = lines.filter((line) => /^\d+:\d+ /.test(line))
  expect(ports).toEqual([
    "0:1  host 0, port 1, to switch 2, 100Gbps",
    "1:1  host 1, port 1, to switch 2, 100Gbps",
    "2:1  switch 2, port 1, to host 0, 100Gbps",
    "2:2  switch 2, port 2, to host 1, 100Gbps",
  ])
  const { ports: listed } = JSON.parse((await rdmakit(["lint", "tiny/hpcc.config.txt", "--ports", "--json"])).out)
  expect(listed[3]).toEqual({ port: "2:2", words: "switch 2, port 2, to host 1", rateBps: 100e9 })
})
