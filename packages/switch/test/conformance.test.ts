import { type SwitchSetup, switchSuite } from "@rdmakit/conformance"
import type { LoadBalancer } from "@rdmakit/protocol"
import { sharedBufferSwitch, tableOf } from "../examples/incast.ts"
import {
  Flowlets,
  HashedSpray,
  LeastQueued,
  RoundRobinSpray,
  SharedBufferSwitch,
  seededEcmp,
  type Threshold,
  ThresholdBuffer,
  WatchdogSwitch,
} from "../src/index.ts"

switchSuite({ name: "a lossless shared-buffer switch", make: sharedBufferSwitch(true) })
switchSuite({ name: "a lossy shared-buffer switch", make: sharedBufferSwitch(false) }, { lossless: false })

const variant =
  (threshold: Threshold, lossless: boolean, balancer: (setup: SwitchSetup) => LoadBalancer) =>
  (setup: SwitchSetup): SharedBufferSwitch => {
    const { node, ports, portIds, bufferBytes, wireBytesMax } = setup
    // Where the pool is what ends first, the frame that found no room is in the headroom too.
    const headroomBytes = setup.headroomBytes + wireBytesMax
    return new SharedBufferSwitch({
      node,
      ports,
      buffer: new ThresholdBuffer(ports, {
        bufferBytes,
        lossless,
        threshold,
        ports: portIds.map((port) => ({ port, headroomBytes, thresholdShift: 0 })),
      }),
      routes: tableOf(setup),
      balancer: balancer(setup),
      ecn: undefined,
      marksAll: false,
      stamper: undefined,
    })
  }

const ecmp = () => seededEcmp(5)
for (const [name, threshold] of [
  ["an eighth of the free buffer", { alpha: 1 / 8 }],
  ["eight times the free buffer", { alpha: 8 }],
  ["50 KB", { bytes: 50_000 }],
] as const) {
  switchSuite({ name: `a lossless switch that pauses at ${name}`, make: variant(threshold, true, ecmp) })
  const make = variant(threshold, false, ecmp)
  switchSuite({ name: `a lossy switch that drops above ${name}`, make }, { lossless: false })
}

const alpha = { alpha: 1 / 8 }
const balancers: Readonly<Record<string, (setup: SwitchSetup) => LoadBalancer>> = {
  "sprays in turn": () => new RoundRobinSpray(5),
  "sprays by a hash": () => new HashedSpray(5),
  "takes the least queued next hop": ({ ports }) => new LeastQueued(5, ports),
  "switches flowlets": () => new Flowlets({ inner: new HashedSpray(5), gapPs: 1e6 }),
  "puts flowlets on the least queued next hop": ({ ports }) =>
    new Flowlets({ inner: new LeastQueued(5, ports), gapPs: 1e6 }),
}
for (const [name, balancer] of Object.entries(balancers)) {
  switchSuite({ name: `a switch that ${name}`, make: variant(alpha, true, balancer) })
}

switchSuite({
  name: "a switch with a watchdog that has found nothing",
  make: (setup) => {
    const inner = variant(alpha, true, ecmp)(setup)
    const { ports, portIds } = setup
    return new WatchdogSwitch({ inner, ports, portIds, dropping: new Uint8Array(Math.max(...portIds) + 1) })
  },
})
