import type { Controller } from "@rdmakit/protocol"
import { describe, expect, it } from "vitest"
import { type TcpOptions, tcp } from "../src/index.ts"
import { ack, MARK, path } from "./feedback.ts"

/** A window of 100 segments of 1,000 bytes, of which the first `segments` are out. */
const sending = (segments: number, variant: TcpOptions["variant"] = "newreno"): Controller => {
  const controller = tcp({ variant, hyStart: false, initialWindowBytes: 100_000 }).make(0, path)
  for (let index = 0; index < segments; index++) controller.onSent(0, 1000)
  return controller
}
/** Nothing new is acknowledged: everything below `sequence` was, everything below `sent` was sent. */
const duplicate = (sequence: number, sent: number) => ack(sequence, sent, false, 0)

const segmentsLeft = (controller: Controller): ReadonlyArray<number | undefined> => {
  const { windowSegments, thresholdSegments } = controller.metrics()
  return [windowSegments, thresholdSegments]
}

describe("newreno, what a loss leaves (RFC 5681 §3.1, equation 4)", () => {
  it("half of what was out, where that is less than the window", () => {
    const controller = sending(22)
    controller.onAck(0, ack(2000, 22_000))
    controller.onAck(0, duplicate(2000, 22_000))
    expect(controller.onLoss(0, false)).toBe(true)
    expect(segmentsLeft(controller)).toEqual([10, 10])
  })

  it("half of the window, where it was full", () => {
    const controller = sending(100)
    controller.onAck(0, duplicate(0, 100_000))
    controller.onLoss(0, false)
    expect(segmentsLeft(controller)).toEqual([50, 50])
  })

  it("two segments at least", () => {
    const controller = sending(3)
    controller.onAck(0, duplicate(0, 3000))
    controller.onLoss(0, false)
    expect(segmentsLeft(controller)).toEqual([2, 2])
  })

  it("without what was sent for duplicate acknowledgements, Limited Transmit (§3.2)", () => {
    const controller = sending(20)
    // A segment for each of the first two (RFC 3042 §2); the third tells of the loss.
    for (const sent of [20_000, 21_000, 22_000]) {
      controller.onAck(0, duplicate(0, sent))
      if (sent < 22_000) controller.onSent(0, 1000)
    }
    controller.onLoss(0, false)
    expect(segmentsLeft(controller)).toEqual([10, 10])
  })

  it.each([
    ["the last acknowledgement twice", 20_000],
    ["one that was overtaken", 10_000],
  ])("of all that was out, after %s", (_name, sequence) => {
    const controller = sending(20)
    controller.onAck(0, ack(20_000, 20_000, false, 20_000))
    controller.onAck(0, duplicate(sequence, 20_000))
    for (let index = 0; index < 100; index++) controller.onSent(0, 1000)
    for (let count = 0; count < 3; count++) controller.onAck(0, duplicate(20_000, 120_000))
    controller.onLoss(0, false)
    expect(segmentsLeft(controller)).toEqual([50, 50])
  })

  it("with what was sent after the last acknowledgement", () => {
    const controller = sending(20)
    controller.onAck(0, ack(20_000, 20_000, false, 20_000))
    for (let index = 0; index < 16; index++) controller.onSent(0, 1000)
    controller.onLoss(0, true)
    expect(segmentsLeft(controller)).toEqual([1, 8])
  })

  it("no less for another timeout, also where nothing was ever acknowledged", () => {
    const controller = sending(20)
    controller.onLoss(0, true)
    expect(segmentsLeft(controller)).toEqual([1, 10])
    controller.onSent(0, 1000)
    controller.onLoss(0, true)
    expect(segmentsLeft(controller)).toEqual([1, 10])
    // The next loss is of eight that are out, of ten that might be.
    controller.onAck(0, ack(20_000, 20_000, false, 20_000))
    for (let index = 0; index < 8; index++) controller.onSent(0, 1000)
    controller.onAck(0, duplicate(20_000, 28_000))
    controller.onLoss(0, false)
    expect(segmentsLeft(controller)).toEqual([4, 4])
  })

  it("where the transport goes back first: half of what was out before", () => {
    const controller = sending(20)
    controller.onAck(0, ack(4000, 4000, false, 4000))
    controller.onLoss(0, false)
    expect(segmentsLeft(controller)).toEqual([8, 8])
  })

  it("a mark goes by the window (RFC 3168 §6.1.2)", () => {
    const controller = sending(20)
    controller.onAck(0, ack(1000, 20_000, MARK))
    expect(segmentsLeft(controller)).toEqual([50, 50])
  })
})

it("cubic goes by the window (RFC 9438 §4.6)", () => {
  const controller = sending(20, "cubic")
  controller.onAck(0, duplicate(0, 20_000))
  controller.onLoss(0, false)
  expect(segmentsLeft(controller)).toEqual([70, 70])
})

describe.each(["newreno", "cubic"] as const)("%s, a timeout of a whole flight", (variant) => {
  it("sends all of it in a slow start of its own, a segment for an acknowledgement (RFC 6582 §3.2, RFC 3465 §2.3)", () => {
    const controller = sending(20, variant)
    // Nothing of what was out has been acknowledged: `recover` is the highest byte transmitted all the same.
    controller.onLoss(0, true)
    controller.onSent(0, 1000)
    controller.onAck(0, ack(5000, 5000, false, 5000))
    expect(segmentsLeft(controller)[0]).toBe(2)
    controller.onAck(0, ack(20_000, 20_000, false, 15_000))
    expect(segmentsLeft(controller)[0]).toBeGreaterThan(3)
  })
})
