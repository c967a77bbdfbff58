import { createSocket } from "node:dgram"
import { once } from "node:events"
import { describe, expect, test } from "vitest"
import { folderOf, rdmakit, shell, shellCommand } from "./rdmakit.ts"

const run = (line: string, setting: Parameters<typeof rdmakit>[1] = {}) => rdmakit(line.split(" "), setting)
const json = async (line: string) => {
  const { code, out, err } = await run(`${line} --json`)
  expect({ code, err }).toEqual({ code: 0, err: "" })
  return JSON.parse(out)
}

describe("perf in a simulated network", { timeout: 30_000 }, () => {
  test("prints what perftest prints", async () => {
    const { code, out, err } = await run("perf write-bw -n 200")
    expect({ code, err }).toEqual({ code: 0, err: "" })
    const lines = out.split("\n")
    expect(lines[1]).toBe("                    RDMA_Write BW Test")
    expect(lines).toContain(" Connection type : RC\t\tUsing SRQ      : OFF")
    expect(lines).toContain(" CQ Moderation   : 1")
    expect(lines.find((line) => line.startsWith(" local address:"))).toMatch(
      /^ local address: LID 0000 QPN 0x[0-9a-f]{6} PSN 0x[0-9a-f]{4,6} RKey 0x[0-9a-f]{6} VAddr 0x[0-9a-f]{14}$/,
    )
    expect(lines).toContain(" GID: 00:00:00:00:00:00:00:00:00:00:255:255:11:00:01:01")
    const header = lines.indexOf(" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]")
    expect(lines[header + 1]).toBe(" 65536      200              11636.86            11636.86\t\t   0.186190")
    expect(lines[header + 2]).toBe("-".repeat(87))
  })

  // All sizes, with their messages, would take minutes.
  test("each size is shown when it is done, and nothing is measured for a reader who has gone", async () => {
    const { code, out, err } = await run("perf write-bw --all", { readerLeavesAfter: 25 })
    expect({ code, err }).toEqual({ code: 0, err: "" })
    const lines = out.split("\n")
    const header = lines.findIndex((line) => line.startsWith(" #bytes"))
    const sizes = lines.slice(header + 1, -1).map((line) => Number(line.trim().split(/\s+/)[0]))
    expect(sizes.length).toBeGreaterThan(2)
    expect(sizes).toEqual(sizes.map((_, index) => 2 ** (index + 1)))
  })

  test.each(["", " --on softnic"])("piped into head it ends soon%s", async (where) => {
    const { code, out } = await shell(`rdmakit perf write-bw --all${where} | head -1`)
    expect({ code, out }).toEqual({ code: 0, out: `${"-".repeat(87)}\n` })
  })

  test("latencies have their own columns", async () => {
    const { out } = await run("perf send-lat -c ud -s 8 -n 20")
    const lines = out.split("\n")
    const header = lines.findIndex((line) =>
      line.startsWith(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical"),
    )
    expect(lines[header + 1]).toBe(
      " 8       20          2.02           2.02         2.02     \t       2.02        \t0.00   \t\t2.02    \t\t2.02   ",
    )
  })

  test("the network is as it is asked to be", async () => {
    const slow = await json("perf read-lat -s 8 -n 20 --rate 10Gbps --delay 500ns")
    // 98 and 94 octets on the wire, each over two links.
    expect(slow.results[0].typicalUs).toBeCloseTo(2 + 2 * 0.8e-3 * (98 + 94), 9)
    expect(slow).toMatchObject({ ok: true, test: "read-lat", on: "fabric", role: "client", connection: "rc" })
  })

  test("any two hosts of a topology", async () => {
    const folder = folderOf({})
    expect(
      (await run("generate topology leaf-spine --leaves 2 --spines 2 --hosts-per-leaf 2 --out t.txt", { cwd: folder }))
        .code,
    ).toBe(0)
    const { out } = await run("perf read-lat -n 20 --topology t.txt --hosts 0,3 --json", { cwd: folder })
    // Four links of a microsecond, there and back.
    expect(JSON.parse(out).results[0].typicalUs).toBeGreaterThan(8)
    const near = JSON.parse((await run("perf read-lat -n 20 --topology t.txt --hosts 0,1 --json", { cwd: folder })).out)
    expect(near.results[0].typicalUs).toBeLessThan(5)
  })

  test.each([
    ["1bps", "1bps"],
    ["999bps", "999bps"],
    ["1e-9", "0.000000001bps"],
    ["0", "0bps"],
  ])("a rate of %s is refused", async (rate, found) => {
    const { code, out, err } = await run(`perf write-bw --rate ${rate}`)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toBe(`error: --rate: found ${found}, expected a rate of at least 1kbps\n`)
  })

  test("so is one in a topology", async () => {
    const cwd = folderOf({ "t.txt": "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 2bps 1us 0\n" })
    const { code, err } = await run("perf write-bw --topology t.txt", { cwd })
    expect([code, err]).toEqual([2, "error: t.txt:4: rate: found 2bps, expected a rate of at least 1kbps\n"])
  })

  // Past the exact range the event queue itself would come to no end.
  test("what lasts longer than times are exact is ended", async () => {
    const { code, err } = await run("perf write-bw --rate 1kbps")
    expect([code, err]).toEqual([
      2,
      "error: it had not ended after 9000s of simulated time, beyond which times are not exact\nchoose a higher rate, or fewer or smaller messages\n",
    ])
  })

  test("Ctrl-C ends a long one at once", async () => {
    const line = `${shellCommand} perf write-bw -n 100000000 & child=$!; sleep 2; kill -INT $child; SECONDS=0; wait $child; echo "code $? $((SECONDS < 3))"`
    expect((await shell(line)).out).toMatch(/code 130 1\n$/)
  })

  test("with faults it ends all the same, and the same seed gives the same digest", async () => {
    const line = "perf send-bw -n 100 --faults loss=2%,dup=2%,reorder=5% --seed"
    const first = await json(`${line} 3`)
    expect(await json(`${line} 3`)).toEqual(first)
    expect((await json(`${line} 4`)).digest).not.toBe(first.digest)
  })

  test("a capture changes nothing, and every checksum in it is right", async () => {
    const folder = folderOf({})
    const line = "perf send-bw -n 20 -s 5000 --json"
    const plain = JSON.parse((await run(line)).out)
    const captured = await run(`${line} --pcap perf.pcapng`, { cwd: folder })
    expect(JSON.parse(captured.out)).toEqual(plain)
    const verified = await run("pcap verify perf.pcapng --json", { cwd: folder })
    expect(verified.code).toBe(0)
    const { packets, icrcOk, icrcBad } = JSON.parse(verified.out)
    // Two packets a message and what acknowledges them, at either host.
    expect(packets).toBeGreaterThan(2 * 40)
    expect([icrcOk, icrcBad]).toEqual([packets, []])
  })
})

describe("pingpong, rping and devinfo in a simulated network", { timeout: 30_000 }, () => {
  test("pingpong prints what ibv_rc_pingpong prints", async () => {
    const { code, out } = await run("pingpong rc -c -n 100")
    expect(code).toBe(0)
    const [local, remote, bytes, each] = out.split("\n")
    expect(local).toMatch(
      /^ {2}local address: {2}LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID ::ffff:11\.0\.0\.1$/,
    )
    expect(remote).toMatch(
      /^ {2}remote address: LID 0x0000, QPN 0x[0-9a-f]{6}, PSN 0x[0-9a-f]{6}, GID ::ffff:11\.0\.1\.1$/,
    )
    expect(bytes).toMatch(/^819200 bytes in 0\.00 seconds = [\d.]+ Mbit\/sec$/)
    expect(each).toMatch(/^100 iters in 0\.00 seconds = 4\.\d\d usec\/iter$/)
  })

  test.each(["uc", "ud", "srq"])("pingpong %s", async (type) => {
    const { checked, iterations, bytes } = await json(`pingpong ${type} -c -n 100`)
    expect({ checked, iterations }).toEqual({ checked: true, iterations: 100 })
    expect(bytes).toBe(200 * (type === "ud" ? 2048 : 4096))
  })

  test("rping", async () => {
    const { code, out } = await run("rping -C 2 -V -v")
    expect(code).toBe(0)
    expect(out).toContain("server ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr\n")
    expect(out).toMatch(/^2 rounds of 64 bytes with 11\.0\.1\.1 port 7174, [\d.]+ usec each, all octets right$/m)
    expect(await json("rping -S 4096")).toMatchObject({ rounds: 10, bytes: 4096, peer: "11.0.1.1 port 7174" })
  })

  test("a server that is slow, and a hole that swallows everything", async () => {
    const { results } = await json("perf write-bw -n 100 -s 65536 --faults slow=10Gbps")
    // 1,250 MB/s with 82 octets of headers a packet, and 16 more in the first of 16; perftest's MB are MiB.
    const most = (1250e6 * 65_536) / (65_536 + 16 * 82 + 16) / 2 ** 20
    expect(results[0].averageMBps).toBeLessThan(most)
    expect(results[0].averageMBps).toBeGreaterThan(0.99 * most)
    const { code, err } = await run("perf write-bw -n 5 --faults hole=100%")
    expect(code).toBe(1)
    expect(err).toMatch(/RETRY_EXC_ERR/)
  })

  test("devinfo", async () => {
    const { out } = await run("devinfo -v")
    expect(out.match(/^hca_id:\t\w+$/gm)).toEqual(["hca_id:\trdmakit0", "hca_id:\trdmakit1"])
    expect(out).toContain("\t\t\tactive_speed:\t\t25.0 Gbps (32)\n")
    expect(out).toContain("\t\t\tGID[  1]:\t\t::ffff:11.0.1.1, RoCE v2\n")
    const { devices } = await json("devinfo")
    expect(devices[0].port.gids[1]).toEqual({ index: 1, gid: "::ffff:11.0.0.1", type: "rocev2" })
    expect((await json("devinfo --address 127.0.0.1")).devices.length).toBe(1)
  })
})

describe("real packets", () => {
  test("two processes over UDP", async () => {
    const { code, out, err } = await shell(
      "rdmakit perf write-lat --on softnic --poll -n 20 --json && rdmakit rping --on softnic -C 3 -V",
    )
    expect({ code, err }).toEqual({ code: 0, err: "" })
    const [first, second] = out.split("\n")
    expect(JSON.parse(first!)).toMatchObject({ ok: true, on: "softnic", role: "client", test: "write-lat" })
    expect(second).toMatch(/^3 rounds of 64 bytes with 10\.255\.0\.2 port \d+, [\d.]+ usec each, all octets right$/)
  }, 60_000)

  test("two processes over iWARP, connected by MPA, and by numbers alone", async () => {
    const { code, out, err } = await shell(
      "rdmakit rping --on iwarp -C 3 -V && rdmakit pingpong rc --on iwarp -n 20 -c --json",
    )
    expect({ code, err }).toEqual({ code: 0, err: "" })
    const [first, second] = out.split("\n")
    expect(first).toMatch(/^3 rounds of 64 bytes with 10\.255\.0\.2 port \d+, [\d.]+ usec each, all octets right$/)
    expect(JSON.parse(second!)).toMatchObject({ ok: true, on: "iwarp", role: "client", type: "rc", checked: true })
  }, 60_000)

  test("perf over iWARP says so, as perftest does", async () => {
    const { code, out } = await shell("rdmakit perf write-lat --on iwarp -n 5")
    expect(code).toBe(0)
    expect(out).toContain("\n Number of qps   : 1\t\tTransport type : IW\n")
  }, 60_000)

  test("a server and its client over iWARP", async () => {
    const folder = folderOf({})
    const place = (mine: number, other: number) =>
      `--on iwarp --address 10.9.0.${mine} --bind 127.0.0.1:4863${mine} --at 10.9.0.${other}=127.0.0.1:4863${other}`
    const server = `rdmakit rping --listen --port 48635 ${place(1, 2)} --json > server.json`
    const client = `sleep 3; rdmakit rping 10.9.0.1 --port 48635 -C 5 -V ${place(2, 1)} --json`
    const { code, out } = await shell(`${server} & ${client} && wait && cat server.json`, {}, folder)
    expect(code).toBe(0)
    const [mine, theirs] = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(mine).toMatchObject({ ok: true, on: "iwarp", role: "client", rounds: 5, validated: true })
    expect(theirs).toMatchObject({ ok: true, on: "iwarp", role: "server", rounds: 5 })
  }, 60_000)

  test("a server and its client, with faults and a capture of either", async () => {
    const folder = folderOf({})
    const socket = (mine: number, other: number) =>
      `--address 10.9.0.${mine} --bind 127.0.0.1:4861${mine} --at 10.9.0.${other}=127.0.0.1:4861${other}`
    const server = `rdmakit pingpong rc --listen --port 48615 -c -n 50 ${socket(1, 2)} --json > server.json`
    const client = `rdmakit pingpong rc 127.0.0.1 --port 48615 -c -n 50 ${socket(2, 1)} --faults loss=1% --pcap c.pcapng --json`
    const { code, out } = await shell(
      `${server} & ${client} && wait && rdmakit pcap verify c.pcapng --json && cat server.json`,
      {},
      folder,
    )
    expect(code).toBe(0)
    const [mine, verified, theirs] = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(mine).toMatchObject({ role: "client", checked: true, bytes: 409_600 })
    expect(theirs).toMatchObject({ role: "server", checked: true })
    expect(verified.icrcBad).toEqual([])
    expect(verified.icrcOk).toBeGreaterThan(200)
  }, 60_000)

  test("an address that is silent is told of while it is asked", async () => {
    const place = "--address 10.9.0.2 --bind 127.0.0.1:48662 --at 10.9.0.1=127.0.0.1:48661"
    const { out, err } = await shell(`timeout 12 ${shellCommand} rping 10.9.0.1 ${place}`)
    expect(out).toBe("")
    expect(err).toContain("10.9.0.1 port 7174 has not answered for 2 s; it is asked until 103 s are over\n")
  }, 60_000)

  test("a client without a server is told what to do", async () => {
    const { code, out, err } = await shell("rdmakit perf send-bw --peer nowhere.invalid --json")
    expect(code).toBe(1)
    expect(err).toMatch(/^error: nowhere\.invalid port 18515: there is no such host$/m)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      faults: [{ message: expect.stringContaining("there is no such host") }],
    })
  }, 60_000)
})

describe("what cannot be is refused", () => {
  test.each([
    ["perf send-bw -m 1500", "--mtu: found 1500, expected 256, 512, 1024, 2048, 4096"],
    ["perf read-bw -c uc", "--connection: found uc, expected rc, for reads"],
    ["perf send-bw -n 4", "--iters: found 4, expected a whole number 5..100000000"],
    ["perf send-lat -q 2", "--qp: found 2, expected a whole number 1..1"],
    [
      "perf send-bw -q 64",
      "--qp: found 64, expected at most 63: each has up to 512 completions (--tx-depth, --iters), and 32767 fit",
    ],
    ["perf send-bw --rate fast", /^--rate: /],
    ["perf send-bw --hosts 0,0", '--hosts: found "0,0", expected two of the hosts 0..1, as 0,1'],
    ["perf send-bw --topology none.txt", /--topology: found "none.txt", expected a file; it does not exist/],
    ["perf send-bw --faults loss=200%", /^--faults: loss: found "200%", expected a share/],
    ["perf send-bw --on fabric --peer 10.0.0.1", "--on: found fabric with one end alone, expected softnic"],
    ["perf send-bw --peer 10.0.0.1 --rate 1Gbps", "--rate: found it with softnic, expected fabric"],
    ["perf send-bw --on fabric --address 10.0.0.1", "--address: found it with fabric, expected softnic"],
    ["perf send-bw --poll", "--poll: found it with fabric, expected softnic"],
    ["perf send-bw --poll --on iwarp", "--poll: found it with iwarp, expected softnic"],
    ["perf send-bw --on softnic --faults slow=1Gbps", "--faults: found slow with softnic, expected fabric"],
    ["perf send-bw --on iwarp --faults loss=1%", "--faults: found it with iwarp, expected softnic"],
    ["perf send-bw -c ud --on iwarp", "--connection: found ud with iwarp, expected rc"],
    ["perf write-lat -c uc --listen --on iwarp", "--connection: found uc with iwarp, expected rc"],
    ["pingpong srq --on iwarp", "TYPE: found srq with iwarp, expected rc"],
    ["pingpong ud --on iwarp", "TYPE: found ud with iwarp, expected rc"],
    ["devinfo --on iwarp", 'Invalid value for flag --on: "iwarp". Expected: "fabric" | "softnic"'],
    ["perf send-bw --address 10.0.0.1", "--address: found it with both ends, expected one end alone"],
    ["perf send-bw --listen --peer 10.0.0.1", "--listen: found it beside 10.0.0.1, expected one end"],
    [
      "perf send-bw --listen --frames tap:3 --address 10.0.0.1/24",
      /^--frames: found "tap:3", expected dgram:PORT:PORT/,
    ],
    ["perf send-bw --listen --frames dgram:1:2", /^--address: found none with --frames/],
    ["perf send-bw --listen --bind here", '--bind: found "here", expected HOST:PORT'],
    ["perf send-bw --listen --at there", '--at: found "there", expected ADDRESS=HOST:PORT'],
    ["perf send-bw --pcap /nowhere/at/all.pcapng", /^\/nowhere\/at\/all\.pcapng: cannot be written to/],
    ["perf send-bw -x 99", "--gid-index: found 99, expected 0..1"],
    ["pingpong rc -g 9", "--gid-idx: found 9, expected 0..1"],
    ["pingpong srq -q 300", "--num-qp: found 300, expected a whole number 1..256"],
    ["pingpong ud -s 5000", "--size: found 5000, expected at most 4096, the port's MTU, for datagrams"],
    ["rping -S 8", "--size: found 8, expected a whole number 16..65536"],
    ["rping -C 0", "--count: found 0, expected a whole number 1..2147483647"],
  ])("%s", async (line, message) => {
    const { code, out, err } = await run(line)
    expect(code).toBe(2)
    const first = err.split("\n")[0]!.replace(/^error: /, "")
    if (typeof message === "string") expect(first).toBe(message)
    else expect(first).toMatch(message)
    expect(out).toBe("")
  })

  test("a test by perftest's own name is told by ours", async () => {
    for (const name of ["ib_write_bw", "write_bw", "Write-BW"]) {
      const { code, err } = await run(`perf ${name}`)
      expect(code).toBe(2)
      expect(err.split("\n")[0]).toMatch(/: "\w+[-_]bw"\. Expected: "send-bw" .*; did you mean write-bw\?$/i)
    }
    expect((await run("perf nothing")).err).not.toContain("did you mean")
  })

  test("an address that another process has is refused with what to do", async () => {
    const other = createSocket("udp4").bind({ address: "127.0.0.1" })
    await once(other, "listening")
    const { code, err } = await run(`perf send-bw --peer 127.0.0.1 --bind 127.0.0.1:${other.address().port}`)
    other.close()
    expect(code).toBe(2)
    expect(err).toMatch(/^error: UDP port \d+ at 127\.0\.0\.1: found bind EADDRINUSE/)
    expect(err).toContain("of two on one host, one takes another address, as --address 127.0.0.2")
  })
})
