import { readFileSync } from "node:fs"
import type { CaseRecord } from "./Case.ts"

const file = new URL("../../../../testdata/linux-verbs/cases.json", import.meta.url)

/** What two Linux kernels did, by the name of the case. */
export const linuxTable: Readonly<Record<string, CaseRecord>> = (
  JSON.parse(readFileSync(file, "utf8")) as { readonly cases: Readonly<Record<string, CaseRecord>> }
).cases
