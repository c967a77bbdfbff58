import { Packet } from "@rdmakit/packet"
import { type SendRequest, WcStatus, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { fixedController } from "../connection.ts"
import { LOCAL_KEY } from "./memory.ts"
import { type End, remote, type Setup, sge, TIMEOUT_CODE, verbsPair, words } from "./pair.ts"

const TIMEOUT = 4.096e6 * 2 ** TIMEOUT_CODE

/** A pair whose packets a test moves by hand, as a NIC that is paused holds them back. */
const byHand = (setup: Setup = {}) => {
  const { ends, pool, memories } = verbsPair(setup)
  const packet = new Packet(pool)
  /** The next packet of an end in words, handed to the other unless it is lost; undefined: there is none. */
  const move = (from: End, now = 0, lost = false): string | undefined => {
    packet.at(pool.alloc())
    const sent = ends[from].pollTransmit(now, packet)
    const said = sent ? words({ from, opcode: packet.opcode, psn: packet.psn }) : undefined
    if (sent && !lost) ends[from === 0 ? 1 : 0].handlePacket(now, packet)
    pool.release(packet.handle)
    return said
  }
  let id = 0
  const send = (request: Partial<SendRequest>): number => {
    const whole = { id: ++id, opcode: WrOpcode.RdmaWrite, sges: [], signaled: true, ...remote(0), ...request }
    ends[0].command(0, { type: "send", request: whole })
    return id
  }
  const completed = (): ReadonlyArray<string> => {
    const all: Array<string> = []
    for (let event = ends[0].pollEvent(); event !== undefined; event = ends[0].pollEvent()) {
      if (event.type === "completion") all.push(`${event.completion.id} ${event.completion.status}`)
    }
    return all
  }
  return { ends, memories, move, send, completed }
}

describe("while a NIC holds packets back", () => {
  it("a NAK that has not left is forgotten when the packet comes that it asks for", () => {
    const { ends, move, send } = byHand()
    send({ sges: [sge(0, 600)] })
    expect(move(0, 0, true)).toBe("> WRITE_FIRST 100")
    move(0)
    expect(ends[1].controlPending).toBe(true)
    ends[0].handleTimeout(TIMEOUT)
    expect(move(0, TIMEOUT)).toBe("> WRITE_FIRST 100")
    expect(ends[1].controlPending).toBe(false)
  })

  it("one acknowledgement stands for several", () => {
    const { move, send, completed } = byHand()
    for (let at = 0; at < 3; at++) send({})
    for (let at = 0; at < 3; at++) move(0)
    expect([move(1), move(1)]).toEqual(["< ACK 102", undefined])
    expect(completed()).toEqual(["1 0", "2 0", "3 0"])
  })

  it("what was to be sent again and is acknowledged after all is not sent", () => {
    const { ends, move, send, completed } = byHand()
    send({ sges: [sge(0, 300)] })
    move(0)
    move(0)
    ends[0].handleTimeout(TIMEOUT)
    expect(ends[0].hasData).toBe(true)
    move(1, TIMEOUT)
    expect(completed()).toEqual(["1 0"])
    expect([ends[0].hasData, move(0, TIMEOUT), ends[0].nextTimeout]).toEqual([
      false,
      undefined,
      Number.POSITIVE_INFINITY,
    ])
  })

  it("local work that waits behind a READ is carried out when its answer overtakes its retransmission", () => {
    const { ends, memories, move, send, completed } = byHand()
    memories[0].regions.set(0x300, {
      address: 0,
      length: 1,
      access: 0,
      remote: true,
      window: true,
      valid: true,
      domain: 1,
    })
    send({ opcode: WrOpcode.RdmaRead, sges: [sge(0, 8, LOCAL_KEY)] })
    send({ opcode: WrOpcode.LocalInv, invalidateKey: 0x300, fence: true })
    send({})
    expect(move(0)).toBe("> READ_REQUEST 100")
    ends[0].handleTimeout(TIMEOUT)
    expect(move(1, TIMEOUT)).toBe("< READ_RESPONSE_ONLY 100")
    expect(move(0, TIMEOUT)).toBe("> WRITE_ONLY 101")
    move(1, TIMEOUT)
    expect(completed()).toEqual(["1 0", "2 0", "3 0"])
  })

  it("a NAK that comes twice is acted on once", () => {
    const { completions, send, pair } = verbsPair({
      options: { controller: fixedController({ rate: 1e8 }), ackEvery: 64 },
      settings: { retryCount: 1 },
      path: ({ from, psn }) => {
        if (from === 1 && psn === 0x100) return [1e6, 1e6, 1e6]
        return from === 0 && psn === 0x100 && pair.sent.length === 1 ? [] : [1e6]
      },
    })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 600)], ...remote(0) })
    pair.run()
    expect(completions(0, "send").map(({ status }) => status)).toEqual([WcStatus.Success])
  })

  it("responses of READs and the end's own requests take turns", () => {
    const { ends, move, send } = byHand()
    ends[1].command(0, {
      type: "send",
      request: { id: 1, opcode: WrOpcode.RdmaRead, sges: [sge(0, 1024)], signaled: true, ...remote(0) },
    })
    move(1)
    send({ sges: [sge(0, 1024)] })
    const said = Array.from({ length: 4 }, () => move(0)?.split(" ")[1])
    expect(said).toEqual(["READ_RESPONSE_FIRST", "WRITE_FIRST", "READ_RESPONSE_MIDDLE", "WRITE_MIDDLE"])
  })
})
