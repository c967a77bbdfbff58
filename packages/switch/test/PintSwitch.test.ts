import { switchSuite } from "@rdmakit/conformance"
import { Opcode, Packet, PintCodec } from "@rdmakit/packet"
import type { Switch } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { sharedBufferSwitch } from "../examples/incast.ts"
import { PintStamper, PintSwitch } from "../src/index.ts"
import { lentPorts } from "./lentPorts.ts"

const inner = (calls: Array<unknown>): Switch => ({
  dequeue: "lazy",
  perPacket: true,
  route: (...args) => calls.push(["route", ...args]),
  admit: (...args) => calls.push(["admit", ...args]),
  dequeued: (...args) => void calls.push(["dequeued", ...args]),
})

it("shows the stamper what leaves before the inner switch, and hands everything else on", () => {
  const { ports: lent, queueBytes } = lentPorts(6)
  const left: Array<ReadonlyArray<number>> = []
  const ports = { ...lent, leave: (...args: ReadonlyArray<number>) => void left.push(args) }
  queueBytes[3]![2] = 700
  const calls: Array<unknown> = []
  const subject = new PintSwitch({
    inner: inner(calls),
    ports,
    portIds: [1, 3],
    stamper: { stamp: (...args) => void calls.push(["stamp", ...args]) },
  })
  const packet = new Packet(ports.pool).at(ports.pool.alloc())
  packet.meta = Opcode.WriteOnly
  expect(subject.route(1, packet)).toBe(1)
  expect(subject.admit(2, packet, 1, 3)).toBe(2)
  subject.dequeued(3, packet, 3, 2)
  expect(calls).toEqual([
    ["route", 1, packet],
    ["admit", 2, packet, 1, 3],
    ["stamp", 3, packet, 3, 0, 700],
    ["dequeued", 3, packet, 3, 2],
  ])
  expect([subject.dequeue, subject.perPacket]).toEqual(["lazy", true])
  // The kernel passes no packet by without asking.
  expect(left).toEqual([
    [1, -1, -1],
    [3, -1, -1],
  ])
})

it("is eager where it is told to", () => {
  const { ports } = lentPorts(1)
  const stamper = { stamp: () => {} }
  const subject = new PintSwitch({ inner: inner([]), ports, portIds: [], stamper, dequeue: "eager" })
  expect(subject.dequeue).toBe("eager")
})

switchSuite({
  name: "a lossless shared-buffer switch with PINT",
  make: (setup) => {
    const { ports, portIds, rateBps } = setup
    const rates = new Array<number>(Math.max(...portIds) + 1).fill(rateBps)
    const stamper = new PintStamper({ rateBps: rates, baseRttPs: 8e6, codec: new PintCodec(1.05), seed: 1 })
    return new PintSwitch({ inner: sharedBufferSwitch(true)(setup), ports, portIds, stamper })
  },
})
