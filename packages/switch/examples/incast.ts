import { SwitchBench, type SwitchSetup } from "@rdmakit/conformance"
import { EcnMarker, HashedDraws, type NextHops, SharedBuffer, SharedBufferSwitch, seededEcmp } from "@rdmakit/switch"

/** Next hops of one switch, as a table over all nodes; a whole network's come from its routes. */
export const tableOf = ({ node, hosts, nextHops }: SwitchSetup): NextHops => {
  const nodes = Math.max(node, ...hosts) + 1
  const start = new Int32Array(nodes * hosts.length + 1)
  const table: Array<number> = []
  for (let row = 0; row < nodes * hosts.length; row++) {
    if (Math.floor(row / hosts.length) === node) table.push(...nextHops(hosts[row % hosts.length]!))
    start[row + 1] = table.length
  }
  const hostIndex = Int32Array.from({ length: nodes }, (_, at) => hosts.indexOf(at))
  return { hostIndex, hosts, start, table: Int32Array.from(table) }
}

export const sharedBufferSwitch =
  (lossless: boolean) =>
  (setup: SwitchSetup): SharedBufferSwitch => {
    const { node, ports, portIds, bufferBytes, headroomBytes } = setup
    const portCount = Math.max(...portIds) + 1
    return new SharedBufferSwitch({
      node,
      ports,
      buffer: new SharedBuffer(ports, {
        bufferBytes,
        lossless,
        ports: portIds.map((port) => ({ port, headroomBytes, thresholdShift: 3 })),
      }),
      routes: tableOf(setup),
      balancer: seededEcmp(5),
      ecn: new EcnMarker(
        portCount,
        portIds.map((port) => ({ port, kminBytes: 100_000, kmaxBytes: 400_000, pmax: 0.2 })),
        new HashedDraws(5, portCount),
      ),
      marksAll: false,
      stamper: undefined,
    })
  }

// Seven neighbours send 150 packets each to the eighth, once with PFC and once without.
const incast = [1, 2, 3, 4, 5, 6, 7].map((from) => ({ from, to: 0, packets: 150, wireBytes: 1500, priority: 3 }))

export const report = [true, false].map((lossless) => {
  const bench = new SwitchBench(sharedBufferSwitch(lossless))
  const events = bench.run(incast)
  const count = (what: string) => events.filter((event) => event.what === what).length
  return `${count("delivered")} delivered, ${count("dropped")} dropped, ${count("paused")} pauses, ${count("resumed")} resumes, ${bench.marked > 0 ? "some" : "none"} marked`
})
