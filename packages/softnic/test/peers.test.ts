import { Route } from "@rdmakit/codec"
import { NEVER } from "@rdmakit/protocol"
import { mappedGid } from "@rdmakit/wire/address"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { AddressTable, wordAt } from "../src/AddressTable.ts"
import type { KeptPacket, Link, LinkPath } from "../src/Link.ts"
import { type Neighbor, Neighbors } from "../src/Neighbors.ts"
import { IDLE_MAX, Peers } from "../src/Peers.ts"

const OURS = mappedGid(0x0a00_0002)
const gidOf = (number: number): Uint8Array => mappedGid(0x0a01_0000 + number)
const source = { index: 0, gid: OURS, type: "rocev2" } as const
const words = (address: Uint8Array) =>
  [wordAt(address, 0), wordAt(address, 4), wordAt(address, 8), wordAt(address, 12)] as const

describe("a table of addresses", () => {
  it("finds what is in it, whatever was taken out before", () => {
    const step = fc.record({ address: fc.nat(80), adds: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const table = new AddressTable(40)
        const model = new Map<number, number>()
        for (const { address, adds } of steps) {
          const known = model.get(address)
          if (adds) {
            const number = table.add(gidOf(address))
            if (known !== undefined) expect(number).toBe(known)
            else if (model.size === 40) expect(number).toBe(-1)
            else {
              expect([...model.values()]).not.toContain(number)
              expect(number).toBeLessThan(40)
              model.set(address, number)
            }
          } else if (known !== undefined) {
            table.remove(known)
            model.delete(address)
          }
        }
        for (let address = 0; address <= 80; address++)
          expect(table.find(...words(gidOf(address)))).toBe(model.get(address) ?? -1)
      }),
      { numRuns: 200 },
    )
  })
})

describe("peers", () => {
  const made = (limit: number, path: Link["path"] = (from, destination) => pathOf(from.gid, destination)) => {
    const forgotten: Array<LinkPath> = []
    const gone: Array<number> = []
    const link = { gids: [source], path, forget: (which: LinkPath) => forgotten.push(which) } as unknown as Link
    const peers = new Peers(link, limit, (peer) => gone.push(peer))
    const pass = (number: number) => {
      const flow = peers.hold(source, gidOf(number))!
      peers.release(flow.peer)
      return flow.peer
    }
    return { peers, forgotten, gone, pass }
  }
  const pathOf = (from: Uint8Array, destination: Uint8Array): LinkPath => ({
    route: new Route({ source: from, destination }),
    neighbor: 0,
  })

  it("that nothing holds are kept up to a bound, and those that are held for as long as they are", () => {
    const { peers, forgotten, gone, pass } = made(65_280)
    const held = peers.hold(source, gidOf(0))!
    const path = peers.paths[held.number]
    for (let number = 1; number <= 70_000; number++) pass(number)
    expect(gone.length).toBe(70_000 - IDLE_MAX)
    expect(forgotten.length).toBe(gone.length)
    expect(gone).not.toContain(held.peer)
    expect(peers.paths[held.number]).toBe(path)
    expect(peers.paths.length).toBeLessThanOrEqual(IDLE_MAX + 2)
    expect(peers.heard(...words(gidOf(0)))).toBe(held.peer)
    expect(peers.heard(...words(gidOf(1)))).toBe(-1)
    expect(peers.heard(...words(gidOf(70_000)))).toBeGreaterThan(0)
  })

  it("are refused when all numbers are held, and only then", () => {
    const { peers, gone, pass } = made(3)
    const flows = [peers.hold(source, gidOf(0))!, peers.hold(source, gidOf(1))!]
    const stranger = pass(2)
    flows.push(peers.hold(source, gidOf(3))!)
    expect(gone).toEqual([stranger])
    expect(flows[2]!.peer).toBe(stranger)
    expect(peers.hold(source, gidOf(4))).toBeUndefined()
    // Held twice, it is let go with the second release.
    peers.hold(source, gidOf(1))
    peers.release(flows[1]!.peer)
    expect(peers.hold(source, gidOf(4))).toBeUndefined()
    peers.release(flows[1]!.peer)
    expect(peers.hold(source, gidOf(4))?.peer).toBe(flows[1]!.peer)
  })

  it("that have sent since they were let go give way after those that have not", () => {
    const { peers, gone, pass } = made(65_280)
    const numbers = Array.from({ length: IDLE_MAX }, (_, number) => pass(number))
    peers.heard(...words(gidOf(0)))
    pass(IDLE_MAX)
    expect(gone).toEqual([numbers[1]])
  })

  it("that nobody can be keep no number", () => {
    const { peers } = made(2, () => undefined)
    for (let number = 0; number < 5; number++) expect(peers.hold(source, gidOf(number))).toBeUndefined()
    expect(peers.paths.filter((path) => path !== undefined)).toEqual([])
  })
})

describe("neighbours", () => {
  const made = () => {
    const asked: Array<Neighbor> = []
    const dropped: Array<number> = []
    const neighbors = new Neighbors(
      {
        ask: (_, neighbor) => asked.push(neighbor),
        send: () => {},
        drop: ({ handle }) => dropped.push(handle),
      },
      65_280,
    )
    const add = (number: number) => {
      const neighbor = neighbors.add(gidOf(number), OURS)
      const route = new Route({ source: OURS, destination: gidOf(number) })
      neighbors.all[neighbor]!.routes.add(route)
      return { neighbor, route }
    }
    const run = () => {
      while (neighbors.nextTimer !== NEVER) neighbors.handleTimer(neighbors.nextTimer)
    }
    return { neighbors, asked, dropped, add, run }
  }
  const packet = (handle: number): KeptPacket => ({ handle, octets: new Uint8Array(0), start: 0, end: 0 })

  it("that nothing holds are asked for once more at most, but for a few", () => {
    const { neighbors, asked, add, run } = made()
    for (let number = 0; number < 200; number++) {
      const { neighbor } = add(number)
      neighbors.want(0, neighbor)
      neighbors.unwant(neighbor)
    }
    const held = add(200).neighbor
    neighbors.want(0, held)
    run()
    const times = neighbors.all.map((neighbor) => asked.filter((each) => each === neighbor).length)
    expect(times.slice(0, 200).filter((count) => count > 2).length).toBe(16)
    expect(Math.max(...times)).toBe(30)
    expect(times[held]).toBe(30)
  })

  it("that nothing holds give up their packets where one that is held has some", () => {
    const { neighbors, dropped, add } = made()
    for (let number = 0; number < 16; number++) {
      const { neighbor } = add(number)
      neighbors.want(0, neighbor)
      for (let count = 0; count < 64; count++) neighbors.hold(0, neighbor, packet(number))
      if (number !== 3) continue
      neighbors.unwant(neighbor)
    }
    const { neighbor } = add(16)
    neighbors.want(0, neighbor)
    neighbors.hold(0, neighbor, packet(16))
    expect(dropped).toEqual(Array(64).fill(3))
    for (let count = 1; count < 64; count++) neighbors.hold(0, neighbor, packet(16))
    const last = add(17).neighbor
    neighbors.want(0, last)
    neighbors.hold(0, last, packet(17))
    expect(dropped.slice(64)).toEqual([17])
  })

  it("are gone with the last path over them, and their packets with them", () => {
    const { neighbors, dropped, add, run } = made()
    const first = add(0)
    const other = new Route({ source: OURS, destination: gidOf(9) })
    neighbors.all[first.neighbor]!.routes.add(other)
    neighbors.hold(0, first.neighbor, packet(5))
    neighbors.leave(first.neighbor, other)
    expect(dropped).toEqual([])
    neighbors.leave(first.neighbor, first.route)
    expect(dropped).toEqual([5])
    run()
    neighbors.hold(0, first.neighbor, packet(6))
    expect(dropped).toEqual([5, 6])
    const again = add(1)
    expect(again.neighbor).toBe(first.neighbor)
    expect(neighbors.all[again.neighbor]!.address).toEqual(gidOf(1))
  })
})
