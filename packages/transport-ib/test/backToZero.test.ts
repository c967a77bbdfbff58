import { NEVER } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { connection, losing, type Setup } from "./connection.ts"

const run = (bytes: number, setup: Setup = {}) => {
  const each = connection({
    ...setup,
    config: {
      ns3AckBytes: 1,
      ns3AckChunkBytes: 4000,
      ns3BackToZero: true,
      nakIntervalPs: 500e6,
      ackDuplicates: false,
      ackTimeoutPs: NEVER,
    },
  })
  each.write(bytes)
  each.pair.run()
  const numbers = each.said().filter((words) => words.startsWith(">"))
  return { ...each, numbers: numbers.map((words) => words.replace(/^> \w+ (\d+) \d+ B/, "$1")) }
}

describe("back to zero, as the ns-3 model has it", () => {
  it("a loss takes both ends back to the start of its chunk", () => {
    // Packet 6 is lost: its chunk is 4 to 7. The NAK is back while packet 8 leaves.
    const { numbers, said, told, responder } = run(12_000, { path: losing("> WriteMiddle 6 1000 B") })
    expect(numbers.slice(0, 9)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8"])
    expect(said()).toContain("< NakSequence 4")
    // Packet 8 is ahead of packet 4, which no NAK had named: another, and packet 4 goes out twice.
    const again = ["4", "4", "5", "6", "7", "8"].map((number) => `${number} again`)
    expect(numbers.slice(9)).toEqual([...again, "9", "10", "11"])
    expect(told()).toEqual(["completed 0"])
    expect(responder.bytesReceived).toBe(12_000)
  })

  it("acknowledgements count whole chunks: the window opens by chunks", () => {
    const { requester, told } = run(8000)
    expect(told()).toEqual(["completed 0"])
    expect(requester.bytesAcknowledged).toBe(8000)
  })

  it("a message whose last chunk is not full never ends", () => {
    const { requester, told, responder } = run(7500)
    expect(told()).toEqual([])
    expect([responder.bytesReceived, requester.bytesAcknowledged, requester.finished]).toEqual([7500, 4000, false])
  })

  it("keeps quiet of a gap that it told of before, until the interval is over (rdma-hw.cc, ReceiverCheckSeq)", () => {
    // Packet 7 ends the message and tells of the loss of 6; sent again, 6 is lost again, and told of by nobody.
    const lost = ["> WriteMiddle 6 1000 B", "> WriteMiddle 6 1000 B again"]
    const { numbers, said, told } = run(8000, { path: losing(...lost) })
    expect(numbers.slice(8)).toEqual(["4", "5", "6", "7"].map((number) => `${number} again`))
    expect(said().filter((words) => words.includes("Nak"))).toEqual(["< NakSequence 4"])
    expect(told()).toEqual([])
  })

  it("one of no bytes does", () => {
    expect(run(0).told()).toEqual(["completed 0"])
  })
})
