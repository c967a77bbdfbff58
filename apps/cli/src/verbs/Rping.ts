import {
  type RpingReport,
  RpingSettingError,
  type RpingSettings,
  rpingClient,
  rpingServer,
  rpingSettings,
} from "@rdmakit/perftest"
import { openDevice } from "@rdmakit/verbs"
import { Effect, Option } from "effect"
import { counted } from "../Figures.ts"
import { print } from "../Screen.ts"
import { endingWell } from "./Ending.ts"
import { type EndsOutcome, runEnds } from "./Ends.ts"
import { type Show, withLiveLines } from "./LiveLines.ts"
import type { WorldInput } from "./World.ts"

export interface RpingInput extends WorldInput {
  readonly host: Option.Option<string>
  readonly listen: boolean
  readonly size: Option.Option<number>
  readonly count: Option.Option<number>
  readonly validate: boolean
  readonly verbose: boolean
}

const PORT = 7174
const MICROSECOND_PS = 1e6

export const rping = (input: RpingInput) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(input)
    const outcome = yield* withLiveLines((show) => pinged(input, settings, show))
    if (input.json) return yield* print(JSON.stringify(jsonOf(outcome, settings)))
    const { rounds, bytes, elapsedPs, peer } = outcome.on === "fabric" ? outcome.client : outcome.value
    const each = rounds === 0 ? "" : `, ${(elapsedPs / MICROSECOND_PS / rounds).toFixed(2)} usec each`
    const checked = settings.validate && outcome.on === "fabric" ? ", all octets right" : ""
    yield* print(`${counted(rounds, "round")} of ${bytes} bytes with ${peer}${each}${checked}`)
  }).pipe(endingWell(input.json))

const pinged = (input: RpingInput, settings: RpingSettings, show: Show) => {
  const watch = (what: string) =>
    input.verbose && !input.json ? { ping: (text: string) => show(`${what}: ${text}`) } : {}
  return runEnds({
    ...{ input, listen: input.listen, host: input.host, port: PORT, peerArguments: ["rping"] },
    client: ({ address, port }) =>
      Effect.flatMap(openDevice(), (device) => rpingClient(device, address, port, settings, watch("ping data"))),
    server: (port, listening) =>
      Effect.flatMap(openDevice(), (device) => rpingServer(device, port, listening, watch("server ping data"))),
  })
}

const settingsOf = (input: RpingInput): Effect.Effect<RpingSettings, RpingSettingError> =>
  Effect.try({
    try: () =>
      rpingSettings({
        ...Option.match(input.size, { onNone: () => ({}), onSome: (bytes) => ({ bytes }) }),
        ...Option.match(input.count, { onNone: () => ({}), onSome: (rounds) => ({ rounds }) }),
        validate: input.validate,
      }),
    catch: (error) => {
      if (error instanceof RpingSettingError) return error
      throw error
    },
  })

const jsonOf = (outcome: EndsOutcome<RpingReport>, { validate }: RpingSettings) => {
  const report = outcome.on === "fabric" ? outcome.client : outcome.value
  const { role, peer, rounds, bytes, elapsedPs } = report
  const common = { ok: true, on: outcome.on, role, peer, rounds, bytes, elapsedPs }
  const validated = role === "client" && validate
  return outcome.on === "fabric" ? { ...common, validated, digest: outcome.digest } : { ...common, validated }
}
