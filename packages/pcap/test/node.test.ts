import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { constants, gunzipSync, gzipSync, zstdCompressSync } from "node:zlib"
import { type CaptureError, PcapWriter } from "@rdmakit/pcap"
import { captureSink, openCapture, openRotated, rotatedFiles, visitCapture } from "@rdmakit/pcap/node"
import { afterAll, describe, expect, test } from "vitest"
import { captureOf, capturePath, packetsOf, plain, recordsOf } from "./octets.ts"

const folder = mkdtempSync(join(tmpdir(), "pcap-"))
afterAll(() => rmSync(folder, { recursive: true }))

const write = (name: string, octets: Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, octets)
  return path
}

const octets = captureOf("lossy_rc_send_v4")
const expected = packetsOf(recordsOf(octets)).map(plain)

const packets = async (path: string) => {
  const out: Array<ReturnType<typeof plain>> = []
  for await (const record of openCapture(path)) if (record.kind === "packet") out.push(plain(record))
  return out
}

const visited = async (path: string) => {
  const out: Array<ReturnType<typeof plain>> = []
  await visitCapture(path, (record) => {
    if (record.kind === "packet") out.push(plain(record))
  })
  return out
}

describe("files", () => {
  const half = octets.length >> 1
  const skippable = Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9)
  test.each<[string, () => string]>([
    ["plain", () => write("a.pcap", octets)],
    ["gzip", () => capturePath("lossy_rc_send_v4")],
    [
      "gzip of two members",
      () =>
        write("m.gz", Buffer.concat([octets.subarray(0, half), octets.subarray(half)].map((part) => gzipSync(part)))),
    ],
    ["Zstandard", () => write("a.zst", zstdCompressSync(octets))],
    [
      "Zstandard of two frames",
      () =>
        write(
          "m.zst",
          Buffer.concat([zstdCompressSync(octets.subarray(0, half)), zstdCompressSync(octets.subarray(half))]),
        ),
    ],
    ["Zstandard behind a skippable frame", () => write("s.zst", Buffer.concat([skippable, zstdCompressSync(octets)]))],
  ])("%s", async (_, path) => {
    expect(await packets(path())).toEqual(expected)
    expect(await visited(path())).toEqual(expected)
  })

  test("one larger than the buffer", async () => {
    const path = join(folder, "large.pcap")
    const sink = captureSink(path)
    const writer = new PcapWriter({ linkType: 1 }, sink)
    for (let index = 0; index < 3000; index++) writer.packet(BigInt(index), new Uint8Array(1000).fill(index & 255))
    writer.flush()
    sink.close()
    let count = 0
    const progress: Array<number> = []
    await visitCapture(
      path,
      (record) => {
        if (record.kind !== "packet") return
        expect(record.timeNs).toBe(BigInt(count))
        expect(record.data.every((octet) => octet === (count & 255))).toBe(true)
        count++
      },
      { onProgress: (read, of) => progress.push(read / (of ?? 0)) },
    )
    expect(count).toBe(3000)
    expect(progress.length).toBeGreaterThan(2)
    expect(progress.at(-1)).toBe(1)
  })

  test.each<[string, Uint8Array]>([
    ["gz", gzipSync(octets)],
    ["zst", zstdCompressSync(octets)],
  ])("a cut .%s gives what it has and then says so", async (extension, packed) => {
    const path = write(`cut.${extension}`, packed.subarray(0, packed.length - 20))
    const out: Array<ReturnType<typeof plain>> = []
    const fault = await visitCapture(path, (record) => {
      if (record.kind === "packet") out.push(plain(record))
    }).then(
      () => undefined,
      (error: CaptureError) => error,
    )
    expect(fault).toMatchObject({ _tag: "CaptureError", reason: "truncated", file: path })
    expect(out).toEqual(expected.slice(0, out.length))
    if (extension === "gz") expect(out.length).toBeGreaterThan(200)
  })

  test.each<[string, Uint8Array]>([
    ["gz", gzipSync(octets)],
    ["zst", zstdCompressSync(octets, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })],
  ])("a damaged .%s", async (extension, packed) => {
    const damaged = packed.slice()
    damaged.fill(0xff, 100, 120)
    const path = write(`damaged.${extension}`, damaged)
    await expect(packets(path)).rejects.toMatchObject({ _tag: "CaptureError" })
  })

  test("an empty file, one of two octets, and no file", async () => {
    await expect(packets(write("empty", new Uint8Array(0)))).rejects.toMatchObject({ reason: "truncated" })
    await expect(packets(write("two", Uint8Array.of(0x1f, 0x8b)))).rejects.toMatchObject({ reason: "truncated" })
    await expect(packets(join(folder, "none"))).rejects.toMatchObject({ code: "ENOENT" })
  })

  test("the standard input", () => {
    const script = `import { openCapture } from "@rdmakit/pcap/node"
let count = 0
for await (const record of openCapture("-")) if (record.kind === "packet") count++
console.log(count)`
    const child = (input: Uint8Array) =>
      spawnSync(process.execPath, ["--conditions=@rdmakit/source", "--input-type=module", "--eval", script], {
        cwd: fileURLToPath(new URL("..", import.meta.url)),
        input,
        encoding: "utf8",
      })
    const packed = readFileSync(capturePath("v_badrkey"))
    expect(child(packed).stdout.trim()).toBe("18")
    expect(child(gunzipSync(packed)).stdout.trim()).toBe("18")
  })
})

test("a rotated set is one capture, in the order of its times even when the ring wrapped", async () => {
  const part = (from: number, to: number): Uint8Array => {
    const chunks: Array<Uint8Array> = []
    const writer = new PcapWriter({ linkType: 1, resolution: "microseconds", snapLength: 65536 }, (chunk) =>
      chunks.push(chunk),
    )
    for (const packet of packetsOf(recordsOf(octets)).slice(from, to)) writer.packet(packet.timeNs!, packet.data)
    writer.flush()
    return Buffer.concat(chunks)
  }
  write("ring.pcap0", part(200, 313))
  const one = write("ring.pcap1", part(0, 100))
  write("ring.pcap2", part(100, 200))
  const paths = await rotatedFiles(one)
  expect(paths.map((path) => path.at(-1))).toEqual(["0", "1", "2"])
  const read: Array<string> = []
  for await (const { record, path } of openRotated(paths)) {
    if (record.kind === "packet") read.push(`${path.at(-1)} ${plain(record).data}`)
  }
  const order = expected.map(({ data }, index) => `${index < 100 ? 1 : index < 200 ? 2 : 0} ${data}`)
  expect(read).toEqual(order)
})
