import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { describe, expect, it, test } from "vitest"
import { folderOf, rdmakit } from "./rdmakit.ts"

const captures = fileURLToPath(new URL("../../../testdata/captures/", import.meta.url))
const names = readdirSync(captures).filter((name) => name.endsWith(".pcap.gz"))
const octetsOf = (name: string): Uint8Array =>
  new Uint8Array(gunzipSync(readFileSync(join(captures, `${name}.pcap.gz`))))
const run = (args: ReadonlyArray<string>, setting = {}) => rdmakit(["pcap", ...args], { cwd: captures, ...setting })
const objects = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))

/** A capture with one octet of a frame changed. */
const spoiled = (name: string, frame: number, offset: number): Uint8Array => {
  const octets = octetsOf(name)
  const view = new DataView(octets.buffer)
  let at = 24
  for (let each = 1; each < frame; each++) at += 16 + view.getUint32(at + 8, true)
  octets[at + 16 + offset]! ^= 1
  return octets
}

describe("verify", () => {
  it("agrees with the index for every capture", async () => {
    const { code, out, err } = await run(["verify", ...names, "--json"])
    expect({ code, err }).toEqual({ code: 0, err: "" })
    const rows = readFileSync(join(captures, "INDEX.txt"), "utf8").split("\n")
    const results = objects(out)
    expect(results.length).toBe(names.length)
    for (const each of results) {
      const row = rows.find((line) => line.startsWith(`${each.file.replace(".pcap.gz", "")} | `))!
      const [, , frames, roce, right] = row.split("|").map((part) => Number(part))
      expect(each).toMatchObject({ ok: true, packets: frames, roce, icrcOk: right, icrcBad: [], mpaCrcBad: 0 })
    }
  })

  it("names the frames that are wrong, with exit code 1", async () => {
    const folder = folderOf({ "a.pcap": spoiled("v_rnr", 13, 60), "b.pcap": spoiled("siw_crc_rping_v4", 12, 70) })
    const { code, out } = await run(["verify", "a.pcap", "--json"], { cwd: folder })
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ ok: false, icrcOk: 37, icrcBad: [13], notCheckable: 0 })
    const iwarp = await run(["verify", "b.pcap"], { cwd: folder })
    expect(iwarp.code).toBe(1)
    expect(iwarp.out).toContain("MPA   20 right, 1 wrong\n        in frame 12")
  })

  it("reads standard input and cut packets", async () => {
    const folder = folderOf({})
    const { code } = await run(["convert", "-", "cut.pcap", "--snap", "128"], { cwd: folder, stdin: octetsOf("v_imm") })
    expect(code).toBe(0)
    const verified = await run(["verify", "cut.pcap"], { cwd: folder })
    expect(verified.code).toBe(0)
    expect(verified.out).toMatch(/not checkable\n {2}note: \d+ of 28 ICRCs cannot be checked: the capture cut/)
    const piped = await run(["verify", "-"], { stdin: octetsOf("v_imm") })
    expect(piped.out).toBe("standard input  45 packets, 28 with an ICRC\n  ICRC  28 right\n")
  })

  it("says what there was of a file that ends early, with exit code 1", async () => {
    const { code, out } = await run(["verify", "-", "--json"], { stdin: octetsOf("v_imm").subarray(0, 10_000) })
    expect(code).toBe(1)
    const result = JSON.parse(out)
    expect(result).toMatchObject({ ok: false, icrcBad: [] })
    expect(result.packets).toBeGreaterThan(20)
    expect(result.fault).toContain("standard input@")
  })

  test.each<readonly [ReadonlyArray<string>, string]>([
    [["verify", "none.pcap"], 'none.pcap: found "none.pcap", expected a capture; it does not exist'],
    [["verify", "INDEX.txt"], "INDEX.txt@0: record 0: magic"],
    [["show", "."], '.: found ".", expected a capture; it is a folder'],
    [["show", "v_rnr.pcap.gz", "--frame", "99"], "v_rnr.pcap.gz: frame: found 99, expected 1..55"],
    [["show", "v_rnr.pcap.gz", "--filter", "qpn=1"], 'filter: term: found "qpn"'],
    [["show", "v_rnr.pcap.gz", "--time", "soon"], 'filter: time: found "soon"'],
    [["explain", "v_rnr.pcap.gz", "--frame", "1"], "v_rnr.pcap.gz: frame 1: found no ICRC"],
    [["convert", "v_rnr.pcap.gz"], "found 1 file, expected IN and OUT"],
    [["convert", "v_rnr.pcap.gz", "INDEX.txt"], "INDEX.txt: found a file, expected nothing"],
  ])("refuses %j with exit code 2", async (args, message) => {
    const { code, out, err } = await run(args)
    expect({ code, out }).toEqual({ code: 2, out: "" })
    expect(err).toContain(message)
    const json = await run([...args, "--json"])
    expect(JSON.parse(json.out).faults[0].message).toContain(message)
  })
})

test("says how to name another file to write", async () => {
  const there = await run(["convert", "v_rnr.pcap.gz", "INDEX.txt"])
  expect(there.err).toContain("\nname another file, or --force to replace it\n")
  const input = await run(["merge", "v_rnr.pcap.gz", "v_imm.pcap.gz", "v_imm.pcap.gz", "--force"])
  expect(input.err).toContain("v_imm.pcap.gz: would replace an input\nname another file\n")
})

test("files that were put one behind the other are told from damage", async () => {
  const stdin = new Uint8Array(Buffer.concat([octetsOf("v_badrkey"), octetsOf("v_imm")]))
  const { code, out } = await run(["info", "-"], { stdin })
  expect(code).toBe(1)
  expect(out).toContain("record 19: packet: found the header of another pcap file, expected a packet or the end")
})

test("a frame shows TCP flags by name, checksums in hexadecimal, IPv4 addresses of a request as such", async () => {
  const tcp = await run(["show", "siw_crc_rping_v4.pcap.gz", "--frame", "10"])
  expect(tcp.out).toMatch(/flags +24 +\(PSH ACK\)/)
  expect(tcp.out).toMatch(/checksum +0xcea0\n/)
  const request = await run(["show", "cm_rping_v4.pcap.gz", "--frame", "1"])
  expect(request.out).toMatch(/ip\.source +10\.0\.0\.1\n/)
})

describe("info and show", () => {
  it("counts what a capture holds", async () => {
    const { out } = await run(["info", "v_rnr.pcap.gz", "--json"])
    expect(JSON.parse(out)).toMatchObject({
      ...{ format: "pcap, little-endian", packets: 55, rnrNaks: 18, naks: 0, queuePairs: 2, cut: 0 },
      operations: { "RC SEND only": 19, "RC ACK": 19 },
      start: "2026-11-29T15:12:03.667388000Z",
    })
  })

  it("prints a packet a line, those that pass a filter", async () => {
    const { out } = await run(["show", "v_badrkey.pcap.gz", "--filter", "is=roce"])
    expect(out.split("\n").map((line) => line.trim())).toEqual([
      "12    0.017473000  10.0.0.1 → 10.0.0.2  RoCEv2  RC WRITE only QP 0x17 PSN 4247 100 octets of 100 key 0x000008b9 ack requested",
      "13    0.019026000  10.0.0.2 → 10.0.0.1  RoCEv2  RC ACK (NAK remote access error) QP 0x17 PSN 4247 MSN 0",
      "",
    ])
    const json = await run(["show", "v_badrkey.pcap.gz", "--filter", "is=nak", "--json"])
    expect(JSON.parse(json.out)).toMatchObject({ frame: 13, psn: 4247, syndrome: 98, icrc: "right" })
    expect((await run(["show", "cm_rping_v4.pcap.gz", "--filter", "is=cm"])).out).toContain(
      "CM  REQ service 0x1061c06 QP 0x29",
    )
  })

  it("prints every field with its place", async () => {
    const { out } = await run(["show", "v_badrkey.pcap.gz", "--frame", "13"])
    expect(out).toContain("\n  42        opcode         17  (RC ACK)\n")
    expect(out).toContain("\n  50.0+1    ackRequest     0\n")
    expect(out).toContain("\n  54        syndrome  98  (NAK remote access error)\n")
    const tree = JSON.parse((await run(["show", "v_badrkey.pcap.gz", "--frame", "13", "--json"])).out)
    const bits = tree.layers.flatMap(({ fields }: { fields: Array<{ bits: number }> }) =>
      fields.map(({ bits }) => bits),
    )
    expect(bits.reduce((sum: number, each: number) => sum + each, 0)).toBe(8 * tree.capturedBytes)
  })

  it("takes iWARP apart where units fill a segment", async () => {
    const lines: Array<{ frame: number; protocol: string; text: string }> = objects(
      (await run(["show", "siw_crc_rping_v4.pcap.gz", "--json", "--filter", "is=tcp"])).out,
    )
    const trees: Array<string> = []
    for (const { frame } of lines) {
      const { layers } = JSON.parse(
        (await run(["show", "siw_crc_rping_v4.pcap.gz", "--frame", String(frame), "--json"])).out,
      )
      trees.push(...layers.filter(({ of }: { of?: string }) => of !== undefined).map((each: { of: string }) => each.of))
    }
    const count = (name: string): number => trees.filter((each) => each === name).length
    expect(["request", "reply", "send", "readRequest", "write", "tcp"].map(count)).toEqual([1, 1, 12, 3, 3, 0])
    expect(lines.filter(({ protocol }) => protocol === "iWARP").map(({ text }) => text)).toContain("SEND of 16 octets")
    const text = (await run(["show", "siw_crc_rping_v4.pcap.gz", "--frame", "8"])).out
    expect(text).toMatch(/\nrdmap \(\w+\) {2}octets \d+\.\.\d+\n/)
    expect(text).toMatch(/\ncrc32c {2}octets \d+\.\.\d+ {2}right\n/)
  })

  it("stops when the reader leaves", async () => {
    const { code, err } = await run(["show", "lossy_rc_send_v4.pcap.gz"], { readerLeavesAfter: 0 })
    expect({ code, err }).toEqual({ code: 0, err: "" })
  })
})

describe("explain", () => {
  it("marks what is masked, and computes the ICRC that is there", async () => {
    const { code, out } = await run(["explain", "v_badrkey.pcap.gz", "--frame", "12"])
    expect(code).toBe(0)
    expect(out).toContain("    14   45 [ff] 00  a0  25  bc  40  00 [ff] 11 [ff][ff] 0a  00  00  01   ipv4")
    expect(out).toContain("found     9e ea 02 43  at octets 170..173: right")
  })

  it("gives the octets to other programs", async () => {
    const { out } = await run(["explain", "rc_send_2500_v6.pcap.gz", "--frame", "20", "--json"])
    const { parts, verdict, computed, found, carrier } = JSON.parse(out)
    expect({ verdict, carrier }).toEqual({ verdict: "right", carrier: "ipv6" })
    expect(computed).toBe(found)
    expect(parts[1].masks.slice(0, 16)).toBe("0fffffff000000ff")
  })
})

describe("convert and merge", () => {
  it("keep packets, times and lengths through every form", async () => {
    const folder = folderOf({ "in.pcap": octetsOf("v_imm") })
    const at = { cwd: folder }
    for (const [from, to] of ["in.pcap", "a.pcapng", "b.pcap.gz", "c.pcapng.zst", "d.pcap"].map((name, index, all) => [
      all[index - 1],
      name,
    ])) {
      if (from === undefined) continue
      expect(await run(["convert", from, to!], at)).toEqual({ code: 0, out: "", err: `${to}: 45 packets\n` })
    }
    expect(new Uint8Array(readFileSync(join(folder, "d.pcap")))).toEqual(octetsOf("v_imm"))
  })

  it("merge by time, with a filter", async () => {
    const folder = folderOf({ "a.pcap": octetsOf("v_rnr"), "b.pcap": octetsOf("v_badrkey") })
    const { code, out } = await run(["merge", "b.pcap", "a.pcap", "m.pcapng", "--json", "--filter", "is=roce"], {
      cwd: folder,
    })
    expect({ code, out: JSON.parse(out) }).toEqual({
      code: 0,
      out: { ok: true, out: "m.pcapng", packets: 40, faults: [] },
    })
    const shown = objects((await run(["show", "m.pcapng", "--json"], { cwd: folder })).out)
    expect(shown.map(({ time }) => time)).toEqual(shown.map(({ time }) => time).toSorted())
  })
})
