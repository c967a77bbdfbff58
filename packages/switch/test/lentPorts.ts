import { PacketPool } from "@rdmakit/packet"
import type { SwitchPorts } from "@rdmakit/protocol"

/** Ports as a kernel lends them, whose queues a test sets by hand. PFC frames are noted down. */
export const lentPorts = (count: number) => {
  const queueBytes = Array.from({ length: count }, () => new Array<number>(8).fill(0))
  const sentBytes = new Array<number>(count).fill(0)
  const frames: Array<{ now: number; port: number; priority: number; pause: boolean }> = []
  const ports: SwitchPorts = {
    pool: new PacketPool({ limit: 64, telemetryHops: 2, telemetryRates: [100e9, 400e9] }),
    queueBytes: (port) => queueBytes[port]!.reduce((sum, bytes) => sum + bytes, 0),
    queueBytesOf: (port, queue) => queueBytes[port]![queue]!,
    sentBytes: (port) => sentBytes[port]!,
    policyWords: new Int32Array(count * 40),
    policyAt: (port) => port * 40 + 4,
    leave: () => {},
    sendPfc: (now, port, priority, pause) => void frames.push({ now, port, priority, pause }),
  }
  return { ports, queueBytes, sentBytes, frames }
}
