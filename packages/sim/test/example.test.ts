import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { arrivals, packetHops } from "../examples/twoHosts.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  // Twice 100 ns of serialization and 1 us of flight.
  expect(arrivals).toEqual([
    "sent at 0 ns, there at 2200 ns",
    "sent at 100 ns, there at 2300 ns",
    "sent at 200 ns, there at 2400 ns",
  ])
  expect(packetHops).toBe(6)
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("../examples/twoHosts.ts")}\`\`\``)
})
