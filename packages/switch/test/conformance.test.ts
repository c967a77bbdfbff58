import { type SwitchSetup, switchSuite } from "@rdmakit/conformance"
import { EcnMarker, HashedDraws, type NextHops, SharedBuffer, SharedBufferSwitch, seededEcmp } from "../src/index.ts"

/** The setup's next hops as a table. */
const nextHopsOf = ({ node, hosts, nextHops }: SwitchSetup): NextHops => {
  const nodes = Math.max(node, ...hosts) + 1
  const start = new Int32Array(nodes * hosts.length + 1)
  const table: Array<number> = []
  for (let at = 0; at < nodes; at++) {
    hosts.forEach((host, index) => {
      if (at === node) table.push(...nextHops(host))
      start[at * hosts.length + index + 1] = table.length
    })
  }
  const hostIndex = Int32Array.from({ length: nodes }, (_, at) => hosts.indexOf(at))
  return { hostIndex, hosts, start, table: Int32Array.from(table) }
}

const subject = (lossless: boolean) => (setup: SwitchSetup) => {
  const { node, ports, portIds, bufferBytes, headroomBytes } = setup
  const portsAll = Math.max(...portIds) + 1
  return new SharedBufferSwitch({
    node,
    ports,
    buffer: new SharedBuffer(ports, {
      bufferBytes,
      lossless,
      ports: portIds.map((port) => ({ port, headroomBytes, thresholdShift: 3 })),
    }),
    routes: nextHopsOf(setup),
    balancer: seededEcmp(5),
    ecn: new EcnMarker(
      portsAll,
      portIds.map((port) => ({ port, kminBytes: 20_000, kmaxBytes: 80_000, pmax: 0.2 })),
      new HashedDraws(5, portsAll),
    ),
    marksAll: false,
    stamper: undefined,
  })
}

switchSuite({ name: "a lossless shared-buffer switch", make: subject(true) })
switchSuite({ name: "a lossy shared-buffer switch", make: subject(false) }, { lossless: false })
