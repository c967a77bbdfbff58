import { Ecn, Flag, Opcode, Packet } from "@rdmakit/packet"
import { Drop, shown } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import {
  EcnMarker,
  LoadBalancerFault,
  type NextHops,
  SharedBuffer,
  SharedBufferSwitch,
  type SharedBufferSwitchOptions,
  TelemetryStamper,
} from "../src/index.ts"
import { lentPorts } from "./lentPorts.ts"

const NODE = 4
/** Hosts 0 to 3 behind switch 4: ports 2 and 3 lead to host 0, port 1 to host 1, port 5 to host 2, none to host 3. */
const routes: NextHops = {
  hostIndex: Int32Array.of(0, 1, 2, 3, -1),
  hosts: { length: 4 },
  // Rows of nodes 0 to 3 are empty.
  start: Int32Array.from([...new Array(16).fill(0), 0, 2, 3, 4, 4]),
  table: Int32Array.of(2, 3, 1, 5),
}

const switchWith = (options: Partial<SharedBufferSwitchOptions> = {}) => {
  const lent = lentPorts(6)
  const buffer = new SharedBuffer(lent.ports, {
    bufferBytes: 200_000,
    lossless: true,
    ports: [1, 2, 3, 5].map((port) => ({ port, headroomBytes: 20_000, thresholdShift: 3 })),
  })
  const picked: Array<number> = []
  const subject = new SharedBufferSwitch({
    node: NODE,
    ports: lent.ports,
    buffer,
    routes,
    balancer: {
      pick: (_now, _packet, node, count) => {
        picked.push(node, count)
        return count - 1
      },
    },
    ecn: undefined,
    marksAll: false,
    stamper: undefined,
    ...options,
  })
  const packet = new Packet(lent.ports.pool)
  const make = (destination: number, priority = 3, wireBytes = 1000): Packet => {
    packet.at(lent.ports.pool.alloc())
    packet.meta = Opcode.WriteOnly | (priority << 24)
    packet.setNodes(0, destination)
    packet.wireBytes = wireBytes
    packet.enterSwitch(1)
    return packet
  }
  return { ...lent, subject, buffer, picked, make }
}

/** Marks all that leaves 1,000 bytes or more behind in its queue at port 5. */
const marking = () =>
  new EcnMarker(6, [{ port: 5, kminBytes: 999, kmaxBytes: 999, pmax: 1 }], { next: () => Number.NaN })

describe("a shared-buffer switch", () => {
  it("routes by destination, and asks the balancer where there is a choice", () => {
    const { subject, make, picked } = switchWith()
    expect(subject.route(0, make(1))).toBe(1)
    expect(picked).toEqual([])
    expect(subject.route(0, make(0))).toBe(3)
    expect(picked).toEqual([NODE, 2])
    expect(subject.route(0, make(3))).toBe(Drop.NoRoute)
  })

  it.each([2, -1, 0.5, Number.NaN, "1" as never, undefined as never])(
    "does not follow a balancer that chooses %s of two",
    (choice) => {
      for (const byPacket of [false, true]) {
        const { subject, make } = switchWith({ balancer: { byPacket, pick: () => choice } })
        const route = () => subject.route(3e6, make(0))
        expect(route).toThrow(LoadBalancerFault)
        expect(route).toThrow(
          `load balancer of switch 4, at 3 us: it chose ${shown(choice)}, expected the index of one of 2 next hops, 0 to 1`,
        )
      }
    },
  )

  it.each([null, undefined as never, {}, () => 0])("refuses %s as a balancer", (balancer) => {
    expect(() => switchWith({ balancer: balancer as never })).toThrow("expected a load balancer, an object with pick")
  })

  it("has no route to a switch, or to a node that is not there", () => {
    const { subject, make } = switchWith()
    expect(subject.route(0, make(NODE))).toBe(Drop.NoRoute)
    expect(subject.route(0, make(99))).toBe(Drop.NoRoute)
  })

  it("queues by priority; control in queue 0 is outside the buffer", () => {
    const { subject, make, buffer } = switchWith()
    const threshold = buffer.threshold(1)
    const control = make(2, 0)
    for (let i = 0; i < 300; i++) expect(subject.admit(0, control, 1, 5)).toBe(0)
    for (const priority of [1, 3, 7]) expect(subject.admit(0, make(2, priority), 1, 5)).toBe(priority)
    subject.dequeued(0, make(2, 0), 5, 0)
    expect(buffer.threshold(1)).toBe(threshold)
  })

  it("pauses on admission, resumes as packets leave, and gives every byte back", () => {
    const { subject, make, frames, buffer, ports } = switchWith()
    const threshold = buffer.threshold(1)
    const held: Array<number> = []
    while (frames.length === 0) {
      const packet = make(2)
      held.push(packet.handle)
      expect(subject.admit(held.length, packet, 1, 5)).toBe(3)
    }
    expect(frames).toEqual([{ now: held.length, port: 1, priority: 3, pause: true }])
    const packet = new Packet(ports.pool)
    for (const handle of held) subject.dequeued(100, packet.at(handle), 5, 3)
    expect(frames.slice(1)).toEqual([{ now: 100, port: 1, priority: 3, pause: false }])
    expect(buffer.threshold(1)).toBe(threshold)
  })

  it("marks by what the packet leaves behind in its queue", () => {
    const { subject, make, queueBytes } = switchWith({ ecn: marking() })
    const leave = (ecn: number, behind: number, priority = 3) => {
      queueBytes[5]![priority] = behind
      queueBytes[5]![6] = 50_000
      const packet = make(2, priority)
      packet.ecn = ecn
      if (priority !== 0) subject.admit(0, packet, 1, 5)
      subject.dequeued(0, packet, 5, priority)
      return packet.ecn
    }
    expect(leave(Ecn.Capable0, 999)).toBe(Ecn.Capable0)
    expect(leave(Ecn.Capable0, 1000)).toBe(Ecn.Experienced)
    expect(leave(Ecn.Capable1, 1000)).toBe(Ecn.Experienced)
    expect(leave(Ecn.NotCapable, 1000)).toBe(Ecn.NotCapable)
    expect(leave(Ecn.Capable0, 1000, 0)).toBe(Ecn.Capable0)
  })

  it("marks what is not ECN-capable too, where the model says so", () => {
    const { subject, make, queueBytes } = switchWith({ ecn: marking(), marksAll: true })
    queueBytes[5]![3] = 1000
    const packet = make(2)
    subject.admit(0, packet, 1, 5)
    subject.dequeued(0, packet, 5, 3)
    expect(packet.ecn).toBe(Ecn.Experienced)
  })

  it("stamps requests that ask for it, with all queues of the port and the bytes sent before", () => {
    const stamper = new TelemetryStamper(Uint16Array.of(0, 0, 0, 0, 0, 1))
    const { subject, make, queueBytes, sentBytes } = switchWith({ stamper })
    queueBytes[5]![3] = 7000
    queueBytes[5]![1] = 500
    sentBytes[5] = 123_456
    const packet = make(2)
    packet.addTelemetry()
    subject.admit(0, packet, 1, 5)
    subject.dequeued(1000, packet, 5, 3)
    expect(packet.telemetryHops).toBe(0)
    packet.set(Flag.Telemetry)
    for (const now of [2000, 3000, 4000]) {
      subject.admit(0, packet, 1, 5)
      subject.dequeued(now, packet, 5, 3)
    }
    const out = new Float64Array(8)
    expect(packet.readTelemetry(out)).toBe(2)
    expect([...out]).toEqual([2000, 123_456, 7500, 400e9, 3000, 123_456, 7500, 400e9])
    // The pool has room for two hops: the third is counted, and changes nothing.
    expect(stamper.overflows).toBe(1)
    expect(packet.pathId).toBe(NODE ^ NODE)
  })
})
