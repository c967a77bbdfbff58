import { describe, expect, it } from "vitest"
import { faultsIn } from "./loading.ts"

const base = `topology: { builder: star, hosts: 4 }
flows: [{ from: 0..2, to: 3, size: 100KB }]
`

describe("a buffer that no switch has is not asked for", () => {
  it.each([
    [
      ["topology.link.delay=1h"],
      'topology: found "a link of 100Gbps and 3600s", expected a shorter delay or a lower rate',
    ],
    [["topology.link.rate=9000Tbps"], 'topology: found "a link of 9000Tbps and 1us", expected a shorter delay'],
    [
      ["transport={ name: tcp, options: { mtuBytes: 1e9 } }"],
      'transport.options.mtuBytes: found "1e9", expected smaller packets',
    ],
    [["transport.mtu=1MiB", "topology.hosts=1024"], 'transport.mtu: found "1MiB", expected smaller packets'],
    [["switch.headroom=2GiB"], 'switch.headroom: found "2GiB", expected less'],
    [["switch.reserve=1GiB"], 'switch.reserve: found "1GiB", expected less'],
  ])("%s", async (overrides, message) => {
    const [fault, ...more] = await faultsIn(base, overrides)
    expect(fault).toContain(message)
    expect(fault).toMatch(/a switch has below 2GiB; switch \d+ keeps \d+ bytes of headroom and \d+ of reserve aside$/)
    expect(more).toEqual([])
  })

  it("one that a switch can have is", async () => {
    expect(await faultsIn(base, ["topology.link.delay=1ms"])).toEqual([
      expect.stringContaining('switch.buffer: found "32MiB", expected at least'),
    ])
  })
})

it.each([
  ["transport.mtu", "1048577", "a size 1..1MiB, such as 1000 or 4KiB"],
  ["transport={ name: srd, options: { mtuBytes: 1048577 } }", "1048577", "packets of at most 1MiB"],
  ["transport={ name: tcp, options: { mtuBytes: 1e9 } }", "1e9", "packets of at most 1MiB"],
])("packets that no network has room for are refused: %s", async (set, found, expected) => {
  const mtu = set.includes("=") ? set : `${set}=${found}`
  const faults = await faultsIn(base, [mtu, "switch={ lossless: false, buffer: 1GiB }"])
  expect(faults).toEqual([expect.stringMatching(`: found "${found}", expected ${expected}$`)])
})

it.each(["2GiB", "1TB", "4294967296"])("a resume %s below its threshold is refused", async (offset) => {
  expect(await faultsIn(base, [`switch.resumeOffset=${offset}`])).toEqual([
    `--set: switch.resumeOffset: found "${offset}", expected a size below 2GiB, such as 32MiB`,
  ])
})
