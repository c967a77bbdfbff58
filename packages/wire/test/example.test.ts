import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { fault, fields, icrc, layers, source } from "../examples/packet.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example does what the README says", () => {
  const said = { layers, source, fault, icrc, fields }
  expect(said).toEqual({
    layers: "ethernet@0 ipv4@14 udp@34 bth@42 aeth@54 icrc@58",
    source: "10.0.0.2",
    fault: ["checksum at 24"],
    icrc: "right",
    fields: ["syndrome 31 at bit 432", "msn 0x000001 at bit 440"],
  })
  const readme = read("../README.md")
  expect(readme).toContain(`\`\`\`ts\n${read("../examples/packet.ts")}\`\`\``)
  for (const text of [layers, ...fault, ...fields]) expect(readme).toContain(text)
})
