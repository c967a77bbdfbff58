import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { describe, expect, it, test } from "vitest"

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly "@rdmakit/source": string }>>
  readonly dependencies?: unknown
  readonly peerDependencies?: unknown
}

const root = new URL("..", import.meta.url)
const manifest = JSON.parse(readFileSync(new URL("package.json", root), "utf8")) as Manifest

/** Bundles one entry as a browser would get it. */
const bundle = async (source: string, platform: "browser" | "node" = "browser") => {
  const { outputFiles, metafile } = await build({
    entryPoints: [fileURLToPath(new URL(source, root))],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform,
  })
  return { octets: outputFiles[0]!.contents, inputs: Object.keys(metafile.inputs) }
}

it("needs nothing else to be installed", () => {
  expect(manifest.dependencies).toBeUndefined()
  expect(manifest.peerDependencies).toBeUndefined()
})

describe("every entry but /node runs in a browser, and brings only files of this package", () => {
  test.each(Object.entries(manifest.exports))("%s", async (name, entry) => {
    const { inputs } = await bundle(entry["@rdmakit/source"], name === "./node" ? "node" : "browser")
    for (const input of inputs) expect(input).toMatch(/(^|\/)packages\/wire\/src\/|^src\//)
  })
})

it("/roce alone is below 12 KB minified and gzipped", async () => {
  const { octets } = await bundle(manifest.exports["./roce"]!["@rdmakit/source"])
  expect(gzipSync(octets, { level: 9 }).length).toBeLessThan(12 * 1024)
})

test.each([
  ["./udp", /infiniband|roce|crc/],
  ["./infiniband", /Ethernet|Ipv4|roce|crc/],
  ["./cm", /Ethernet|Ipv4|roce|crc/],
  ["./pfc", /Ethernet|Ipv4|infiniband|roce|crc/],
])("%s brings no other protocol", async (name, others) => {
  const { inputs } = await bundle(manifest.exports[name]!["@rdmakit/source"])
  expect(inputs.filter((input) => others.test(input.slice(input.indexOf("src/"))))).toEqual([])
})
