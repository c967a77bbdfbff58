import { type Completion, type Time, WcStatus } from "@rdmakit/protocol"
import { Effect } from "effect"
import { type LatencyResult, latencyResult } from "../Latency.ts"
import { type ProgramError, posting, workFailed } from "../ProgramError.ts"
import { memoryWritten } from "./memoryWritten.ts"
import { LOST_ALONE, nextCompletion, type Progress } from "./nextCompletion.ts"
import { type PerfPeer, type PerfSide, receiveOffset, sendOffset } from "./PerfSide.ts"
import { RECEIVE_FIRST, receiveRequest, sendRequest } from "./Requests.ts"

/** One size of a latency test on one side. Receives are posted when it is made. */
export class LatencyRun {
  readonly #side: PerfSide
  readonly #peer: PerfPeer
  readonly #bytes: number
  readonly #isClient: boolean
  readonly #postedPs: Array<Time> = []
  /** Completions that have come and were not waited for yet. */
  #sent = 0
  #received = 0
  /** Messages of the peer that were waited for, and came. */
  #came = 0

  /** @throws VerbsError */
  constructor(side: PerfSide, peer: PerfPeer, bytes: number, isClient: boolean) {
    this.#side = side
    this.#peer = peer
    this.#bytes = bytes
    this.#isClient = isClient
    if (side.settings.verb !== "send") return
    const receive = receiveRequest(side, 0, bytes)
    for (let count = 0; count < side.settings.rxDepth; count++) side.queuePairs[0]!.postReceive(receive)
  }

  /** What this side does; undefined: it only waits, and has nothing to tell. */
  get run(): Effect.Effect<LatencyResult | undefined, ProgramError> {
    const { verb } = this.#side.settings
    if (verb === "send") return Effect.map(this.#sends, () => this.#result(true))
    if (verb === "write") return Effect.map(this.#writes, () => this.#result(true))
    return this.#isClient ? Effect.map(this.#requests, () => this.#result(false)) : Effect.succeed(undefined)
  }

  #result(halved: boolean): LatencyResult {
    return latencyResult(this.#bytes, this.#postedPs, halved)
  }

  /** READs and atomics: one after the other (run_iter_lat). */
  get #requests(): Effect.Effect<void, ProgramError> {
    const { iterations } = this.#side.settings
    const one = Effect.andThen(this.#post, this.#awaitSend)
    return Effect.asVoid(Effect.forEach(Array.from({ length: iterations }), () => one, { discard: true }))
  }

  /** SENDs to and fro: the client begins (run_iter_lat_send). */
  get #sends(): Effect.Effect<void, ProgramError> {
    const { iterations, rxDepth } = this.#side.settings
    const [queuePair] = this.#side.queuePairs
    const receive = receiveRequest(this.#side, 0, this.#bytes)
    const [post, awaitSend, awaitReceive, isClient] = [this.#post, this.#awaitSend, this.#awaitReceive, this.#isClient]
    return Effect.gen(function* () {
      let received = 0
      let sent = 0
      while (sent < iterations || received < iterations) {
        if (received < iterations && !(sent === 0 && isClient)) {
          yield* awaitReceive
          received++
          if (received + rxDepth <= iterations) yield* posting(() => queuePair!.postReceive(receive))
        }
        if (sent < iterations) {
          yield* post
          sent++
          yield* awaitSend
        }
      }
    })
  }

  /**
   * WRITEs to and fro: the server begins, and each side waits for the last octet of the other's message, which counts
   * (run_iter_lat_write).
   */
  get #writes(): Effect.Effect<void, ProgramError> {
    const side = this.#side
    const { iterations, connection } = side.settings
    const { region } = side
    const last = this.#bytes - 1
    const outgoing = sendOffset(side, 0) + last
    const incoming = receiveOffset(side, 0) + last
    // It is 0 still: shorter messages have not come so far, and the other side may have begun already.
    const [post, awaitSend, isClient] = [this.#post, this.#awaitSend, this.#isClient]
    return Effect.gen(function* () {
      let received = 0
      let sent = 0
      const progress = (): Progress => ({
        ...{ waitedFor: "writes", came: received - 1, wanted: iterations },
        doThis: connection === "rc" ? undefined : LOST_ALONE,
      })
      while (sent < iterations || received < iterations) {
        if (received < iterations && !(sent === 0 && !isClient)) {
          received++
          const wanted = received & 0xff
          yield* memoryWritten(region, connection, progress, () => region.octets[incoming] === wanted)
        }
        if (sent < iterations) {
          sent++
          region.octets[outgoing] = sent & 0xff
          yield* post
          yield* awaitSend
        }
      }
    })
  }

  get #post(): Effect.Effect<void, ProgramError> {
    const [queuePair] = this.#side.queuePairs
    const request = sendRequest(this.#side, this.#peer, 0, this.#bytes, true)
    return posting(() => {
      this.#postedPs.push(this.#side.context.now)
      queuePair!.postSend(request)
    })
  }

  get #awaitSend(): Effect.Effect<void, ProgramError> {
    return this.#await(
      () => this.#sent > 0,
      () => this.#sent--,
    )
  }

  get #awaitReceive(): Effect.Effect<void, ProgramError> {
    return this.#await(
      () => this.#received > 0,
      () => {
        this.#received--
        this.#came++
      },
    )
  }

  /** Takes completions until one of the wanted kind is there, and uses it up. */
  #await(isThere: () => boolean, use: () => void): Effect.Effect<void, ProgramError> {
    const { cq, settings, queuePairs } = this.#side
    const note = ({ id }: Completion): void => {
      if (id < RECEIVE_FIRST) this.#sent++
      else this.#received++
    }
    const progress = (): Progress => ({
      ...{ waitedFor: "messages", came: this.#came, wanted: settings.iterations, doThis: LOST_ALONE },
    })
    return Effect.gen(function* () {
      while (!isThere()) {
        const completion = yield* nextCompletion(cq, settings.connection, progress)
        if (completion.status !== WcStatus.Success) return yield* workFailed(settings.verb, completion, queuePairs)
        note(completion)
      }
      use()
    })
  }
}
