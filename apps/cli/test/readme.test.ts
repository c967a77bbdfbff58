import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { rdmakit } from "./rdmakit.ts"

/** The commands of a README's consoles, and what it says they print. */
const consoles = Array.from(
  readFileSync(new URL("../README.md", import.meta.url), "utf8").matchAll(/^```console\n(.*?)^```$/gms),
  ([, text]) => text!,
)
  .join("")
  .split(/^\$ rdmakit /m)
  .slice(1)
  // What goes through other programs is not ours to run.
  .filter((text) => !text.slice(0, text.indexOf("\n")).includes("|"))
  .map((text) => {
    const end = text.indexOf("\n")
    return { args: text.slice(0, end).split(" "), printed: text.slice(end + 1).trimEnd() }
  })

test.each(consoles)("the README is right about $args", async ({ args, printed }) => {
  const { out, err } = await rdmakit(args)
  expect(`${out}${err}`.trimEnd()).toBe(printed)
})

test("the README has examples", () => {
  expect(consoles.length).toBeGreaterThanOrEqual(2)
})
