import { describe, expect, test } from "vitest"
import { PingpongSettingError, type PingpongType, pingpongSettings, pingpongTypes } from "../src/index.ts"
import { checkMessage, checkPattern, fillPattern } from "../src/pingpong/Pattern.ts"
import { errorOf, failureOf, pingponged, succeeds } from "./ends.ts"

describe("pingpong", { timeout: 30_000 }, () => {
  test.each(pingpongTypes)("%s: every octet of every message is right", async (type) => {
    const { value } = await succeeds(pingponged({ type, check: true, iterations: 200 }))
    const { client, server } = value
    expect(client.bytes).toBe(2 * 200 * client.settings.bytes)
    expect(client.theirs).toEqual(server.mine)
    expect(server.theirs).toEqual(client.mine)
    expect(client.mine.length).toBe(type === "srq" ? 16 : 1)
    expect(client.elapsedPs).toBeGreaterThan(0)
  })

  test.each<PingpongType>(["rc", "srq"])("%s over a network that loses, repeats and reorders", async (type) => {
    const faults = { loss: 0.02, duplication: 0.02, reordering: 0.05 }
    const { value } = await succeeds(pingponged({ type, check: true, iterations: 100, bytes: 10_000 }, { faults }))
    expect(value.client.bytes).toBe(2_000_000)
  })

  test.each([0, 1, 1024, 1025, 1 << 20])("messages of %i bytes", async (bytes) => {
    const { value } = await succeeds(pingponged({ type: "rc", check: true, iterations: 4, bytes }))
    expect(value.server.bytes).toBe(8 * bytes)
  })

  test("fewer receives than exchanges are posted again", async () => {
    const { value } = await succeeds(pingponged({ type: "rc", check: true, iterations: 50, rxDepth: 2 }))
    expect(value.client.settings.rxDepth).toBe(2)
  })

  test.each([
    ["rc", 1],
    ["srq", 1],
    ["srq", 16],
  ] as const)(
    "%s with %i receives, no more than there are queue pairs, does not run out of them",
    async (type, rxDepth) => {
      const { value } = await succeeds(pingponged({ type, check: true, iterations: 50, rxDepth }))
      expect(value.client.bytes).toBe(2 * 50 * value.client.settings.bytes)
    },
  )

  test("the address has to be one of the port's", async () => {
    expect(await failureOf(pingponged({ type: "rc", gidIndex: 9 }))).toBe("gidIndex: found 9, expected 0..1")
  })

  test("UC loses what the network loses, and says how much came", async () => {
    const error = await errorOf(pingponged({ type: "uc", iterations: 1000 }, { faults: { loss: 0.02 } }))
    expect(error.message).toMatch(/^\d{1,3} of 1000 messages came, then none for 10 s$/)
    expect(error.doThis).toMatch(/^UC drops for good a message of which a packet is lost, comes twice or out of order/)
  })

  test("UD takes a datagram that comes twice for the next one, and says so", async () => {
    const faults = { duplication: 0.2 }
    const error = await errorOf(pingponged({ type: "ud", iterations: 300, check: true }, { faults }))
    expect(error.message).toMatch(/^message \d+, octet 1: found 0x[0-9a-f]+, expected 0x[0-9a-f]+$/)
    expect(error.doThis).toMatch(/takes a datagram that comes twice for the next message/)
  })
})

describe("settings", () => {
  test("are those of libibverbs, and memory for receives has a limit", () => {
    expect(pingpongSettings({ type: "rc" })).toMatchObject({
      bytes: 4096,
      iterations: 1000,
      mtuBytes: 1024,
      rxDepth: 500,
    })
    expect(pingpongSettings({ type: "ud" }).bytes).toBe(2048)
    expect(pingpongSettings({ type: "rc", bytes: 1 << 24 }).rxDepth).toBe(4)
    expect(pingpongSettings({ type: "srq", bytes: 1 << 24 }).rxDepth).toBe(32)
  })

  test("what cannot be is refused", async () => {
    expect(() => pingpongSettings({ type: "rc", queuePairs: 2 })).toThrow(
      "queuePairs: found 2, expected a whole number 1..1",
    )
    expect(() => pingpongSettings({ type: "srq", queuePairs: 257 })).toThrow(PingpongSettingError)
    expect(() => pingpongSettings({ type: "rc", mtuBytes: 1500 })).toThrow(PingpongSettingError)
    expect(await failureOf(pingponged({ type: "ud", bytes: 5000 }))).toBe(
      "bytes: found 5000, expected at most 4096, the port's MTU, for datagrams",
    )
  })
})

describe("messages", () => {
  test("a wrong octet is found", () => {
    const octets = new Uint8Array(9000)
    fillPattern(octets, 3)
    expect(checkPattern(octets, 3, 12)).toBeUndefined()
    octets[8191]! ^= 1
    const wrong = checkPattern(octets, 3, 12)!
    expect(wrong.message).toMatch(/^message 12, octet 8191: found 0x[0-9a-f]+, expected 0x[0-9a-f]+$/)
    expect(checkMessage(octets, 3, 12)).toEqual(wrong)
  })

  test("another round's message is wrong", () => {
    const octets = new Uint8Array(64)
    fillPattern(octets, 3)
    expect(checkPattern(octets, 4, 0)).toBeDefined()
  })

  test("a server takes what the clients of libibverbs send", () => {
    const octets = new Uint8Array(9000).fill(0x7b)
    expect(checkMessage(octets, 0, 0)).toBeUndefined()
    // With -c the first octet of each page is 0.
    octets[0] = octets[4096] = octets[8192] = 0
    expect(checkMessage(octets, 0, 0)).toBeUndefined()
    octets[5] = 0
    expect(checkMessage(octets, 0, 0)).toBeDefined()
  })
})
