import { readFileSync } from "node:fs"
import { defineConfig } from "tsup"

// Each package builds with this file, from its own folder; its entries are the sources that its exports name.
interface Manifest {
  readonly exports: Readonly<Record<string, { readonly "@rdmakit/source": string }>>
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as Manifest

export default defineConfig({
  entry: Object.values(manifest.exports).map((target) => target["@rdmakit/source"]),
  format: ["esm"],
  target: "es2022",
  // Declarations come from the native compiler, which has no programming interface for tsup to call.
  dts: false,
  clean: true,
  sourcemap: true,
  splitting: true,
  removeNodeProtocol: false,
})
