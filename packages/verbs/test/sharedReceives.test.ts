import { hpccFamily } from "@rdmakit/cc-erdma"
import { srd } from "@rdmakit/cc-srd"
import { iwarpLayer } from "@rdmakit/softnic"
import { erdmaVerbs } from "@rdmakit/transport-erdma"
import { verbsTransport } from "@rdmakit/transport-ib"
import { srdVerbs } from "@rdmakit/transport-srd"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { openDevice, type VerbsError } from "../src/index.ts"
import { resultOf } from "./program.ts"

/** What comes of a queue pair of a type, with receives shared: its state, or the refusal. */
const sharing = (type: "rc" | "uc" | "ud" | "srd") =>
  Effect.gen(function* () {
    const context = yield* openDevice(0)
    const domain = yield* context.protectionDomain
    const cq = yield* context.completionQueue(16)
    const srq = yield* domain.sharedReceiveQueue({ maxWr: 8 })
    const made = domain.queuePair({ type, cq, srq })
    return yield* Effect.match(made, {
      onSuccess: ({ state }): string | VerbsError => state,
      onFailure: (error) => error,
    })
  })

const refusal = { _tag: "VerbsError", errno: "EOPNOTSUPP", verb: "create_qp", attribute: "srq" }
const datagrams = verbsTransport()
const erdma = { controller: hpccFamily({ variant: "rtt" }) }

describe("queue pairs whose transport has no shared receive queues are refused", () => {
  it.each([
    ["SRD", "srd", srdVerbs({ controller: srd(), datagrams })],
    ["eRDMA", "rc", erdmaVerbs(erdma)],
    ["eRDMA with datagrams", "rc", erdmaVerbs({ ...erdma, datagrams })],
  ] as const)("%s", (_, type, transport) => {
    expect(resultOf(sharing(type), { transport })).toMatchObject(refusal)
  })

  it("iWARP over TCP", async () => {
    const devices = iwarpLayer([{ address: "127.0.0.13", meetingPort: 0 }])
    expect(await Effect.runPromise(Effect.provide(Effect.scoped(sharing("rc")), devices))).toMatchObject(refusal)
  })

  it.each([
    ["SRD", srdVerbs({ controller: srd(), datagrams })],
    ["eRDMA", erdmaVerbs({ ...erdma, datagrams })],
  ] as const)("and datagrams beside %s have them", (_, transport) => {
    expect(resultOf(sharing("ud"), { transport })).toBe("RESET")
  })
})
