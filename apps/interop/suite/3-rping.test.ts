import { describe, expect, it } from "vitest"
import { type Ip, meet, SHORT, setMtu } from "./lab.ts"

const families: ReadonlyArray<Ip> = SHORT ? [4] : [4, 6]
const sizes = SHORT ? [64] : [64, 1000, 65_000]

describe.each(families)("rping over IPv%i, octets checked, 100 rounds", (ip) => {
  it.each(sizes)("%i bytes, the server is theirs", async (bytes) => {
    await setMtu(1500)
    const { ours, theirs } = await meet({
      ours: ["rping", "-C", "100", "-S", String(bytes), "-V", "--json"],
      // Its buffers have to be as large as ours.
      theirs: `rping -s -v -C 100 -S ${bytes} ${ip === 6 ? "-a ::" : ""} -p PORT`,
      server: "theirs",
      by: "cm",
      ip,
    })
    expect(JSON.parse(ours)).toMatchObject({ ok: true, rounds: 100 })
    expect(theirs.match(/ping data: rdma-ping-/g)?.length).toBe(100)
  })

  it.each(sizes)("%i bytes, the server is ours", async (bytes) => {
    await setMtu(1500)
    const { ours, theirs } = await meet({
      ours: ["rping", "--json"],
      theirs: `rping -c -v -V -a HOST -C 100 -S ${bytes} -p PORT`,
      server: "ours",
      by: "cm",
      ip,
    })
    expect(JSON.parse(ours)).toMatchObject({ ok: true, rounds: 100 })
    expect(theirs.match(/ping data: rdma-ping-/g)?.length).toBe(100)
  })
})
