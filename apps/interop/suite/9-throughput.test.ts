/*
 * 64 KiB WRITEs at path MTU 4,096: a guest and ours move at least what two guests move on the same machine. They take turns,
 * and the medians count, for the machine may have other things to do.
 */
import { afterAll, beforeAll, expect, it } from "vitest"
import { Lab } from "../src/Lab.ts"
import { describeLong, meet, setMtu } from "./lab.ts"

const ROUNDS = 7
/** Of medians that differ by chance: what other programs leave of two cores varies by far more from run to run. */
const NOISE = 0.9
const LINK_MTU = 4200
const FLAGS = "-s 65536 -n 300 -m 4096"
const TOOL = `ib_write_bw -d rxe0 -x 1 -F -p PORT ${FLAGS}`

/** MiB/s on average, of perftest's table. */
const averageOf = (output: string): number => {
  const row = /^ ?65536 +\d+ +[\d.]+ +([\d.]+)/m.exec(output)
  if (row === null) throw new Error(`no result in: ${output}`)
  return Number(row[1])
}
const median = (values: ReadonlyArray<number>): number => [...values].sort((a, b) => a - b)[values.length >> 1]!

describeLong("throughput of WRITEs", () => {
  let lab: Lab | undefined

  beforeAll(async () => {
    await setMtu(LINK_MTU)
    lab = await Lab.pair({ mtu: LINK_MTU })
  })
  afterAll(async () => {
    await lab?.stop()
    await setMtu(1500)
  })

  const twoGuests = async (): Promise<number> => {
    const { first, second } = lab!
    const server = first.run(TOOL.replace("PORT", "18515"), 100)
    await first.must("until netstat -ltn | grep -q :18515; do sleep 0.05; done")
    const client = await second.run(`${TOOL.replace("PORT", "18515")} 10.0.0.1`, 100)
    if (client.code !== 0) throw new Error(client.output)
    await server
    return averageOf(client.output)
  }
  const theyWrite = async (): Promise<number> =>
    averageOf(
      (
        await meet({
          ours: ["perf", "write-bw", "-x", "1", "--json", ...FLAGS.split(" ")],
          theirs: `${TOOL} HOST`,
          server: "ours",
          by: "tcp",
          seconds: 100,
        })
      ).theirs,
    )
  const weWrite = async (): Promise<number> => {
    const { ours } = await meet({
      ours: ["perf", "write-bw", "-x", "1", ...FLAGS.split(" ")],
      theirs: `${TOOL} HOST`,
      server: "theirs",
      by: "tcp",
      seconds: 100,
    })
    return averageOf(ours)
  }

  it("is at least that of two guests, in each role", async () => {
    const found = { guests: [] as Array<number>, theyWrite: [] as Array<number>, weWrite: [] as Array<number> }
    for (let round = 0; round < ROUNDS; round++) {
      found.guests.push(await twoGuests())
      found.theyWrite.push(await theyWrite())
      found.weWrite.push(await weWrite())
    }
    const [guests, they, we] = [median(found.guests), median(found.theyWrite), median(found.weWrite)]
    console.log(`MiB/s: two guests ${guests}; the guest to us ${they}; we to the guest ${we}`)
    // The guest that sends is what is slow, whoever receives.
    expect(they).toBeGreaterThanOrEqual(NOISE * guests)
    expect(we).toBeGreaterThanOrEqual(NOISE * guests)
  }, 600_000)
})
