import { crc32 } from "@rdmakit/wire/crc"
import { describe, expect, it, test } from "vitest"
import { Verifier } from "../src/index.ts"
import { index, readPackets } from "./capture.ts"

const verdictsOf = (name: string) => {
  const verifier = new Verifier(crc32)
  for (const packet of readPackets(name)) verifier.packet(packet)
  return verifier.end()
}

describe("every capture as an independent program counted it", () => {
  test.each(index.map((each) => [each.name, each] as const))("%s", (name, { frames, roce, icrcRight }) => {
    const verdicts = verdictsOf(name)
    expect(verdicts).toMatchObject({ packets: frames, roce, icrcOk: icrcRight, icrcBad: [], notCheckable: 0 })
    expect(verdicts.mpaCrcBad).toBe(0)
    expect(verdicts.mpaCrcOk > 0).toBe(name === "siw_crc_rping_v4")
    expect(verdicts.mpaCrcAbsent > 0).toBe(name === "siw_rping_v4")
  })

  it("has them all", () => expect(index.length).toBeGreaterThan(20))
})
