import { type Completion, type ReceiveRequest, type Time, WcStatus } from "@rdmakit/protocol"
import { Effect } from "effect"
import { bandwidthResult, receivedResult } from "../Bandwidth.ts"
import type { PerftestResults } from "../outofband/PerftestMessages.ts"
import { type ProgramError, posting, workFailed } from "../ProgramError.ts"
import { moderationOf } from "../Settings.ts"
import { LOST_IN_FLIGHT, nextCompletion, type Progress } from "./nextCompletion.ts"
import type { PerfPeer, PerfSide } from "./PerfSide.ts"
import { RECEIVE_FIRST, receiveRequest, type SendWork, sendRequest } from "./Requests.ts"

/** One size of one direction, as the side that posts has it (run_iter_bw). */
class Posting {
  readonly #side: PerfSide
  readonly #moderation: number
  readonly #bytes: number
  readonly #signaled: ReadonlyArray<SendWork>
  readonly #silent: ReadonlyArray<SendWork>
  /** By queue pair. */
  readonly #posted: Array<number>
  readonly #completed: Array<number>
  readonly #postedPs: Array<Time> = []
  readonly #completedPs: Array<Time> = []

  constructor(side: PerfSide, peer: PerfPeer, bytes: number) {
    const requests = (signaled: boolean) =>
      side.queuePairs.map((_, index) => sendRequest(side, peer, index, bytes, signaled))
    this.#side = side
    this.#bytes = bytes
    this.#moderation = moderationOf(side.settings, bytes)
    this.#signaled = requests(true)
    this.#silent = requests(false)
    this.#posted = side.queuePairs.map(() => 0)
    this.#completed = side.queuePairs.map(() => 0)
  }

  get isDone(): boolean {
    return this.#completedPs.length === this.#side.settings.iterations * this.#posted.length
  }

  /** Fills the queues. @throws VerbsError */
  fill(): void {
    const { context, queuePairs, settings } = this.#side
    const { iterations, txDepth } = settings
    for (let index = 0; index < queuePairs.length; index++) {
      const queuePair = queuePairs[index]!
      const most = Math.min(iterations, this.#completed[index]! + txDepth)
      for (let count = this.#posted[index]!; count < most; count++) {
        const isSignaled = count % this.#moderation === this.#moderation - 1 || count === iterations - 1
        this.#postedPs.push(context.now)
        queuePair.postSend((isSignaled ? this.#signaled : this.#silent)[index]!)
        this.#posted[index] = count + 1
      }
    }
  }

  get progress(): Progress {
    const wanted = this.#side.settings.iterations * this.#posted.length
    return { waitedFor: "completions", came: this.#completedPs.length, wanted }
  }

  complete(index: number, now: Time): void {
    const before = this.#completed[index]!
    const count = Math.min(this.#moderation, this.#side.settings.iterations - before)
    this.#completed[index] = before + count
    for (let done = 0; done < count; done++) this.#completedPs.push(now)
  }

  get results(): PerftestResults {
    const times = { postedPs: this.#postedPs, completedPs: this.#completedPs }
    return bandwidthResult({ ...times, bytes: this.#bytes, moderation: this.#moderation })
  }
}

/** One size of one direction, as the side that receives SENDs has it (run_iter_bw_server). */
class Receiving {
  readonly #side: PerfSide
  readonly #bytes: number
  readonly #requests: ReadonlyArray<ReceiveRequest>
  readonly #received: Array<number>
  #count = 0
  #firstPs = 0
  #lastPs = 0

  /** Posts as many receives as the queues hold, so that a peer may send. @throws VerbsError */
  constructor(side: PerfSide, bytes: number) {
    this.#side = side
    this.#bytes = bytes
    this.#requests = side.queuePairs.map((_, index) => receiveRequest(side, index, bytes))
    this.#received = side.queuePairs.map(() => 0)
    for (const [index, queuePair] of side.queuePairs.entries()) {
      for (let count = 0; count < side.settings.rxDepth; count++) queuePair.postReceive(this.#requests[index]!)
    }
  }

  get #most(): number {
    return this.#side.settings.iterations * this.#received.length
  }

  get isDone(): boolean {
    return this.#count === this.#most
  }

  get progress(): Progress {
    return { waitedFor: "messages", came: this.#count, wanted: this.#most, doThis: LOST_IN_FLIGHT }
  }

  /** @throws VerbsError */
  complete(index: number, now: Time): void {
    const { iterations, rxDepth } = this.#side.settings
    if (this.#count === 0) this.#firstPs = now
    this.#count++
    this.#lastPs = now
    const received = this.#received[index]! + 1
    this.#received[index] = received
    if (received + rxDepth <= iterations) this.#side.queuePairs[index]!.postReceive(this.#requests[index]!)
  }

  get results(): PerftestResults {
    return receivedResult(this.#bytes, this.#most, this.#firstPs, this.#lastPs)
  }
}

/** One size of a bandwidth test on one side. Receives are posted when it is made. */
export class BandwidthRun {
  readonly #side: PerfSide
  readonly #posting: Posting | undefined
  readonly #receiving: Receiving | undefined

  /** @throws VerbsError */
  constructor(side: PerfSide, peer: PerfPeer, bytes: number, isClient: boolean) {
    const { verb, bidirectional } = side.settings
    this.#side = side
    this.#posting = isClient || bidirectional ? new Posting(side, peer, bytes) : undefined
    this.#receiving = verb === "send" && (!isClient || bidirectional) ? new Receiving(side, bytes) : undefined
  }

  /** What this side does, from the first request to the last completion. */
  get run(): Effect.Effect<PerftestResults, ProgramError> {
    const { context, cq, settings, queuePairs } = this.#side
    const posts = this.#posting
    const receives = this.#receiving
    const take = (completion: Completion): void => {
      const { id } = completion
      if (id < RECEIVE_FIRST) posts?.complete(id, context.now)
      else receives?.complete(id - RECEIVE_FIRST, context.now)
    }
    const isDone = () => (posts?.isDone ?? true) && (receives?.isDone ?? true)
    // One of the two is there, and requests that are posted complete of themselves.
    const progress = () => (receives?.isDone === false ? receives : posts!).progress
    return Effect.gen(function* () {
      for (;;) {
        if (posts !== undefined) yield* posting(() => posts.fill())
        if (isDone()) break
        let completion: Completion | undefined = yield* nextCompletion(cq, settings.connection, progress)
        for (; completion !== undefined; completion = cq.pollOne()) {
          const one = completion
          if (one.status !== WcStatus.Success) return yield* workFailed(settings.verb, one, queuePairs)
          yield* posting(() => take(one))
        }
      }
      return (posts ?? receives)?.results ?? NOTHING
    })
  }
}

/** What a side has measured that only waited. */
export const NOTHING: PerftestResults = { bytes: 0, iterations: 0, peak: 0, average: 0, messageRate: 0 }
