import { globSync, readFileSync } from "node:fs"
import { basename } from "node:path"
import { expect, it } from "vitest"

const packages = new URL("../../packages/", import.meta.url).pathname

/** Packages of this kind whose tests do not call a suite of `conformance`. */
const without = (kind: string, suite: RegExp): ReadonlyArray<string> =>
  globSync(`${packages}${kind}-*`)
    .filter((each) => !globSync(`${each}/test/**/*.test.ts`).some((file) => suite.test(readFileSync(file, "utf8"))))
    .map((each) => basename(each))

it("every transport and every controller passes the suite of its contract", () => {
  expect(globSync(`${packages}transport-*`).length).toBeGreaterThanOrEqual(5)
  expect([...without("transport", /\b(?:flow|transport)Suite[<(]/), ...without("cc", /\bcontrollerSuite[<(]/)]).toEqual(
    [],
  )
})
