import { PSN_MASK } from "@rdmakit/packet"
import { hash32 } from "@rdmakit/units"
import { describe, expect, it } from "vitest"
import { Messages } from "../src/Messages.ts"
import type { ReceivedPackets } from "../src/ReceivedPackets.ts"
import { connect } from "./connection.ts"

describe("messages", () => {
  it("are cut into packets of the MTU, the last as long as is left; none is a packet too", () => {
    const messages = new Messages(1000)
    for (const bytes of [2500, 0, 1000]) messages.add(bytes, bytes)
    const packets: Array<readonly [tag: number, bytes: number]> = []
    while (messages.unsent > 0) {
      const tag = messages.sending
      packets.push([tag, messages.nextBytes(tag)])
      messages.sent(tag)
    }
    expect(packets).toEqual([
      [0, 1000],
      [0, 1000],
      [0, 500],
      [1, 0],
      [2, 1000],
    ])
  })

  it.each([1, 2, 3])("end each once, in any order, 2,000 of them while few are open: seed %i", (seed) => {
    const messages = new Messages(1000)
    const flying: Array<readonly [tag: number, bytes: number]> = []
    const ended: Array<number> = []
    let given = 0
    for (let step = 0; ended.length < 2000; step++) {
      if (given < 2000 && messages.open < 20) messages.add(given, (given++ * 700) % 5000)
      if (messages.unsent > 0 && step % 2 === 0) {
        const tag = messages.sending
        flying.push([tag, messages.nextBytes(tag)])
        messages.sent(tag)
      }
      if (flying.length === 0 || hash32(seed, 0, step) % 3 > 0) continue
      const [[tag, bytes]] = flying.splice(hash32(seed, 1, step) % flying.length, 1) as [readonly [number, number]]
      const message = messages.delivered(tag, bytes)
      if (message === undefined) continue
      expect(message.bytesLeft).toBe(0)
      expect(message.id).toBe(tag)
      ended.push(message.id)
    }
    expect([messages.open, messages.unsent, flying.length]).toEqual([0, 0, 0])
    expect(ended.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 2000 }, (_, id) => id))
    expect(ended).not.toEqual(ended.toSorted((a, b) => a - b))
  })
})

it("numbers of packets pass 2^24, and what is lost there is sent again", () => {
  const first = 2 ** 24 - 100
  const { pair, ends } = connect({
    path: ({ from, ordinal }) => (hash32(1, from, ordinal) % 10 === 0 ? [] : [10e6]),
  })
  ends[0].packets.oldest = first
  ends[0].packets.newest = first
  const { received } = ends[1].receiver as unknown as { readonly received: ReceivedPackets }
  for (let number = 0; number < first; number++) received.add(number)
  pair.command(0, { message: 0, writeBytes: 300_000 })
  pair.run()
  expect(pair.events.map(({ event }) => event.type)).toEqual(["completed"])
  expect(ends[1].bytesReceived).toBe(300_000)
  expect([ends[0].packets.oldest, received.expected]).toEqual([first + 300, first + 300])
  const psns = pair.sent.filter(({ from }) => from === 0).map(({ psn }) => psn)
  expect([Math.min(...psns), Math.max(...psns)]).toEqual([0, PSN_MASK])
})
