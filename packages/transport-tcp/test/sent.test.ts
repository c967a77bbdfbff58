import { Ecn, Flag, Opcode } from "@rdmakit/packet"
import type { ControllerFactory } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { connect, fixedWindow } from "./connection.ts"

it("tells its controller of payload alone: a message's bytes, whatever the headers of its packets", () => {
  const sent: Array<number> = []
  const { pair } = connect({ options: { controller: fixedWindow(20_000, [], sent) } })
  pair.command(0, { message: 0, writeBytes: 2300 })
  pair.run()
  expect(sent).toEqual([1000, 1000, 300])
})

it.each([1, 8])("keeps to a window that falls as a segment leaves (RFC 5681 §4.1), bursts of %i", (offloadSegments) => {
  const controller: ControllerFactory = {
    ...fixedWindow(20_000),
    make: (now, path) => {
      const made = { ...fixedWindow(20_000).make(now, path), window: 20_000 }
      made.onSent = () => {
        made.window = 3000
      }
      return made
    },
  }
  const { pair } = connect({ options: { controller, offloadSegments } })
  pair.command(0, { message: 0, writeBytes: 20_000 })
  pair.run()
  const answeredAt = pair.sent.find(({ opcode }) => opcode === Opcode.Acknowledge)!.time
  const first = pair.sent.filter(({ opcode, time }) => opcode < Opcode.Acknowledge && time <= answeredAt)
  expect(first.length).toBe(3)
})

it("sends segments as ECN-capable once, and their retransmissions as not (RFC 3168 §6.1.5)", () => {
  const { pair } = connect({
    options: { ecn: Ecn.Capable0 },
    path: ({ opcode, psn, meta }) =>
      opcode < Opcode.Acknowledge && psn === 1 && (meta & Flag.Retransmission) === 0 ? [] : [10e6],
  })
  pair.command(0, { message: 0, writeBytes: 9000 })
  pair.run()
  const data = pair.sent.filter(({ opcode }) => opcode < Opcode.Acknowledge)
  const again = data.filter(({ meta }) => (meta & Flag.Retransmission) !== 0)
  expect(again.length).toBeGreaterThan(0)
  for (const { meta } of data) {
    expect((meta >>> 28) & 3).toBe((meta & Flag.Retransmission) === 0 ? Ecn.Capable0 : Ecn.NotCapable)
  }
})
