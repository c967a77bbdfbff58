import { describe, expect, it } from "vitest"
import { describeLong, gidIndex, type Ip, meet, SHORT, setMtu } from "./lab.ts"

type Type = "rc" | "uc" | "ud" | "srq"

/** The guest's tool; it checks what it receives when it is told to. */
const tool = (type: Type, ip: Ip, bytes: number, rounds: number, more = "") =>
  `ibv_${type}_pingpong -d rxe0 -g ${gidIndex(ip)} -p PORT -n ${rounds} -s ${bytes} -c ${more} HOST`

const command = (type: Type, ip: Ip, bytes: number, rounds: number, more: ReadonlyArray<string> = []) => [
  ...["pingpong", type, "-g", String(gidIndex(ip)), "-n", String(rounds), "-s", String(bytes), "-c", "--json", ...more],
]

const types: ReadonlyArray<Type> = SHORT ? ["rc", "ud"] : ["rc", "uc", "ud", "srq"]
const families: ReadonlyArray<Ip> = SHORT ? [4] : [4, 6]

describe.each(types)("%s_pingpong, every octet checked", (type) => {
  describe.each(families)("IPv%i", (ip) => {
    it.each(["ours", "theirs"] as const)("the server is %s", async (server) => {
      await setMtu(1500)
      const [bytes, rounds] = [type === "ud" ? 1000 : 4096, SHORT ? 50 : 200]
      const { ours, theirs } = await meet({
        ours: command(type, ip, bytes, rounds),
        theirs: tool(type, ip, bytes, rounds),
        server,
        by: "tcp",
        ip,
      })
      expect(JSON.parse(ours)).toMatchObject({ ok: true, iterations: rounds, checked: true })
      expect(theirs).toContain(`${rounds} iters in`)
      expect(theirs).not.toContain("invalid data")
    })
  })
})

describeLong("rc_pingpong", () => {
  it.each([
    [1500, 1, 1],
    [1500, 1024, 9001],
    [4200, 4096, 1],
    [4200, 4096, 65_536],
    [4200, 2048, 100_000],
  ])("link MTU %i, path MTU %i, %i bytes", async (link, mtu, bytes) => {
    await setMtu(link)
    const path = mtu === 1 ? 1024 : mtu
    for (const server of ["ours", "theirs"] as const) {
      const { theirs } = await meet({
        ours: command("rc", 4, bytes, 50, ["-m", String(path)]),
        theirs: tool("rc", 4, bytes, 50, `-m ${path}`),
        server,
        by: "tcp",
      })
      expect(theirs).toContain("50 iters in")
    }
    await setMtu(1500)
  })
})
