import { readFileSync } from "node:fs"
import { expect, it } from "vitest"
import { report } from "../examples/diagnose.ts"
import { captureOctets } from "./capture.ts"

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8")

it("the example prints what the README says", async () => {
  const readme = read("../README.md")
  expect(readme).toContain(`\`\`\`ts\n${read("../examples/diagnose.ts")}\`\`\``)
  expect(readme).toContain(`\`\`\`\n${(await report([captureOctets("lossy_rc_send_v4")])).join("\n")}\n\`\`\``)
})
