import { SwitchBench } from "@rdmakit/conformance"
import { Drop, type Switch } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { sharedBufferSwitch } from "../examples/incast.ts"
import { checkedSwitch, PintSwitch, SharedBufferSwitch, WatchdogSwitch } from "../src/index.ts"

const plain: Switch = {
  dequeue: "eager",
  perPacket: true,
  route: () => 3,
  admit: () => 7,
  dequeued: () => {},
}

it("leaves the switches of this package as they are, and what is made of them", () => {
  const bench = new SwitchBench(sharedBufferSwitch(true))
  const { ports, portIds } = bench.setup
  const stamper = { stamp: () => {} }
  const own = bench.subject
  const pint = (inner: Switch) => new PintSwitch({ inner, ports, portIds, stamper })
  expect(own).toBeInstanceOf(SharedBufferSwitch)
  for (const each of [own, pint(own), pint(pint(own))]) expect(checkedSwitch(each, 9, portIds)).toBe(each)
  class Subclass extends PintSwitch {}
  const others = [
    plain,
    pint(plain),
    new Subclass({ inner: own, ports, portIds, stamper }),
    new WatchdogSwitch({ inner: plain, ports, portIds, dropping: new Uint8Array(64) }),
  ]
  for (const each of others) {
    const checked = checkedSwitch(each, 9, portIds)
    expect(checked).not.toBe(each)
    expect([checked.dequeue, checked.perPacket]).toEqual([each.dequeue, each.perPacket])
  }
})

it("hands on what another one says of its ports, its queues and drops, and refuses all else", () => {
  const bench = new SwitchBench(sharedBufferSwitch(true))
  const packet = bench.make(4, bench.setup.hosts[0]!, 1000, 3)
  const said: Array<unknown> = []
  let answer: unknown
  const say = (what: string, args: ReadonlyArray<unknown>): unknown => {
    said.push([what, ...args])
    return answer
  }
  const inner = {
    ...plain,
    route: (...args: ReadonlyArray<unknown>) => say("route", args),
    admit: (...args: ReadonlyArray<unknown>) => say("admit", args),
    dequeued: (...args: ReadonlyArray<unknown>) => say("dequeued", args),
  } as Switch
  const subject = checkedSwitch(inner, 9, [3, 5, 7, 11, 13, 17, 19, 23, 29])
  const route = (way: unknown) => {
    answer = way
    return subject.route(5, packet)
  }
  const admit = (queue: unknown) => {
    answer = queue
    return subject.admit(6, packet, 3, 5)
  }
  for (const way of [3, 29, Drop.NoRoute, -31]) expect(route(way)).toBe(way)
  for (const queue of [0, 7, Drop.EgressFull, -31]) expect(admit(queue)).toBe(queue)
  subject.dequeued(7, packet, 5, 2)
  expect(said[0]).toEqual(["route", 5, packet])
  expect(said[4]).toEqual(["admit", 6, packet, 3, 5])
  expect(said.at(-1)).toEqual(["dequeued", 7, packet, 5, 2])
  const fault = { _tag: "SwitchFault", node: 9, time: 5 }
  for (const wrong of [0, 4, 3.5, Number.NaN, undefined, "3", null, -32, -0.5, Number.NEGATIVE_INFINITY]) {
    expect(() => route(wrong)).toThrow(expect.objectContaining(fault))
  }
  expect(() => route(4)).toThrow(
    /^switch 9, at 0.000005 us: its route gave 4 for a packet from host \d+ to host \d+, expected one of its ports \(3, 5, 7, 11, 13, 17, 19, 23, …\), or a Drop, -1 to -31$/,
  )
  for (const wrong of [8, 0.5, Number.NaN, undefined, "3", null, -32, 2 ** 32]) {
    expect(() => admit(wrong)).toThrow(expect.objectContaining({ ...fault, time: 6 }))
  }
})
