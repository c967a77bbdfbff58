import { evaluate, figures, runFigures, selectClaims, tallyOf } from "@rdmakit/harness"

const selected = selectClaims(figures, ["hpcc-13/peak"])
if (!Array.isArray(selected)) throw new Error("no such claim")

const worker = new URL("../src/worker.ts", import.meta.url)
const measured = await runFigures(
  selected.map(({ figure }) => figure),
  { scale: "quick", workers: 0, worker },
)
const evaluated = evaluate(selected, measured, "quick")

export const tally = tallyOf(evaluated)
export const row = evaluated[0]!.claims[0]!.rows[0]!
