import { NEVER, type VerbsEngine } from "@rdmakit/protocol"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { gidOf, groupMac, isGroup, linkLocalGid, parsePortAddress, sameNetwork } from "../src/Address.ts"
import { AddressTable, wordAt } from "../src/AddressTable.ts"
import { HeldAck } from "../src/HeldAck.ts"
import type { LinkPath } from "../src/Link.ts"
import { type Slot, Turns } from "../src/Turns.ts"
import { hex, textOf } from "./tap.ts"

describe("held acknowledgements", () => {
  const path = {} as LinkPath
  const nothing = new Uint8Array(0)
  /** One question, acknowledged and answered; whether the acknowledgement waits. */
  const turn = (held: HeldAck, now = 0): boolean => {
    held.acknowledges()
    held.keep(now, path, 1, nothing, 0, 0)
    const waits = held.waits()
    if (!waits) held.handle = -1
    held.answers()
    return waits
  }
  const turns = (held: HeldAck, count: number): ReadonlyArray<boolean> =>
    Array.from({ length: count }, () => turn(held))

  it("wait when sixteen questions had their answers, until eight are one", () => {
    const held = new HeldAck()
    expect(turns(held, 15)).toEqual(new Array(15).fill(false))
    const eight = [true, true, true, true, true, true, true, false]
    expect(turns(held, 16)).toEqual([...eight, ...eight])
  })

  it("do not wait where several come without an answer", () => {
    const held = new HeldAck()
    turns(held, 20)
    held.handle = -1
    held.acknowledges()
    held.acknowledges()
    held.keep(0, path, 1, nothing, 0, 0)
    expect(held.waits()).toBe(false)
    expect(turns(held, 15)).toEqual(new Array(15).fill(false))
  })

  it("wait the more rarely the more often it was in vain, and as before when it went well", () => {
    const held = new HeldAck()
    const untilWaiting = (): number => {
      for (let count = 1; ; count++) if (turn(held)) return count
    }
    expect(untilWaiting()).toBe(16)
    const needed = [32, 64, 128, 256, 512, 1024, 1024]
    for (const count of needed) {
      expect(held.isOver(1e9)).toBe(true)
      held.handle = -1
      expect(untilWaiting()).toBe(count)
    }
    expect(turns(held, 7)).toEqual([true, true, true, true, true, true, false])
    expect(held.isOver(1e9)).toBe(true)
    held.handle = -1
    expect(untilWaiting()).toBe(1024)
  })

  it("wait a millisecond for the next, and two for all, which is not in vain", () => {
    const held = new HeldAck()
    turns(held, 16)
    expect([held.isOver(0.9e9), turn(held, 0.9e9)]).toEqual([false, true])
    expect([held.isOver(1.8e9), turn(held, 1.8e9)]).toEqual([false, true])
    expect([held.isOver(1.9e9), held.isOver(2e9)]).toEqual([false, true])
    held.handle = -1
    expect(turn(held, 2e9)).toBe(true)
    expect([held.isOver(2.9e9), held.isOver(3e9)]).toEqual([false, true])
    held.handle = -1
    expect(turn(held, 3e9)).toBe(false)
  })
})

describe("turns", () => {
  const engine = (): VerbsEngine => ({}) as VerbsEngine

  it("are taken in the order they were asked for, once each, and not by who has gone", () => {
    const all = new Turns()
    const [a, b, c] = [engine(), engine(), engine()].map((each) => all.slotOf(each)) as [Slot, Slot, Slot]
    for (const slot of [b, a, b, c]) all.queue(slot)
    all.remove(a.engine)
    expect([all.take(), all.take(), all.take()]).toEqual([b, c, undefined])
    all.queue(b)
    all.queue(a)
    expect([all.take(), all.take(), all.waiting]).toEqual([b, undefined, 0])
  })

  it("wake engines in the order of their times", () => {
    const moves = fc.array(fc.tuple(fc.nat(9), fc.oneof(fc.nat(1000), fc.constant(-1), fc.constant(NEVER))), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(moves, (list) => {
        const all = new Turns()
        const engines = Array.from({ length: 10 }, engine)
        const wakes = new Map<VerbsEngine, number>()
        for (const [index, time] of list) {
          const each = engines[index]!
          if (time === -1) {
            all.remove(each)
            wakes.delete(each)
            continue
          }
          all.wakeAt(all.slotOf(each), time)
          if (time < (wakes.get(each) ?? NEVER)) wakes.set(each, time)
        }
        expect(all.nextWake).toBe(Math.min(NEVER, ...wakes.values()))
        const woken: Array<number> = []
        for (let slot = all.takeDue(1000); slot !== undefined; slot = all.takeDue(1000)) {
          woken.push(wakes.get(slot.engine)!)
          wakes.delete(slot.engine)
        }
        expect(woken).toEqual([...woken].sort((a, b) => a - b))
        expect([...wakes.values()].filter((time) => time <= 1000)).toEqual([])
        expect(all.nextWake).toBe(NEVER)
      }),
    )
  })
})

describe("addresses", () => {
  it("have numbers in the order they were added, up to a limit", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ minLength: 16, maxLength: 16 }), { maxLength: 300 }), (list) => {
        const table = new AddressTable(200)
        const known: Array<string> = []
        for (const address of list) {
          const text = textOf(address)
          if (!known.includes(text) && known.length < 200) known.push(text)
          expect(table.add(address)).toBe(known.indexOf(text))
        }
        for (const address of list) {
          const words = [0, 4, 8, 12].map((at) => wordAt(address, at)) as [number, number, number, number]
          expect(table.find(...words)).toBe(known.indexOf(textOf(address)))
        }
        expect(table.find(1, 2, 3, 4)).toBe(-1)
      }),
      { numRuns: 30 },
    )
  })

  it("are read from words, with the length of their network", () => {
    const { gid, prefixBits } = parsePortAddress("10.0.0.2/24")
    expect([textOf(gid), prefixBits]).toEqual(["00000000000000000000ffff0a000002", 120])
    expect(parsePortAddress("fd00::2").prefixBits).toBe(128)
    expect(textOf(gidOf("fe80::1%eth0")!)).toBe("fe800000000000000000000000000001")
    for (const text of ["", "10.0.0.2/", "10.0.0.2/x", "10.0.0.2/33", "fd00::/129", "host", "10.0.0/8"])
      expect(() => parsePortAddress(text)).toThrow("addresses")
    expect(textOf(linkLocalGid(0x5254_0000_0001))).toBe("fe80000000000000505400fffe000001")
  })

  it("are on one network by their first bits", () => {
    const [a, b] = [gidOf("10.0.3.1")!, gidOf("10.0.2.1")!]
    expect([119, 120, 121].map((bits) => sameNetwork(a, b, bits))).toEqual([true, false, false])
    expect(sameNetwork(a, a, 128)).toBe(true)
    expect(sameNetwork(a, b, 0)).toBe(true)
  })

  it("of groups have MACs (RFC 1112 §6.4, RFC 2464 §7)", () => {
    expect(groupMac(gidOf("239.129.2.3")!)).toBe(0x0100_5e01_0203)
    expect(groupMac(hex("ff0e0000000000000000000000abcdef"))).toBe(0x3333_00ab_cdef)
    expect(["224.0.0.1", "239.1.1.1", "ff02::1"].every((text) => isGroup(gidOf(text)!))).toBe(true)
    expect(["10.0.0.1", "240.0.0.1", "fd00::1"].some((text) => isGroup(gidOf(text)!))).toBe(false)
  })
})
