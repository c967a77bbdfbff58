import module from "node:module"
import v8 from "node:v8"

/** Bytes of bytecode that one function may take in of those it calls; by default 920. */
const INLINED_BYTES = 2400

let prepared = false

/**
 * Tells the compiler to put more of what a function calls into its place: the functions of a simulation are many and
 * small, and the calls between them were an eighth of its instructions (docs/adr/0007).
 *
 * Node keeps compiled modules with the settings they were compiled with, so what it has not kept yet it keeps now.
 */
export const prepareCompiler = (): void => {
  if (prepared) return
  prepared = true
  module.flushCompileCache?.()
  v8.setFlagsFromString(`--max-inlined-bytecode-size-cumulative=${INLINED_BYTES}`)
}
