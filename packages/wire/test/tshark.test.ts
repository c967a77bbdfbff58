import { readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { describe, expect, it, test } from "vitest"
import { decode } from "../src/Decode.ts"
import { differences, quirks, tsharkFields, tsharkSources } from "./tshark.ts"

// What tshark 4.0.17 said of the same frames; scripts/oracles/wire.ts asks it again where it is installed.
const golden = new URL("../../../testdata/captures/tshark.tsv.gz", import.meta.url)
const [header, ...parts] = gunzipSync(readFileSync(golden)).toString().split(/^# /m)
const rowsOf = new Map(
  parts.map((part) => {
    const [name, ...rows] = part.split("\n")
    return [name!, rows.slice(0, -1)] as const
  }),
)

it("was asked for the fields that are compared", () => {
  expect(header).toBe(`${tsharkFields.join("\t")}\n`)
})

describe("the same fields as tshark", () => {
  test.each(tsharkSources())("$name", ({ name, link, frames }) => {
    const rows = rowsOf.get(name)!
    expect(rows).toHaveLength(frames.length)
    const found = frames.flatMap((octets, index) =>
      differences(decode(octets, { link }), rows[index]!).map((each) => `frame ${index + 1}: ${each}`),
    )
    expect(found).toEqual([])
  })
})

it("every quirk is still needed", () => {
  const sources = tsharkSources()
  for (const quirk of quirks) {
    const concerned = sources.some(({ name, link, frames }) =>
      frames.some((octets, index) => {
        const nodes = decode(octets, { link })
        const others = quirks.filter((each) => each !== quirk)
        return quirk.concerns(nodes) && differences(nodes, rowsOf.get(name)![index]!, others).length > 0
      }),
    )
    expect([quirk.reason, concerned]).toEqual([quirk.reason, true])
  }
})
