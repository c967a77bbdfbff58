import type { CaseRecord } from "./Case.ts"
import { type Deviation, deviations } from "./deviations.ts"
import type { CompletionRecord, SideRecord } from "./Side.ts"

/** Whose verbs a role has. */
export type Who = "ours" | "linux"
export type Cast = Readonly<Record<"requester" | "responder", Who>>

/** Events that Linux's rxe never raises, though the IBTA has them (1.7 §11.6.3). */
const MORE_EVENTS = /^(?:local access violation|invalid request local|local work queue catastrophic|last WQE reached)/

/** From here on receives of a role have their numbers, and its sends below. */
const isReceive = ({ id }: CompletionRecord) => id >= 100

/** What has to be the same: the order within a queue counts, that of two queues does not. */
const comparable = ({ refused, completions, state, events, facts }: SideRecord) => ({
  refused,
  sends: completions.filter((one) => !isReceive(one)),
  receives: completions.filter(isReceive),
  state,
  events: events.filter((event) => !MORE_EVENTS.test(event)),
  facts: Object.fromEntries(Object.entries(facts).sort(([a], [b]) => (a < b ? -1 : 1))),
})

/** Whether it is of this cast. */
const concerns = (cast: Cast, { ours, peer }: Deviation): boolean =>
  cast[ours] === "ours" && (peer === undefined || cast[ours === "requester" ? "responder" : "requester"] === peer)

/** What is expected of a case: what Linux recorded, but for what ours does otherwise on purpose. */
const expected = (linux: CaseRecord, found: ReadonlyArray<Deviation>): CaseRecord => {
  let record = linux
  for (const one of found)
    record = {
      requester: { ...record.requester, ...one.requester },
      responder: { ...record.responder, ...one.responder },
    }
  return record
}

/** Where a run of a case differs from what is expected of it, in words. */
export const differences = (name: string, run: CaseRecord, linux: CaseRecord, cast: Cast): ReadonlyArray<string> => {
  const found = deviations.filter((one) => one.cases.includes(name) && concerns(cast, one))
  const wanted = expected(linux, found)
  const passedOver = found.flatMap((one) => one.unsettled ?? [])
  return (["requester", "responder"] as const).flatMap((role) => {
    const [ours, theirs] = [comparable(run[role]), comparable(wanted[role])]
    return (Object.keys(ours) as ReadonlyArray<keyof typeof ours>).flatMap((part) => {
      if (passedOver.includes(`${role} ${part}`)) return []
      const [is, was] = [JSON.stringify(ours[part]), JSON.stringify(theirs[part])]
      return is === was ? [] : [`${role} (${cast[role]}) ${part}: ${is}, not ${was}`]
    })
  })
}
