import { SwitchBench } from "@rdmakit/conformance"
import { Drop } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { sharedBufferSwitch } from "../examples/incast.ts"
import { WatchdogSwitch } from "../src/index.ts"

it("lets nothing in that comes by a port, or is to leave by it, in a priority that is dropped there", () => {
  const dropping = new Uint8Array(64)
  const left: Array<number> = []
  const bench = new SwitchBench((setup) => {
    const ports = {
      ...setup.ports,
      leave: (port: number, unmarkedBytes: number) => void left.push(port, unmarkedBytes),
    }
    const inner = sharedBufferSwitch(true)({ ...setup, ports })
    return new WatchdogSwitch({ inner, ports, portIds: setup.portIds, dropping })
  })
  const [first, second, third] = bench.setup.portIds as [number, number, number]
  // The kernel has to ask about every packet of every port.
  expect(left.slice(-16)).toEqual(bench.setup.portIds.flatMap((port) => [port, -1]))
  dropping[first] = 1 << 3
  const admit = (priority: number, ingress: number, egress: number): number =>
    bench.subject.admit(0, bench.make(1, 100, 1000, priority), ingress, egress)
  expect(admit(3, second, first)).toBe(Drop.Watchdog)
  expect(admit(3, first, second)).toBe(Drop.Watchdog)
  expect(admit(3, second, third)).toBe(3)
  expect(admit(4, second, first)).toBe(4)
  dropping[first] = 0
  expect(admit(3, second, first)).toBe(3)
})
