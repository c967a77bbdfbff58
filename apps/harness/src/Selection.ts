import { nearestWord } from "@rdmakit/ns3"
import type { Figure } from "./Claim.ts"
import type { Selected } from "./Evaluation.ts"

/** An id that names nothing, with the one that was perhaps meant. */
export interface UnknownId {
  readonly id: string
  readonly near: string | undefined
}

/**
 * The claims that some ids name: `hpcc-11a` is a figure, `hpcc-11a/short` a claim of it, `hpcc-11` all figures of that
 * number, `later` all whose ids begin so. No id: every claim.
 */
export const selectClaims = (
  figures: ReadonlyArray<Figure>,
  ids: ReadonlyArray<string>,
): ReadonlyArray<Selected> | UnknownId => {
  if (ids.length === 0) return figures.map((figure) => ({ figure, claims: figure.claims }))
  const chosen = new Map<Figure, Set<string>>()
  for (const id of ids) {
    const [name = "", claim] = id.split("/")
    const found = figures.filter((figure) =>
      claim === undefined
        ? isOf(figure.id, name)
        : figure.id === name && figure.claims.some((each) => each.id === claim),
    )
    if (found.length === 0) return { id, near: nearestWord(id, idsOf(figures)) }
    for (const figure of found) {
      const own = chosen.get(figure) ?? new Set()
      for (const each of figure.claims) if (claim === undefined || each.id === claim) own.add(each.id)
      chosen.set(figure, own)
    }
  }
  return figures
    .filter((figure) => chosen.has(figure))
    .map((figure) => ({ figure, claims: figure.claims.filter(({ id }) => chosen.get(figure)!.has(id)) }))
}

const isOf = (figure: string, name: string): boolean =>
  figure === name ||
  figure.startsWith(`${name}-`) ||
  (figure.startsWith(name) && /^[a-z]$/.test(figure.slice(name.length)))

/** Every id of a figure and of a claim. */
export const idsOf = (figures: ReadonlyArray<Figure>): ReadonlyArray<string> =>
  figures.flatMap(({ id, claims }) => [id, ...claims.map((claim) => `${id}/${claim.id}`)])
