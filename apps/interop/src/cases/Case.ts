import type { VerbsPeer } from "../VerbsPeer.ts"
import { Side, type SideRecord } from "./Side.ts"

/** Both roles of a case: who posts, and whom it is about. */
export interface Roles {
  readonly requester: Side
  readonly responder: Side
}

/** Something that verbs do, the same on every implementation. */
export interface Case {
  readonly name: string
  readonly run: (roles: Roles) => Promise<void>
}

export interface CaseRecord {
  readonly requester: SideRecord
  readonly responder: SideRecord
}

/** Runs a case between two implementations, and gives back what both saw. What they made is freed. */
export const runCase = async (one: Case, requester: VerbsPeer, responder: VerbsPeer): Promise<CaseRecord> => {
  const roles = { requester: new Side(requester), responder: new Side(responder) }
  try {
    await one.run(roles)
    await roles.requester.finish()
    await roles.responder.finish()
  } finally {
    await requester.leave()
    await responder.leave()
  }
  return { requester: roles.requester.record, responder: roles.responder.record }
}
