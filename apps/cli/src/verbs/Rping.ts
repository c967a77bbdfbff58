import {
  type RpingReport,
  RpingSettingError,
  type RpingSettings,
  type RpingWatch,
  rpingClient,
  rpingServer,
  rpingSettings,
} from "@rdmakit/perftest"
import { openDevice } from "@rdmakit/verbs"
import { Effect, Option } from "effect"
import { counted } from "../Figures.ts"
import { print, type Screen, tell } from "../Screen.ts"
import { endingWell } from "./Ending.ts"
import { type EndsOutcome, runEnds } from "./Ends.ts"
import { type Show, withLiveLines } from "./LiveLines.ts"
import { checkPeerAddress, type WorldInput } from "./World.ts"

export interface RpingInput extends WorldInput {
  readonly host: Option.Option<string>
  readonly listen: boolean
  readonly size: Option.Option<number>
  readonly count: Option.Option<number>
  readonly validate: boolean
  readonly verbose: boolean
}

const PORT = 7174
/** As Linux' connection manager, sixteen questions. */
const UNREACHABLE_S = 103
const MICROSECOND_PS = 1e6

export const rping = (input: RpingInput) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(input)
    if (Option.isSome(input.host)) yield* checkPeerAddress("HOST", input.host.value, input)
    const screen = yield* Effect.context<Screen>()
    const waiting = (peer: string, seconds: number) =>
      Effect.provide(
        tell(`${peer} has not answered for ${seconds} s; it is asked until ${UNREACHABLE_S} s are over`),
        screen,
      )
    const outcome = yield* withLiveLines((show) => pinged(input, settings, show, waiting))
    if (input.json) return yield* print(JSON.stringify(jsonOf(outcome, settings)))
    const { rounds, bytes, elapsedPs, peer, role } = outcome.on === "fabric" ? outcome.client : outcome.value
    const each = rounds === 0 ? "" : `, ${(elapsedPs / MICROSECOND_PS / rounds).toFixed(2)} usec each`
    const checked = settings.validate && role === "client" ? ", all octets right" : ""
    yield* print(`${counted(rounds, "round")} of ${bytes} bytes with ${peer}${each}${checked}`)
  }).pipe(endingWell(input.json))

const pinged = (
  input: RpingInput,
  settings: RpingSettings,
  show: Show,
  waiting: NonNullable<RpingWatch["waiting"]>,
) => {
  const watch = (what: string) =>
    input.verbose && !input.json ? { ping: (text: string) => show(`${what}: ${text}`) } : {}
  return runEnds({
    ...{ input, listen: input.listen, host: input.host, port: PORT, peerArguments: ["rping"] },
    // A screen is outside of virtual time, which nobody waits in.
    client: ({ address, port }, isLive) =>
      Effect.flatMap(openDevice(), (device) =>
        rpingClient(device, address, port, settings, { ...watch("ping data"), ...(isLive ? { waiting } : {}) }),
      ),
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
