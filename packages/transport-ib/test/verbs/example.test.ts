import { readFileSync } from "node:fs"
import { WcStatus } from "@rdmakit/protocol"
import { expect, it } from "vitest"
import { completion, found, opcodes, there } from "../../examples/remoteAdd.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example of the verbs does what the README says", () => {
  expect(opcodes).toEqual([0x14, 0x12, 0x14, 0x12])
  expect([found, there]).toEqual([40n, 42n])
  expect(completion).toMatchObject({ end: 0, event: { type: "completion", completion: { status: WcStatus.Success } } })
  expect(completion!.time / 1e9).toBeCloseTo(67.1, 1)
  expect(read("../../README.md")).toContain(read("../../examples/remoteAdd.ts"))
})
