import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { fixedRate } from "../examples/fixedRate.ts"
import { NEVER } from "../src/index.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example is a controller, and the README shows it", () => {
  const factory = fixedRate(0.25)
  const controller = factory.make(0, {
    lineRateBps: 100e9,
    baseRttPs: 8e6,
    windowBytes: 0,
    mtuBytes: 1000,
    timeModulusPs: Number.POSITIVE_INFINITY,
    bytesModulus: Number.POSITIVE_INFINITY,
    flow: 0,
    seed: 0,
  })
  controller.onSent(0, 1000)
  expect([controller.rate, controller.window, controller.nextTimer]).toEqual([25e9, Number.POSITIVE_INFINITY, NEVER])
  expect([controller.onLoss(1, true), controller.metrics()]).toEqual([false, { sentBytes: 1000 }])
  expect(factory.name).toBe("fixed-rate/0.25")
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/fixedRate.ts")}\`\`\``)
})
