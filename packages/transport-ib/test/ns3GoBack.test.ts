import { Opcode, Packet } from "@rdmakit/packet"
import { NEVER } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { connection, type FixedOptions } from "./connection.ts"

/** A sender of ten packets of 1,000 bytes, of which six are out; what it is told, and what it sends next. */
const sender = (fixed: FixedOptions, config = {}) => {
  const { pool, requester, controller } = connection({
    config: { ns3AckBytes: 1, ns3GoBack: true, ackTimeoutPs: NEVER, ...config },
    fixed,
  })
  const packet = new Packet(pool).at(pool.alloc())
  let now = 0
  const next = (): number => {
    now += 10e6
    return requester.pollTransmit(now, packet) ? packet.psn : -1
  }
  const tell = (opcode: number, psn: number): void => {
    packet.meta = opcode
    packet.psn = psn
    now += 1e6
    requester.handlePacket(now, packet)
  }
  requester.command(0, { message: 0, writeBytes: 10_000 })
  expect([next(), next(), next(), next(), next(), next()]).toEqual([0, 1, 2, 3, 4, 5])
  return { requester, controller, next, tell }
}

describe("go-back-N as the ns-3 model has it (rdma-hw.cc, ReceiveAck; rdma-queue-pair.cc, Acknowledge, IsWinBound)", () => {
  it("an acknowledgement beyond the next packet does not move it: what has come is sent again", () => {
    const { requester, controller, next, tell } = sender({})
    tell(Opcode.NakSequence, 2)
    expect([next(), next(), next()]).toEqual([2, 3, 4])
    // A second NAK of the gap, then the acknowledgements of what was sent after the first.
    tell(Opcode.NakSequence, 2)
    tell(Opcode.Acknowledge, 4)
    expect(controller.acks.at(-1)).toMatchObject({ sequence: 5000, sent: 2000 })
    expect([requester.windowBound, requester.bytesAcknowledged]).toEqual([false, 5000])
    expect([next(), next()]).toEqual([2, 3])
  })

  it("with a window the sender waits for another NAK: less than nothing is in flight", () => {
    const { requester, next, tell } = sender({ window: 8000 })
    tell(Opcode.NakSequence, 2)
    expect([next(), next(), next()]).toEqual([2, 3, 4])
    tell(Opcode.NakSequence, 2)
    tell(Opcode.Acknowledge, 4)
    expect([requester.windowBound, requester.hasData, next()]).toEqual([true, true, -1])
    tell(Opcode.NakSequence, 5)
    expect([requester.windowBound, next()]).toEqual([false, 5])
  })

  it("or for the timeout, where there is one", () => {
    const { requester, next, tell } = sender({ window: 8000 }, { ackTimeoutPs: 1e9 })
    tell(Opcode.NakSequence, 2)
    next()
    tell(Opcode.NakSequence, 2)
    tell(Opcode.Acknowledge, 3)
    expect(next()).toBe(-1)
    requester.handleTimeout(requester.nextTimeout)
    expect(next()).toBe(4)
  })

  it("a NAK of what is acknowledged by now goes back all the same", () => {
    const { next, tell } = sender({})
    tell(Opcode.Acknowledge, 3)
    tell(Opcode.NakSequence, 2)
    expect([next(), next()]).toEqual([4, 5])
  })
})
