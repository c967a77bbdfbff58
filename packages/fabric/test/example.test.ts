import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { outcome } from "../examples/own-controller.ts"
import { outcome as ofStack } from "../examples/own-stack.ts"
import { outcome as ofSwitch } from "../examples/own-switch.ts"
import { outcome as ofProgram } from "../examples/program.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  expect(outcome).toMatchObject({ controller: "aimd", flowsFinished: 16, dropsByReason: {} })
  expect(outcome.controllerActions).toBeGreaterThan(100)
  const last = Math.max(...outcome.flows.finished)
  // Sixteen megabytes and their headers take 1.34 ms over the receiver's link; halving leaves it idle a little.
  expect(last).toBeGreaterThan(1.34e9)
  expect(last).toBeLessThan(1.5e9)
  expect(read("../README.md")).toContain(read("../examples/own-controller.ts"))
})

it("the program does what the README says", () => {
  const { calm, rough, cut } = ofProgram.value
  expect([calm.status, rough.status]).toEqual([0, 0])
  // A megabyte and its headers take 85.7 µs over the link; the way there and back 4.
  expect(calm.ns).toBeGreaterThan(89_000)
  expect(calm.ns).toBeLessThan(92_000)
  expect(rough.ns).toBeGreaterThan(calm.ns)
  expect(cut._tag).toBe("None")
  expect(read("../README.md")).toContain(read("../examples/program.ts"))
})

it("the stack of one's own does what the README says", () => {
  expect(ofStack).toMatchObject({ controller: "cubic", flowsFinished: 16, partial: false })
  // A megabyte in segments of 1,448 B, each acknowledged or two at a time, over one switch or three.
  expect(ofStack.packetHops).toBeGreaterThan(16 * Math.ceil(1e6 / 1448) * 3)
  expect(read("../README.md")).toContain(read("../examples/own-stack.ts"))
})

it("the switch of one's own does what the README says", () => {
  expect(ofSwitch).toMatchObject({ flowsFinished: 4, pfcPauses: 0 })
  expect(Object.keys(ofSwitch.dropsByReason)).toEqual(["egress-full"])
  expect(read("../README.md")).toContain(read("../examples/own-switch.ts"))
})
