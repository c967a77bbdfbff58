#!/usr/bin/env node
import module from "node:module"

// Node keeps what it has compiled for the next start, in its own cache folder, where it can; see NODE_COMPILE_CACHE. It
// does so for what is imported from here on, and so the program is.
module.enableCompileCache?.()
await import("./Program.ts")
