import module from "node:module"
import v8 from "node:v8"

/**
 * Settings of V8 by name, with values that make a simulation cheaper (docs/adr/0007 has the measurements). V8 knows them
 * from 12.4 (Node 22.19) to 14.6 (Node 26) at least; of one that it does not know it complains on the standard error, and
 * all goes on without it.
 */
const settings: Readonly<Record<string, number>> = {
  // Bytes of bytecode that one function may take in of those it calls; by default 920. The functions of a simulation are
  // many and small, and the calls between them were an eighth of its instructions.
  "max-inlined-bytecode-size-cumulative": 2_400,
  // Young objects stay where they are: in a room that grows with each collection they leave the cache.
  "semi-space-growth-factor": 1,
}

let prepared = false

/**
 * Sets the compiler up for a simulation. Node keeps compiled modules with the settings they were compiled with, so what
 * it has not kept yet it keeps now.
 */
export const prepareCompiler = (): void => {
  if (prepared) return
  prepared = true
  module.flushCompileCache?.()
  for (const [name, value] of Object.entries(settings)) v8.setFlagsFromString(`--${name}=${value}`)
}
