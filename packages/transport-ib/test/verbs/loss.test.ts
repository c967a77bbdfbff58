import { Layout } from "@rdmakit/packet"
import { NEVER, QpState, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { BASE } from "./memory.ts"
import { remote, type Setup, sge, TIMEOUT_CODE, verbsPair, words } from "./pair.ts"

const TIMEOUT = 4.096e6 * 2 ** TIMEOUT_CODE
const FLIGHT = 1e6

/** Loses the given packets, each as often as it is named. */
const losing = (...packets: ReadonlyArray<string>): NonNullable<Setup["path"]> => {
  const left = [...packets]
  return (crossing) => {
    const index = left.indexOf(words(crossing))
    if (index < 0) return [FLIGHT]
    left.splice(index, 1)
    return []
  }
}
const losingAll: NonNullable<Setup["path"]> = ({ from }) => (from === 0 ? [] : [FLIGHT])

describe("what is lost on a reliable connection", () => {
  it("a lost packet is told of by one NAK, and all from it on is sent again", () => {
    const { memories, send, receive, pair, said, told } = verbsPair({ path: losing("> SEND_MIDDLE 101") })
    memories[0].paint(BASE, 1000, 1)
    receive(1, sge(2000, 1000))
    const id = send(0, { sges: [sge(0, 1000)] })
    pair.run()
    expect(said()).toEqual([
      "> SEND_FIRST 100",
      "> SEND_MIDDLE 101",
      "> SEND_MIDDLE 102",
      "> SEND_LAST 103",
      "< ACK 101",
      "> SEND_MIDDLE 101",
      "> SEND_MIDDLE 102",
      "> SEND_LAST 103",
      "< ACK 103",
    ])
    expect(told(0, "send")).toEqual([`${id} Success`])
    expect(memories[1].slice(BASE + 2000, 1000)).toEqual(memories[0].slice(BASE, 1000))
  })

  it("a lost tail, and a lost acknowledgement, are the timeout's: duplicates are acknowledged and not delivered again", () => {
    const { send, receive, pair, said, told, completions } = verbsPair({ path: losing("> SEND_ONLY 100", "< ACK 100") })
    receive(1, sge(0, 8))
    receive(1, sge(0, 8))
    const id = send(0, { sges: [sge(0, 8)] })
    pair.run()
    expect(said()).toEqual(["> SEND_ONLY 100", "> SEND_ONLY 100", "< ACK 100", "> SEND_ONLY 100", "< ACK 100"])
    expect(told(0, "send")).toEqual([`${id} Success`])
    expect(completions(1, "receive").length).toBe(1)
    expect(pair.events.at(-1)!.time).toBe(2 * TIMEOUT + 2 * FLIGHT)
  })

  it("of a READ that lost a response only the rest is asked for again", () => {
    const { memories, send, pair, said } = verbsPair({ path: losing("< READ_RESPONSE_MIDDLE 101") })
    memories[1].paint(BASE, 1000, 1)
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 1000)], ...remote(0) })
    pair.run()
    expect(said()).toEqual([
      "> READ_REQUEST 100",
      "< READ_RESPONSE_FIRST 100",
      "< READ_RESPONSE_MIDDLE 101",
      "< READ_RESPONSE_MIDDLE 102",
      "< READ_RESPONSE_LAST 103",
      "> READ_REQUEST 101",
      "< READ_RESPONSE_FIRST 101",
      "< READ_RESPONSE_MIDDLE 102",
      "< READ_RESPONSE_LAST 103",
    ])
    expect(memories[0].slice(BASE, 1000)).toEqual(memories[1].slice(BASE, 1000))
  })

  it("an atomic whose response is lost is answered again, and carried out once", () => {
    const { memories, send, pair, said } = verbsPair({ path: losing("< ATOMIC_ACK 100", "< ATOMIC_ACK 100") })
    memories[1].setNumber(BASE + 8, 40n)
    send(0, { opcode: WrOpcode.AtomicFetchAndAdd, sges: [sge(0, 8)], compareAdd: 2n, ...remote(8) })
    pair.run()
    expect(said().filter((packet) => packet === "> FAA 100").length).toBe(3)
    expect([memories[0].number(BASE), memories[1].number(BASE + 8)]).toEqual([40n, 42n])
    expect(memories[1].touches.length).toBe(1)
  })

  it("an acknowledgement beyond a READ that is not answered asks for the READ again", () => {
    const { memories, send, pair, told } = verbsPair({ path: losing("< READ_RESPONSE_ONLY 100") })
    memories[1].paint(BASE, 100, 1)
    const read = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(500, 100)], ...remote(0) })
    const write = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(3000) })
    pair.run()
    expect(told(0, "send")).toEqual([`${read} Success`, `${write} Success`])
    expect(memories[0].slice(BASE + 500, 100)).toEqual(memories[1].slice(BASE, 100))
    expect(pair.now).toBeLessThan(TIMEOUT)
  })

  it("a duplicate READ that asks for more than was asked for is dropped", () => {
    const { send, pair, inject, said } = verbsPair()
    send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 100)], ...remote(0) })
    pair.run()
    const before = said().length
    inject(1, (packet) => {
      packet.opcode = 0x0c
      packet.psn = 0x100
      const at = packet.extend()
      packet.pool.extension[at + 11] = BASE
      packet.pool.extension[at + 12] = 0x201
      packet.pool.extension[at + 13] = 200
    })
    pair.run()
    expect(said().length).toBe(before)
  })
})

describe("timeouts (case B21)", () => {
  it("a dead peer: 4.096 us * 2^n, eight times in all, then RETRY_EXC_ERR and the flush", () => {
    const { send, receive, pair, told, ends } = verbsPair({ path: losingAll })
    const received = receive(0, sge(0, 8))
    const failed = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0), signaled: false })
    const flushed = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0), signaled: false })
    pair.run()
    expect(told(0, "send")).toEqual([`${failed} RetryExcErr`, `${flushed} WrFlushErr`])
    expect(told(0, "receive")).toEqual([`${received} WrFlushErr`])
    expect(ends[0].state).toBe(QpState.Err)
    expect(pair.now).toBe(8 * TIMEOUT)
    expect(pair.sent.length).toBe(16)
  })

  it.each([
    [14, 67.108864e9],
    [18, 1_073.741824e9],
    [20, 4_294.967296e9],
  ])("code %i is %d ps", (timeout, time) => {
    const { send, pair } = verbsPair({ path: losingAll, settings: { timeout, retryCount: 0 } })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [], ...remote(0) })
    pair.run()
    expect(pair.now).toBe(time)
  })

  it("code 0 is never", () => {
    const { send, pair, ends } = verbsPair({ path: losingAll, settings: { timeout: 0 } })
    send(0, { opcode: WrOpcode.RdmaWrite, sges: [], ...remote(0) })
    pair.run()
    expect([ends[0].nextTimeout, pair.sent.length]).toEqual([NEVER, 1])
  })

  it("progress starts the count of retries anew", () => {
    const attempts = new Map<number, number>()
    const { send, pair, told } = verbsPair({
      settings: { retryCount: 2 },
      path: ({ from, psn }) => {
        const attempt = (attempts.get(psn) ?? 0) + 1
        if (from === 0) attempts.set(psn, attempt)
        return from === 0 && attempt <= 2 ? [] : [FLIGHT]
      },
    })
    for (let at = 0; at < 5; at++) send(0, { opcode: WrOpcode.RdmaWrite, sges: [], ...remote(0), fence: true })
    pair.run()
    expect(told(0, "send").length).toBe(5)
    expect(told(0, "send").every((one) => one.endsWith("Success"))).toBe(true)
  })

  it("early retransmissions come at doubling distances, and do not count: the error comes when it would without", () => {
    const { send, pair, told } = verbsPair({
      path: losingAll,
      options: { earlyRetransmissionPs: 100e6 },
      settings: { retryCount: 1 },
    })
    const id = send(0, { opcode: WrOpcode.RdmaWrite, sges: [], ...remote(0) })
    pair.run()
    expect(told(0, "send")).toEqual([`${id} RetryExcErr`])
    expect(pair.now).toBe(2 * TIMEOUT)
    expect(pair.sent.slice(0, 4).map(({ time }) => time / 1e6)).toEqual([0, 100, 300, 700])
  })
})

describe("a gap in the responses of a READ", () => {
  it("a responder that still answers what is behind it has not fallen silent", () => {
    let deaf = true
    const { send, pair, inject, told } = verbsPair({
      settings: { retryCount: 2 },
      path: ({ from }) => (deaf && from === 1 ? [] : [FLIGHT]),
    })
    const id = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 2000)], ...remote(0) })
    for (let times = 1; times <= 10; times++) {
      pair.run(times * 0.6 * TIMEOUT)
      inject(0, (packet) => {
        packet.opcode = 0x0e
        packet.psn = 0x104
      })
    }
    expect(told(0, "send")).toEqual([])
    // It was asked again once, and not for each response behind the gap.
    expect(pair.sent.filter(({ from }) => from === 0).length).toBe(2)
    deaf = false
    pair.run()
    expect(told(0, "send")).toEqual([`${id} Success`])
  })
})

it("a responder that still answers an earlier READ again has not fallen silent", () => {
  let deaf = false
  const { send, pair, inject, told } = verbsPair({
    settings: { retryCount: 2 },
    path: ({ from }) => (deaf && from === 1 ? [] : [FLIGHT]),
  })
  const first = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 2000)], ...remote(0) })
  pair.run()
  deaf = true
  const second = send(0, { opcode: WrOpcode.RdmaRead, sges: [sge(0, 2000)], ...remote(0) })
  const start = pair.now
  for (let times = 1; times <= 10; times++) {
    pair.run(start + times * 0.6 * TIMEOUT)
    inject(0, (packet) => {
      packet.opcode = 0x0e
      packet.psn = 0x104
    })
  }
  expect(told(0, "send")).toEqual([`${first} Success`])
  deaf = false
  pair.run()
  expect(told(0, "send")).toEqual([first, second].map((id) => `${id} Success`))
})

describe("receiver not ready", () => {
  it("rnr_retry 7 is for ever: a receive posted ten seconds late is still filled (case B19)", () => {
    const { send, receive, pair, told } = verbsPair({ settings: { minRnrTimer: 20, rnrRetry: 7 } })
    const id = send(0, { sges: [sge(0, 300)] })
    pair.run(10e12)
    expect(told(0, "send")).toEqual([])
    const received = receive(1, sge(0, 300))
    pair.run()
    expect(told(0, "send")).toEqual([`${id} Success`])
    expect(told(1, "receive")).toEqual([`${received} Success`])
  })

  it.each([0, 1, 3])("rnr_retry %i: so many are survived (case B19)", (rnrRetry) => {
    const { send, pair, told, said, ends } = verbsPair({ settings: { rnrRetry } })
    const id = send(0, { sges: [sge(0, 8)] })
    pair.run()
    expect(told(0, "send")).toEqual([`${id} RnrRetryExcErr`])
    expect(said().filter((packet) => packet.startsWith("<")).length).toBe(rnrRetry + 1)
    expect([ends[0].state, ends[1].state]).toEqual([QpState.Err, QpState.Rts])
  })

  it.each([
    [0, 655.36],
    [1, 0.01],
    [12, 0.64],
    [13, 0.96],
    [14, 1.28],
    [25, 61.44],
    [31, 491.52],
  ])("timer code %i is %d ms (case B20)", (minRnrTimer, milliseconds) => {
    const { send, receive, pair } = verbsPair({ settings: { minRnrTimer } })
    send(0, { sges: [sge(0, 8)] })
    pair.run(5e6)
    receive(1, sge(0, 8))
    pair.run()
    const again = pair.sent.filter(({ opcode }) => opcode === 0x04).map(({ time }) => time)
    expect(again).toEqual([0, 2e6 + milliseconds * 1e9])
  })

  it("gaps that are told of behind a packet that was not taken use up no retries", () => {
    const { send, receive, pair, inject, told } = verbsPair({ settings: { minRnrTimer: 1, retryCount: 2 } })
    const id = send(0, { sges: [sge(0, 600)] })
    for (let times = 1; times <= 10; times++) {
      // Half a microsecond after the packets were sent again.
      pair.run(times * 12e6 + 0.5e6)
      // Linux sends one for each RNR NAK, and a slow peer's comes that late.
      inject(0, (packet) => {
        packet.opcode = 0x11
        packet.psn = 0x100
        packet.pool.extension[packet.extend() + Layout.EXT.aeth] = 0x60 << 24
      })
    }
    expect(told(0, "send")).toEqual([])
    receive(1, sge(0, 600))
    pair.run()
    expect(told(0, "send")).toEqual([`${id} Success`])
  })

  it("what follows is dropped in silence, and what was in front is acknowledged", () => {
    const { send, receive, pair, said, told } = verbsPair({ settings: { minRnrTimer: 12 } })
    const first = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 300)], ...remote(0), signaled: true })
    const second = send(0, { opcode: WrOpcode.RdmaWriteWithImm, sges: [sge(0, 600)], ...remote(0) })
    const third = send(0, { opcode: WrOpcode.RdmaWrite, sges: [sge(0, 8)], ...remote(0) })
    pair.run(5e6)
    expect(said().slice(-2)).toEqual(["< ACK 101", "< ACK 104"])
    expect(told(0, "send")).toEqual([`${first} Success`])
    receive(1)
    pair.run()
    expect(said().slice(-4)).toEqual(["> WRITE_LAST_IMM 104", "> WRITE_ONLY 105", "< ACK 104", "< ACK 105"])
    expect(told(0, "send")).toEqual([first, second, third].map((id) => `${id} Success`))
  })
})

describe("end-to-end credits", () => {
  it("a requester that knows of no receive asks with one packet", () => {
    const { send, receive, pair } = verbsPair({ options: { endToEndCredits: true } })
    for (let at = 0; at < 2; at++) receive(1, sge(0, 600))
    for (let at = 0; at < 3; at++) send(0, { sges: [sge(0, 600)] })
    pair.run(20e6)
    const times = pair.sent.filter(({ from }) => from === 0).map(({ psn, time }) => `${psn - 0x100} ${time / 1e6}`)
    // The first answer tells of two receives, of which one is in use; the third message has none.
    expect(times.slice(0, 7)).toEqual(["0 0", "1 2", "2 2", "3 2", "4 2", "5 2", "6 4"])
    expect(pair.sent.filter(({ from }) => from === 1).length).toBeGreaterThan(2)
    receive(1, sge(0, 600))
    pair.run()
    expect(pair.events.filter(({ event }) => event.type === "completion").length).toBe(6)
  })
})
