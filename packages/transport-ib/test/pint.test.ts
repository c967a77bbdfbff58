import { expect, it } from "vitest"
import { ns3Framing, rcConfig, rocev2Framing } from "../src/index.ts"
import { connection, fixedController } from "./connection.ts"

it("an acknowledgement brings back the digest of the packet it answers", () => {
  const { pair, pool, write, controller } = connection({
    onWay: (packet, { from, psn }) => {
      // The second packet meets no switch that stamps.
      if (from === 0 && psn !== 1) packet.pint = 100 + psn
    },
  })
  write(3000)
  pair.run()
  expect(controller.acks.map(({ pint, hops }) => [pint, hops])).toEqual([
    [100, 0],
    [-1, 0],
    [102, 0],
  ])
  expect(pool.alive).toBe(0)
})

it("a digest takes two bytes of each packet", () => {
  expect(rcConfig({ controller: fixedController({ needs: ["pint"] }) }).framing).toEqual(rocev2Framing("pint", 5))
  expect(rocev2Framing("pint", 5)).toMatchObject({ telemetryBytes: 2, ackBytes: 88 })
  // 14 + 20 + 12 + 2 is below the least of 60.
  expect(ns3Framing("pint")).toMatchObject({ telemetryBytes: 2, ackBytes: 60 })
})
