import type { Figure, Selected } from "@rdmakit/harness"
import { Effect } from "effect"
import { counted } from "./Figures.ts"
import { paintOf } from "./Paint.ts"
import { print, Screen } from "./Screen.ts"

/** Prints what `claims` measures, and runs nothing. */
export const listClaims = (selected: ReadonlyArray<Selected>, json: boolean) =>
  Effect.gen(function* () {
    if (json) return yield* print(JSON.stringify({ figures: selected.map(jsonOf) }))
    const paint = paintOf((yield* Screen).out)
    for (const { figure } of selected) {
      yield* print(`${paint.bold(figure.id)}  ${figure.title}`)
      yield* print(`  ${figure.source}, ${figure.section}; quick run: ${lessOf(figure) ?? "as long as --full"}`)
    }
    yield* print(counted(selected.length, "figure"))
  })

/** What the quick run has less than the full one has. */
const lessOf = ({ extents: { quick, full } }: Figure): string | undefined =>
  quick.less === full.less ? undefined : quick.less

const jsonOf = ({ figure, claims }: Selected) => ({
  id: figure.id,
  title: figure.title,
  source: figure.source,
  section: figure.section,
  quick: { isFull: lessOf(figure) === undefined, extent: figure.extents.quick.less ?? null },
  claims: claims.map(({ id, what }) => ({ id: `${figure.id}/${id}`, what })),
})
