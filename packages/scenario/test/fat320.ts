// The reference on its 320-host fabric, in a process of its own: a test runner's module loader makes it four times slower.
import { formatTopology } from "@rdmakit/ns3"
import { ns3TopologyOf } from "@rdmakit/scenario"
import { hpccFabric } from "@rdmakit/topology"
import { referenceInputs, referenceText, runReference } from "./reference.ts"

const mode = process.argv[2] ?? "hpcc"
const inputs = referenceInputs(`fat320-fbhdp/${mode}.config.txt`, {
  files: {
    "topo_fat320.txt": formatTopology(ns3TopologyOf(hpccFabric())),
    "trace_none.txt": "0\n",
  },
})
const { simulation, outcome } = runReference(inputs)
const lines = simulation.files().fct.split("\n")
const reference = referenceText(`fat320-fbhdp/${mode}.fct.txt`).split("\n")
const found = new Set(lines)
const differing = reference.findIndex((line, i) => line !== lines[i])
console.log(
  JSON.stringify({
    flowsTotal: outcome.flowsTotal,
    flowsFinished: outcome.flowsFinished,
    packetHops: outcome.packetHops,
    packetsLeft: simulation.world.kernel.pool.alive,
    lines: lines.length,
    identical: reference.filter((line) => line !== "" && found.has(line)).length,
    firstDifference: differing < 0 ? null : { expected: reference[differing], found: lines[differing] ?? null },
  }),
)
