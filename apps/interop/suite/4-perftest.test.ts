import { expect, it } from "vitest"
import { describeLong, gidIndex, meet, PATIENT, setMtu } from "./lab.ts"

const verbs = ["send", "write", "read", "atomic"] as const
const kinds = ["bw", "lat"] as const
/** Rows of a table of perftest: the sizes that it measured. */
const rows = (output: string): ReadonlyArray<number> =>
  [...output.matchAll(/^ ?(\d+) +\d+ +[\d.-]+ +[\d.-]+/gm)].map(([, bytes]) => Number(bytes))

interface Run {
  readonly test: string
  readonly flags: string
  readonly server: "ours" | "theirs"
  readonly ip?: 4 | 6
  readonly seconds?: number
}

const measure = async ({ test, flags, server, ip = 4, seconds = 150 }: Run) => {
  const words = flags.split(" ").filter((word) => word !== "")
  const outcome = await meet({
    // Services have capitals there.
    ours: [
      "perf",
      test,
      "-x",
      String(gidIndex(ip)),
      "--json",
      ...words.map((word) => word.replace(/^U[CD]$/, (one) => one.toLowerCase())),
    ],
    theirs: `ib_${test.replace("-", "_")} -d rxe0 -x ${gidIndex(ip)} -F -p PORT ${flags} ${PATIENT} HOST`,
    server,
    by: "tcp",
    ip,
    seconds,
  })
  expect(JSON.parse(outcome.ours)).toMatchObject({ ok: true })
  return { ...outcome, sizes: rows(outcome.theirs) }
}

describeLong.each([
  [1024, 1500, [1, 1024, 4096, 65_536, 2 ** 20]],
  [4096, 4200, [4096, 65_536, 2 ** 20]],
] as const)("perftest, path MTU %i", (mtu, link, sizes) => {
  for (const verb of verbs) {
    for (const kind of kinds) {
      for (const bytes of verb === "atomic" ? [8] : sizes) {
        const test = `${verb}-${kind}`
        it.each(["ours", "theirs"] as const)(`${test}, ${bytes} octets, the server is %s`, async (server) => {
          await setMtu(link)
          const flags = `${verb === "atomic" ? "" : `-s ${bytes} `}-n ${bytes < 65_536 ? 100 : bytes < 2 ** 20 ? 30 : 10} -m ${mtu}`
          const { sizes: measured } = await measure({ test, flags, server })
          // A server of RDMA in one direction has nothing to measure.
          if (verb === "send" || server === "ours") expect(measured).toEqual([bytes])
        })
      }
    }
  }
})

describeLong("perftest", () => {
  it.each([
    ["send-bw", "-a -n 5"],
    ["read-lat", "-a -n 5"],
    ["send-bw", "-c UC -s 4096 -n 100"],
    ["write-bw", "-c UC -s 4096 -n 100"],
    ["send-bw", "-c UD -s 1024 -n 100"],
    ["send-lat", "-c UD -s 64 -n 100"],
    ["send-bw", "-s 4096 -n 200 -q 4"],
    ["write-bw", "-s 65536 -n 50 -q 4"],
    ["send-bw", "-s 4096 -n 200 -b"],
    ["write-bw", "-s 65536 -n 50 -b"],
    ["read-bw", "-s 65536 -n 50 -b"],
  ])("%s %s", async (test, flags) => {
    await setMtu(1500)
    for (const server of ["ours", "theirs"] as const) await measure({ test, flags, server })
  })

  it.each(["send-bw", "write-lat", "read-bw", "atomic-lat"])("%s over IPv6", async (test) => {
    await setMtu(1500)
    const flags = test.startsWith("atomic") ? "-n 100" : "-s 8192 -n 50"
    for (const server of ["ours", "theirs"] as const) await measure({ test, flags, server, ip: 6 })
  })
})
