import { EnginePair } from "@rdmakit/conformance"
import { PacketPool } from "@rdmakit/packet"
import type { ControllerFactory } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { endsOf, fixedWindow } from "./connection.ts"

it("acknowledgements bring back the telemetry of the last segment they answer, and none is left over", () => {
  const told: Array<readonly [number, number, number]> = []
  const inner = fixedWindow(4000)
  const controller: ControllerFactory = {
    ...inner,
    needs: ["int"],
    make: (now, path) => ({
      ...inner.make(now, path),
      onAck: (_now, { hops, pathId, telemetry }) => {
        told.push([hops, pathId, telemetry[1]!])
        return false
      },
    }),
  }
  const pool = new PacketPool({ telemetryHops: 1, telemetryRates: [10e9] })
  const pair = new EnginePair({
    pool,
    ends: endsOf(0, { controller, ackEvery: 2, quickAcks: 0 }),
    path: ({ from, ordinal }) => (from === 0 && ordinal === 6 ? [] : [10e6]),
    onWay: (packet, { from, psn }) => {
      if (from === 0) packet.stampHop(1000 * psn, 100 * psn, 0, 0, 7)
    },
  })
  pair.command(0, { message: 0, writeBytes: 12_000 })
  pair.run()
  expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
  expect(told.slice(0, 2)).toEqual([
    [1, 7, 100],
    [1, 7, 300],
  ])
  expect(told.at(-1)).toEqual([1, 7, 1100])
  expect(pool.alive).toBe(0)
})
