/** What a refusal tells its reader to do can be done. */
import { expect, test } from "vitest"
import { rdmakit } from "./rdmakit.ts"

test.each(["--delay 1h", "--rate 1000Tbps"])(
  "perf %s: a buffer that is too small is answered with flags",
  async (flags) => {
    const { code, err } = await rdmakit(["perf", "write-bw", ...flags.split(" "), "-n", "5"])
    expect(code).toBe(2)
    expect(err).toMatch(/^error: the links keep \d+ bytes of a switch aside, and it has 33554432\n/)
    expect(err).toContain("\nchoose a shorter --delay, or a lower --rate\n")
  },
)

test.each(["run", "lint"])("%s '' names what is missing", async (command) => {
  const { code, err } = await rdmakit([command, ""])
  expect([code, err]).toEqual([2, 'error: FILE: found "", expected the name of a config or a scenario\n'])
})
