import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { fixedRate } from "../examples/fixedRate.ts"
import { HalvingOptionsError, halving } from "../examples/halving.ts"
import { makeAck, NEVER, type PathInfo } from "../src/index.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

const path: PathInfo = {
  lineRateBps: 100e9,
  baseRttPs: 8e6,
  windowBytes: 0,
  mtuBytes: 1000,
  timeModulusPs: Number.POSITIVE_INFINITY,
  bytesModulus: Number.POSITIVE_INFINITY,
  flow: 0,
  seed: 0,
}

it("the example is a controller, and the README shows it", () => {
  const factory = fixedRate(0.25)
  const controller = factory.make(0, path)
  controller.onSent(0, 1000)
  expect([controller.rate, controller.window, controller.nextTimer]).toEqual([25e9, Number.POSITIVE_INFINITY, NEVER])
  expect([controller.onLoss(1, true), controller.metrics()]).toEqual([false, { sentBytes: 1000 }])
  expect(factory.name).toBe("fixed-rate/0.25")
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/fixedRate.ts")}\`\`\``)
})

it("the example with options does what the README says", () => {
  const controller = halving({ firstPackets: 4 }).make(0, path)
  const ack = (sequence: number, sent: number, bytes: number) =>
    controller.onAck(0, { ...makeAck(0), sequence, sent, bytes })
  for (let packet = 0; packet < 4; packet++) controller.onSent(0, 1000)
  expect([controller.window, controller.rate, controller.metrics()]).toEqual([
    4000,
    100e9,
    { windowBytes: 4000, flightBytes: 4000 },
  ])
  expect([ack(1000, 4000, 1000), controller.window]).toEqual([true, 4250])
  // Nothing more is sent: the window is no limit.
  expect([ack(3000, 4000, 2000), ack(4000, 4000, 1000), controller.window]).toEqual([false, false, 4250])
  for (let packet = 0; packet < 10; packet++) controller.onSent(0, 1000)
  expect([controller.onLoss(0, false), controller.window]).toEqual([true, 5000])
  // One window of data, one answer; a timeout is another.
  expect([controller.onLoss(0, false), ack(6000, 14_000, 2000), controller.window]).toEqual([false, false, 5000])
  expect([controller.onLoss(0, true), controller.window]).toEqual([true, 4000])

  for (const [options, message] of [
    [{ beta: 0 }, "halving: beta is 0, expected a number above 0, at most 1"],
    [{ firstPackets: 0.5 }, "halving: firstPackets is 0.5, expected an integer of at least 1"],
    [null, "halving: options is null, expected an object"],
  ] as const) {
    const make = () => halving(options as { beta: number })
    expect(make).toThrow(HalvingOptionsError)
    expect(make).toThrow(message)
  }
  expect(() => halving().make(0, { ...path, mtuBytes: 0 })).toThrow("halving: mtuBytes is 0, expected a finite size")
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/halving.ts")}\`\`\``)
})
