import { defineConfig } from "tsup"
import { lateModules } from "../../scripts/build/lateModules.ts"
import { ourSources } from "../../scripts/build/ourSources.ts"

// One self-contained program: everything is bundled from sources, so no package has to be built first.
// Splitting keeps what is behind a dynamic import in its own chunk, loaded when it is used.
export default defineConfig({
  // A sweep and the claims start their workers from programs of their own.
  entry: {
    main: "src/main.ts",
    SweepWorker: "src/sweep/SweepWorker.ts",
    ClaimsWorker: "../harness/src/worker.ts",
  },
  format: ["esm"],
  target: "node20",
  platform: "node",
  dts: false,
  clean: true,
  // Fields without a value are not defined before the constructor sets them: one that starts undefined is checked at
  // each reading, and a number written to it is boxed.
  tsconfig: "tsconfig.bundle.json",
  esbuildPlugins: [ourSources, lateModules],
  sourcemap: false,
  splitting: true,
  noExternal: [/.*/],
  removeNodeProtocol: false,
  // Bundled CommonJS dependencies still call `require` for Node's own modules.
  banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  esbuildOptions: (options) => {
    options.conditions = ["@rdmakit/source", "import", "module", "node"]
    // Puts constants of other modules in place: the kernel's field offsets would else be read from memory each time.
    options.minifySyntax = true
    // What is not read need not be scanned at each start.
    options.minifyWhitespace = true
  },
})
