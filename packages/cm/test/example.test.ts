import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { established, reply, request, settings } from "../examples/connect.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example of the README connects", () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/connect.ts")}\`\`\``)
  expect([request?.type, reply?.type, established?.type]).toEqual(["request", "reply", "established"])
  expect(settings).toMatchObject({ destinationQp: 18, sendPsn: 2_000, receivePsn: 1_000, timeout: 19 })
})
