/**
 * Compares `@rdmakit/wire` with tshark: `node --conditions=@rdmakit/source scripts/oracles/wire.ts [--write]`. Every frame
 * of the captures, and one of each opcode, tunnel and control frame that we make ourselves, has to show the same fields.
 * `--write` keeps what tshark said in testdata, where tests find it. It ends with a line of counts, and skips where there
 * is no tshark.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { PcapWriter } from "../../packages/pcap/src/index.ts"
import { captureSink } from "../../packages/pcap/src/node.ts"
import { decode } from "../../packages/wire/src/Decode.ts"
import { differences, tsharkFields, tsharkOptions, tsharkSources } from "../../packages/wire/test/tshark.ts"

const golden = new URL("../../testdata/captures/tshark.tsv.gz", import.meta.url)
const folder = mkdtempSync(join(tmpdir(), "oracle-wire-"))
const fields = [
  "-T",
  "fields",
  "-E",
  "separator=/t",
  "-E",
  "aggregator=;",
  ...tsharkFields.flatMap((name) => ["-e", name]),
]

const writeCapture = (path: string, linkType: number, frames: ReadonlyArray<Uint8Array>): void => {
  const sink = captureSink(path)
  const writer = new PcapWriter({ linkType }, sink)
  for (const octets of frames) writer.packet(0n, octets)
  writer.flush()
  sink.close()
}

const tshark = (path: string): ReadonlyArray<string> => {
  const { status, stdout, stderr } = spawnSync("tshark", ["-n", "-r", path, ...tsharkOptions, ...fields], {
    encoding: "utf8",
    maxBuffer: 1 << 30,
  })
  if (status !== 0) throw new Error(`tshark ended with ${status}: ${stderr}`)
  return stdout.split("\n").slice(0, -1)
}

const run = (): void => {
  const lines = [tsharkFields.join("\t")]
  let passed = 0
  let failed = 0
  for (const { name, link, frames } of tsharkSources()) {
    const path = join(folder, "frames.pcap")
    writeCapture(path, link === "erf" ? 197 : 1, frames)
    const rows = tshark(path)
    lines.push(`# ${name}`, ...rows)
    frames.forEach((octets, index) => {
      const found = differences(decode(octets, { link }), rows[index] ?? "")
      if (found.length === 0) passed += 1
      else {
        failed += 1
        console.error(`${name}, frame ${index + 1}:\n  ${found.join("\n  ")}`)
      }
    })
  }
  const text = `${lines.join("\n")}\n`
  if (process.argv.includes("--write")) writeFileSync(golden, gzipSync(text, { level: 9 }))
  else if (gunzipSync(readFileSync(golden)).toString() !== text)
    console.log("tshark says it otherwise than in testdata")
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 ? 0 : 1
}

if (spawnSync("tshark", ["--version"]).status === 0) {
  try {
    run()
  } finally {
    rmSync(folder, { recursive: true })
  }
} else {
  console.log("tshark is not here\n0 passed, 0 failed, 1 skipped")
}
