import { uniform } from "@rdmakit/units"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { connection, FLIGHT, losing, type Setup } from "./connection.ts"

const TIMEOUT = 100e6

const run = (sizes: ReadonlyArray<number>, { config, ...setup }: Setup) => {
  const each = connection({ ...setup, config: { recovery: "go-back-0", ackTimeoutPs: TIMEOUT, ...config } })
  each.write(...sizes)
  each.pair.run()
  const sent = each.said().filter((words) => words.startsWith(">"))
  return { ...each, numbers: sent.map((words) => words.replace(/^> \w+ (\d+) \d+ B/, "$1")) }
}

describe("go-back-0", () => {
  it("sends a message again from its first packet", () => {
    const { numbers, said, told, responder } = run([6000], { path: losing("> WriteMiddle 3 1000 B") })
    // The NAK is back while packet 5 leaves.
    expect(numbers.slice(0, 6)).toEqual(["0", "1", "2", "3", "4", "5"])
    expect(numbers.slice(6)).toEqual(["0", "1", "2", "3", "4", "5"].map((number) => `${number} again`))
    expect(said().filter((words) => words.includes("Nak"))).toEqual(["< NakSequence 0"])
    expect(told()).toEqual(["completed 0"])
    expect(responder.bytesReceived).toBe(6000)
  })

  it("leaves messages that are complete alone", () => {
    const { numbers, said, told } = run([2000, 3000], { path: losing("> WriteMiddle 3 1000 B") })
    expect(numbers.filter((number) => number.endsWith("again"))).toEqual(["2 again", "3 again", "4 again"])
    expect(said()).toContain("< NakSequence 2")
    expect(told()).toEqual(["completed 0", "completed 1"])
  })

  it("takes a message as several of restartBytes", () => {
    const { numbers, said, told } = run([6000], {
      config: { restartBytes: 2000 },
      path: losing("> WriteMiddle 3 1000 B"),
    })
    expect(numbers.filter((number) => number.endsWith("again"))[0]).toBe("2 again")
    expect(said()).toContain("< NakSequence 2")
    expect(told()).toEqual(["completed 0"])
  })

  it("begins again after a timeout too: what was acknowledged of the message, the receiver may have forgotten", () => {
    const { numbers, told, requester } = run([3000], {
      path: losing("> WriteMiddle 1 1000 B", "< NakSequence 0"),
    })
    expect(numbers).toEqual(["0", "1", "2", "0 again", "1 again", "2 again"])
    expect(told()).toEqual(["completed 0"])
    expect(requester.bytesAcknowledged).toBe(3000)
  })

  it("counts as acknowledged what no loss can bring back", () => {
    const acknowledged: Array<number> = []
    const setup: Setup = { config: { restartBytes: 2000 }, path: losing("> WriteMiddle 3 1000 B") }
    const each = connection({
      ...setup,
      config: { recovery: "go-back-0", ...setup.config },
      onArrival: () => acknowledged.push(each.requester.bytesAcknowledged),
    })
    each.write(6000)
    each.pair.run()
    expect([...new Set(acknowledged)]).toEqual([0, 2000, 4000])
    expect(each.requester.bytesAcknowledged).toBe(6000)
  })

  it("never ends a message of 1,000 packets when one packet in 100 is lost", () => {
    // 0.99 ^ 1000 is 4 in 100,000.
    let draws = 0
    const each = connection({
      config: { recovery: "go-back-0", ackTimeoutPs: TIMEOUT },
      path: ({ from }) => (from === 0 && uniform(7, 0, draws++) < 0.01 ? [] : [FLIGHT]),
    })
    each.write(1_000_000)
    each.pair.run(50e9)
    // 50 ms are 47 times what the message takes: the line was never idle for long, and nothing came of it.
    expect(each.pair.sent.filter(({ from }) => from === 0).length).toBeGreaterThan(40_000)
    expect([each.told(), each.requester.bytesAcknowledged]).toEqual([[], 0])
  })
})

it("go-back-0: whatever is lost, duplicated or overtaken, each message ends, once, in order", () => {
  const network = fc.record({
    seed: fc.integer(),
    loss: fc.constantFrom(0, 0.01, 0.1),
    duplicate: fc.constantFrom(0, 0.1),
    jitter: fc.constantFrom(0, 1, 3),
  })
  const sizes = fc.array(fc.constantFrom(0, 1, 100, 101, 350), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(network, sizes, fc.constantFrom(undefined, 200), fc.constantFrom(150, Infinity), (...given) => {
      const [{ seed, loss, duplicate, jitter }, messages, restartBytes, window] = given
      let draws = 0
      const draw = (): number => uniform(seed, 0, draws++)
      const delay = (): number => FLIGHT + Math.floor(draw() * jitter * 100e3)
      const { pair, requester, responder, write, told } = connection({
        config: {
          mtuBytes: 100,
          recovery: "go-back-0",
          ackTimeoutPs: TIMEOUT,
          retryCount: 1000,
          ...(restartBytes === undefined ? {} : { restartBytes }),
        },
        fixed: { window },
        path: () => (draw() < loss ? [] : draw() < duplicate ? [delay(), delay()] : [delay()]),
      })
      write(...messages)
      pair.run()
      const total = messages.reduce<number>((sum, size) => sum + size, 0)
      expect([responder.bytesReceived, requester.bytesAcknowledged, requester.finished]).toEqual([total, total, true])
      expect(told()).toEqual(messages.map((_, message) => `completed ${message}`))
    }),
    { numRuns: 100 },
  )
})
