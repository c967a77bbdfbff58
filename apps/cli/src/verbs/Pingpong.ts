import {
  pingpong as exchange,
  type PingpongDestination,
  type PingpongReport,
  PingpongSettingError,
  type PingpongSettings,
  type PingpongType,
  pingpongSettings,
} from "@rdmakit/perftest"
import { formatGid, openDevice } from "@rdmakit/verbs"
import { Effect, Option } from "effect"
import { print, type Screen } from "../Screen.ts"
import { endingWell } from "./Ending.ts"
import { accepted, dialled, type EndsOutcome, flagsOf, runEnds } from "./Ends.ts"
import type { WorldInput } from "./World.ts"

export interface PingpongInput extends WorldInput {
  readonly type: PingpongType
  readonly host: Option.Option<string>
  readonly listen: boolean
  readonly size: Option.Option<number>
  readonly iterations: Option.Option<number>
  readonly queuePairs: Option.Option<number>
  readonly mtu: Option.Option<number>
  readonly rxDepth: Option.Option<number>
  readonly check: boolean
  readonly gidIndex: Option.Option<number>
}

const PORT = 18_515
/** Linux's pingpongs have no last word: this side stays, in case that its last acknowledgement is lost. */
const LINGER_MS = 250
const SECOND_PS = 1e12
const MICROSECOND_PS = 1e6

export const pingpong = (input: PingpongInput) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf(input)
    const screen = yield* Effect.context<Screen>()
    const show = (mine: ReadonlyArray<PingpongDestination>, theirs: ReadonlyArray<PingpongDestination>) =>
      Effect.provide(showAddresses(mine, theirs), screen)
    const onAddresses = (isLive: boolean) => (isLive && !input.json ? show : () => Effect.void)
    const linger = (isLive: boolean) => (isLive ? Effect.sleep(LINGER_MS) : Effect.void)
    const outcome = yield* runEnds({
      ...{ input, listen: input.listen, host: input.host, port: PORT, peerArguments: peerArguments(input) },
      connection: { type: settings.type, saidBy: "TYPE" },
      client: (place, isLive) =>
        Effect.gen(function* () {
          const connection = yield* dialled(place)
          const device = yield* openDevice()
          return yield* Effect.tap(exchange(device, connection, "client", settings, onAddresses(isLive)), () =>
            linger(isLive),
          )
        }),
      server: (port, listening, isLive) =>
        Effect.gen(function* () {
          const connection = yield* accepted(port, listening)
          const device = yield* openDevice()
          return yield* Effect.tap(exchange(device, connection, "server", settings, onAddresses(isLive)), () =>
            linger(isLive),
          )
        }),
    })
    if (input.json) return yield* print(JSON.stringify(jsonOf(outcome)))
    const report = reportOf(outcome)
    if (outcome.on === "fabric") yield* showAddresses(report.mine, report.theirs)
    for (const line of resultLines(report)) yield* print(line)
  }).pipe(endingWell(input.json))

const settingsOf = (input: PingpongInput): Effect.Effect<PingpongSettings, PingpongSettingError> =>
  Effect.try({
    try: () =>
      pingpongSettings({
        type: input.type,
        bytes: Option.getOrUndefined(input.size),
        iterations: Option.getOrUndefined(input.iterations),
        queuePairs: Option.getOrUndefined(input.queuePairs),
        mtuBytes: Option.getOrUndefined(input.mtu),
        rxDepth: Option.getOrUndefined(input.rxDepth),
        check: input.check,
        gidIndex: Option.getOrUndefined(input.gidIndex),
      }),
    catch: (error) => {
      if (error instanceof PingpongSettingError) return error
      throw error
    },
  })

const peerArguments = (input: PingpongInput): ReadonlyArray<string> => [
  ...["pingpong", input.type],
  ...flagsOf({
    size: input.size,
    iters: input.iterations,
    "num-qp": input.queuePairs,
    mtu: input.mtu,
    "rx-depth": input.rxDepth,
    chk: input.check,
    "gid-idx": input.gidIndex,
  }),
]

const addressText = ({ lid, qpn, psn, gid }: PingpongDestination): string => {
  const hex = (value: number, digits: number) => `0x${value.toString(16).padStart(digits, "0")}`
  return `LID ${hex(lid, 4)}, QPN ${hex(qpn, 6)}, PSN ${hex(psn, 6)}, GID ${formatGid(gid)}`
}

const showAddresses = (mine: ReadonlyArray<PingpongDestination>, theirs: ReadonlyArray<PingpongDestination>) =>
  Effect.gen(function* () {
    for (const address of mine) yield* print(`  local address:  ${addressText(address)}`)
    for (const address of theirs) yield* print(`  remote address: ${addressText(address)}`)
  })

const reportOf = (outcome: EndsOutcome<PingpongReport>): PingpongReport =>
  outcome.on === "fabric" ? outcome.client : outcome.value

const resultLines = ({ bytes, elapsedPs, settings: { iterations } }: PingpongReport): ReadonlyArray<string> => {
  const seconds = (elapsedPs / SECOND_PS).toFixed(2)
  const usec = elapsedPs / MICROSECOND_PS
  return [
    `${bytes} bytes in ${seconds} seconds = ${((bytes * 8) / usec).toFixed(2)} Mbit/sec`,
    `${iterations} iters in ${seconds} seconds = ${(usec / iterations).toFixed(2)} usec/iter`,
  ]
}

const jsonOf = (outcome: EndsOutcome<PingpongReport>) => {
  const { settings, bytes, elapsedPs, role } = reportOf(outcome)
  const { type, iterations, queuePairs, mtuBytes, check } = settings
  const common = {
    ok: true,
    type,
    on: outcome.on,
    role,
    messageBytes: settings.bytes,
    iterations,
    queuePairs,
    mtuBytes,
  }
  const result = { checked: check, bytes, elapsedPs, usPerIteration: elapsedPs / MICROSECOND_PS / iterations }
  return outcome.on === "fabric" ? { ...common, ...result, digest: outcome.digest } : { ...common, ...result }
}
