import { readFileSync } from "node:fs"
import type { Plugin } from "esbuild"
import { directly } from "./directImports.ts"
import { inlined } from "./inlineConstants.ts"

/** A bundler's plugin that rewrites our own sources as they are read, for the sake of speed alone. */
export const ourSources: Plugin = {
  name: "our-sources",
  setup: (build) =>
    build.onLoad({ filter: /[\\/](?:packages|apps)[\\/][^\\/]+[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      contents: directly(inlined(readFileSync(path, "utf8"))),
      loader: "ts",
    })),
}
