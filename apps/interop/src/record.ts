/*
 * Records what two Linux kernels do with each other, for every case: `node --conditions=@rdmakit/source
 * apps/interop/src/record.ts [FILE] [FILTER]`. The table is what ours is compared with.
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { runCase } from "./cases/Case.ts"
import { cases } from "./cases/index.ts"
import { Lab } from "./Lab.ts"
import { EXIT_LEFT_OUT, LeftOut } from "./LeftOut.ts"
import { LinuxPeer } from "./LinuxPeer.ts"

const [file = fileURLToPath(new URL("../../../testdata/linux-verbs/cases.json", import.meta.url)), filter = ""] =
  process.argv.slice(2)

try {
  const lab = await Lab.pair({}, console.log)
  try {
    const { prepared } = lab
    if (prepared.peerMissing !== undefined) throw new LeftOut(prepared.peerMissing, "Cases need the verbs peer.")
    const [one, two] = [new LinuxPeer(lab.first), new LinuxPeer(lab.second)]
    const table: Record<string, unknown> = {}
    for (const each of cases) {
      if (!each.name.includes(filter)) continue
      const start = performance.now()
      try {
        table[each.name] = await runCase(each, one, two)
      } catch (cause) {
        console.log(`${each.name}: ${cause instanceof Error ? cause.message : String(cause)}`)
        process.exitCode = 1
      }
      console.log(`${each.name} (${(performance.now() - start).toFixed(0)} ms)`)
    }
    const release = (await lab.first.must("uname -r")).trim()
    const { kernel, "rdma-core": rdmaCore } = prepared.versions
    const source = { driver: "rdma_rxe", kernel: `${release} (${kernel})`, "rdma-core": rdmaCore }
    writeFileSync(file, `${JSON.stringify({ source, cases: table }, null, 2)}\n`)
  } finally {
    await lab.stop()
  }
} catch (cause) {
  if (!(cause instanceof LeftOut)) throw cause
  console.log(cause.line)
  process.exitCode = EXIT_LEFT_OUT
}
