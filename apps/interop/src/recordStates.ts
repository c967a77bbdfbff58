/*
 * Records which changes of a queue pair the kernel accepts: `node --conditions=@rdmakit/source
 * apps/interop/src/recordStates.ts [FILE]`. For every service and every two states, with the attributes that are required
 * (facts of libibverbs's manual, ibv_modify_qp(3)), with each of them left out, and with each other attribute added.
 */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Lab } from "./Lab.ts"
import { EXIT_LEFT_OUT, LeftOut } from "./LeftOut.ts"
import { LinuxPeer } from "./LinuxPeer.ts"
import { recordStates } from "./states.ts"

const file = process.argv[2] ?? fileURLToPath(new URL("../../../testdata/linux-verbs/states.json", import.meta.url))

try {
  const lab = await Lab.pair({}, console.log)
  try {
    const { prepared } = lab
    if (prepared.peerMissing !== undefined) throw new LeftOut(prepared.peerMissing, "The table needs the verbs peer.")
    const table = await recordStates(new LinuxPeer(lab.first), console.log)
    const release = (await lab.first.must("uname -r")).trim()
    const { kernel, "rdma-core": rdmaCore } = prepared.versions
    const source = { driver: "rdma_rxe", kernel: `${release} (${kernel})`, "rdma-core": rdmaCore }
    const lines = table.map((row) => `  ${JSON.stringify(row)}`)
    writeFileSync(file, `{\n "source": ${JSON.stringify(source)},\n "rows": [\n${lines.join(",\n")}\n ]\n}\n`)
    console.log(`${table.length} rows`)
  } finally {
    await lab.stop()
  }
} catch (cause) {
  if (!(cause instanceof LeftOut)) throw cause
  console.log(cause.line)
  process.exitCode = EXIT_LEFT_OUT
}
