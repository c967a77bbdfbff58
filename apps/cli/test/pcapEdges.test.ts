import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import {
  numberOption,
  optionCodes,
  type PacketRecord,
  type PcapngInterface,
  PcapngWriter,
  readCapture,
  textOption,
} from "@rdmakit/pcap"
import { Effect, Exit } from "effect"
import { describe, expect, it, test } from "vitest"
import { refusalOf } from "../src/pcap/CaptureOutput.ts"
import { folderOf, rdmakit, shell } from "./rdmakit.ts"

const captures = fileURLToPath(new URL("../../../testdata/captures/", import.meta.url))
const plain = new Uint8Array(gunzipSync(readFileSync(`${captures}v_imm.pcap.gz`)))

const written = (fill: (writer: PcapngWriter) => void): Uint8Array => {
  const chunks: Array<Uint8Array> = []
  const writer = new PcapngWriter({}, (octets) => chunks.push(octets))
  fill(writer)
  writer.flush()
  return new Uint8Array(Buffer.concat(chunks))
}

/** One interface with packets at these ticks; none: packets without a time. */
const captured = (from: PcapngInterface, ...ticks: ReadonlyArray<bigint | undefined>): Uint8Array =>
  written((writer) => {
    const id = writer.interface(from)
    for (const each of ticks) {
      if (each === undefined) writer.simplePacket(new Uint8Array(60))
      else writer.packet(id, each, new Uint8Array(60))
    }
  })

const packetsOf = async (octets: Uint8Array): Promise<ReadonlyArray<PacketRecord>> => {
  const packets: Array<PacketRecord> = []
  for await (const record of readCapture([octets])) if (record.kind === "packet") packets.push(record)
  return packets
}

const pcap = (cwd: string, ...args: ReadonlyArray<string>) => rdmakit(["pcap", ...args], { cwd })
const ethernet = { linkType: 1, ticksPerSecond: 1_000_000n }

describe("a capture to the standard output", () => {
  it("waits for a reader that is slow", async () => {
    const cwd = folderOf({ "long.pcap": Buffer.concat([plain, ...Array(200).fill(plain.subarray(24))]) })
    const { out, err } = await shell("rdmakit pcap convert long.pcap - | (sleep 1; wc -c)", {}, cwd)
    expect(err).toMatch(/^standard output: 9,045 packets\n$/)
    expect(Number(out)).toBeGreaterThan(500_000)
    const merged = await shell("rdmakit pcap merge long.pcap long.pcap - | (sleep 1; wc -c)", {}, cwd)
    expect(Number(merged.out)).toBeGreaterThan(1.9 * Number(out))
  }, 60_000)

  it("ends quietly with a reader that has enough", async () => {
    const cwd = folderOf({ "long.pcap": Buffer.concat([plain, ...Array(200).fill(plain.subarray(24))]) })
    for (const command of ["convert long.pcap -", "merge long.pcap long.pcap -"]) {
      const { out, err } = await shell(`rdmakit pcap ${command} | head -c 4 | od -An -tx1`, {}, cwd)
      expect({ out, err }).toEqual({ out: " 0a 0d 0d 0a\n", err: "" })
    }
  }, 60_000)

  test.runIf(existsSync("/dev/full"))(
    "says when there is no room",
    async () => {
      const { code, err } = await shell("rdmakit pcap convert v_imm.pcap.gz - > /dev/full", {}, captures)
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(/^error: the output cannot be written: there is no room left on the disk/),
      })
    },
    60_000,
  )
})

test("a merge on a terminal shows how far it has come, and takes that away", async () => {
  const cwd = folderOf({ "long.pcap": Buffer.concat([plain, ...Array(200).fill(plain.subarray(24))]) })
  const many = Array(6).fill("long.pcap")
  const { code, err } = await rdmakit(["pcap", "merge", ...many, "all.pcapng"], { cwd, terminal: true })
  expect(code).toBe(0)
  const shown = err.split("\r\u001b[K")
  expect(shown.length).toBeGreaterThan(2)
  for (const progress of shown.slice(1, -1)) expect(progress).toMatch(/^[\d.]+ k packets$/)
  expect(shown.at(-1)).toBe("all.pcapng: 54,270 packets\n")
}, 60_000)

test("standard input can be read once", async () => {
  const { code, err } = await pcap(folderOf({}), "merge", "-", "-", "out.pcapng")
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining("-: found twice, expected once") })
})

test("a disk that is full is no bug", async () => {
  const error = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" })
  const exit = await Effect.runPromiseExit(refusalOf(error, "big.pcap"))
  expect(Exit.isFailure(exit) && String(exit.cause)).toContain(
    "big.pcap: cannot be written to: there is no room left on the disk",
  )
})

test.runIf(existsSync("/proc/self/mem"))("several files of which one cannot be read", async () => {
  const cwd = folderOf({ "a.pcap": plain })
  for (const args of [
    ["flows", "a.pcap", "/proc/self/mem"],
    ["merge", "a.pcap", "/proc/self/mem", "b.pcap"],
  ]) {
    const { code, err } = await pcap(cwd, ...args)
    expect([code, err]).toEqual([2, expect.stringContaining('/proc/self/mem", expected a capture; it cannot be read')])
  }
  expect(readdirSync(cwd)).toEqual(["a.pcap"])
})

describe("times in pcap", () => {
  const nano = captured({ ...ethernet, ticksPerSecond: 1_000_000_000n }, 1_000_000_123n)
  const pico = captured({ ...ethernet, ticksPerSecond: 1_000_000_000_000n }, 1_000_000_123_000n, 1_000_000_123_001n)
  const binary = captured({ ...ethernet, ticksPerSecond: 512n }, 1n)
  const micro = captured(ethernet, 1_000_000n)
  const mixed = written((writer) => {
    writer.packet(writer.interface(ethernet), 1n, new Uint8Array(60))
    writer.packet(writer.interface({ ...ethernet, ticksPerSecond: 1_000_000_000n }), 2001n, new Uint8Array(60))
  })
  const folder = () => folderOf({ micro, nano, pico, binary, mixed })

  it("are as fine as the finest capture that is joined", async () => {
    const cwd = folder()
    expect(await pcap(cwd, "merge", "micro", "nano", "out.pcap")).toMatchObject({ code: 0 })
    const packets = await packetsOf(readFileSync(`${cwd}/out.pcap`))
    expect(packets.map(({ timeNs }) => timeNs)).toEqual([1_000_000_000n, 1_000_000_123n])
  })

  it("keep fractions of two", async () => {
    const cwd = folder()
    expect(await pcap(cwd, "convert", "binary", "out.pcap")).toMatchObject({ code: 0 })
    expect((await packetsOf(readFileSync(`${cwd}/out.pcap`)))[0]!.timeNs).toBe(1_953_125n)
  })

  it.each([
    ["pico", "frame 2 has a time finer than the nanoseconds of those before it"],
    ["mixed", "frame 2 has a time finer than the microseconds of those before it"],
  ])("that have no room are refused: %s", async (name, message) => {
    const cwd = folder()
    const { code, err } = await pcap(cwd, "convert", name, "out.pcap")
    expect([code, err]).toEqual([2, expect.stringContaining(`out.pcap: ${message}`)])
    expect(err).toContain("write pcapng: --format pcapng")
    expect(readdirSync(cwd).length).toBe(5)
  })
})

describe("packets without a time", () => {
  it("stay with their own interface, or are refused", async () => {
    const cwd = folderOf({ ethernet: captured(ethernet, undefined), raw: captured({ linkType: 101 }, undefined) })
    const { code, err } = await pcap(cwd, "merge", "ethernet", "raw", "out.pcapng")
    expect([code, err]).toEqual([2, expect.stringContaining("frame 1 has no time, and pcapng has such packets of its")])
    expect(readdirSync(cwd)).toEqual(["ethernet", "raw"])
  })

  it("are cut where they were not shorter already", async () => {
    const short = written((writer) => {
      writer.interface({ ...ethernet, snapLength: 10 })
      writer.simplePacket(new Uint8Array(10), 60)
    })
    const cwd = folderOf({ short })
    for (const [snap, captured] of [
      [64, 10],
      [4, 4],
    ] as const) {
      expect(await pcap(cwd, "convert", "short", "out", "--snap", `${snap}`, "--force")).toMatchObject({ code: 0 })
      const [packet] = await packetsOf(readFileSync(`${cwd}/out`))
      expect(packet).toMatchObject({ capturedOctets: captured, originalOctets: 60 })
    }
  })
})

test("what a file says of itself does not command the terminal", async () => {
  const escaping = written((writer) => {
    writer.section([textOption(optionCodes.section.application, "tool\u001b[2J")])
    writer.interface({ ...ethernet, options: [textOption(optionCodes.interface.name, "eth\u001b]0;x\u0007\n0")] })
    writer.packet(0, 1n, new Uint8Array(60), 60, [numberOption(optionCodes.packet.flags, 1, 4)])
  })
  const { out } = await pcap(folderOf({ escaping }), "info", "escaping")
  expect(out).toContain("by tool\\u001b[2J")
  expect(out).toContain("interface   eth\\u001b]0;x\\u0007\\u000a0, ethernet")
})

test("of very many interfaces the first are told, and how many there are", async () => {
  const many = written((writer) => {
    for (let id = 0; id < 5000; id++) writer.interface(ethernet)
  })
  const cwd = folderOf({ many })
  const { out } = await pcap(cwd, "info", "many")
  expect(out).toContain("\n  interfaces  4,984 more\n")
  const json = JSON.parse((await pcap(cwd, "info", "many", "--json")).out)
  expect([json.interfaces.length, json.interfaceCount]).toEqual([4096, 5000])
})
