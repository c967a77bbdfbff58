import { type Completion, WcStatus, WrOpcode } from "@rdmakit/protocol"
import type { QueuePair } from "@rdmakit/verbs"
import { Effect } from "effect"
import type { Role } from "../outofband/PerftestSession.ts"
import { type ProgramError, posting, type WrongOctets, workFailed } from "../ProgramError.ts"
import { nextCompletion, type Progress } from "../perf/nextCompletion.ts"
import { checkMessage, checkPattern, fillPattern } from "./Pattern.ts"
import type { PingpongType } from "./PingpongOptions.ts"
import { GRH_BYTES, type PingpongSide } from "./PingpongSide.ts"

type SendWork = Parameters<QueuePair["postSend"]>[0]

/** Receives have the numbers from here on, sends those of their queue pairs. */
const RECEIVE_FIRST = 1 << 20
const SEND = 1
const RECEIVE = 2

/** What a network does to messages that nothing puts right. */
const UNORDERED: Readonly<Record<PingpongType, string | undefined>> = {
  rc: undefined,
  uc: "UC drops for good a message of which a packet is lost, comes twice or out of order; rc repairs it",
  ud: "UD loses for good what the network loses, and takes a datagram that comes twice for the next message; rc repairs it",
  srq: undefined,
}

/** The exchange itself: counts, and posts, as the loop of the examples of libibverbs. */
export class PingpongRun {
  readonly #side: PingpongSide
  readonly #role: Role
  readonly #datagram: SendWork["datagram"]
  /** What a queue pair waits for before it sends again. */
  readonly #pending: Array<number>
  /** Messages that it has begun. */
  readonly #rounds: Array<number>
  /** What it received and has not sent back. */
  readonly #unanswered: Array<number | undefined>
  readonly #free: Array<number>
  #posted = 0
  #sent = 0
  #received = 0

  constructor(side: PingpongSide, role: Role, datagram: SendWork["datagram"]) {
    this.#side = side
    this.#role = role
    this.#datagram = datagram
    this.#pending = side.queuePairs.map(() => RECEIVE)
    this.#rounds = side.queuePairs.map(() => 0)
    this.#unanswered = side.queuePairs.map(() => undefined)
    this.#free = side.slots.map((_, index) => index)
  }

  /** Posts all receives that there is memory for. @throws VerbsError */
  postReceives(): void {
    const { srq, queuePairs, slots } = this.#side
    for (let slot = this.#free.pop(); slot !== undefined; slot = this.#free.pop()) {
      const { address, length, lkey } = slots[slot]!
      const request = { id: RECEIVE_FIRST + slot, sges: [{ address, length, lkey }] }
      if (srq === undefined) queuePairs[0]!.postReceive(request)
      else srq.post(request)
      this.#posted++
    }
  }

  get run(): Effect.Effect<void, ProgramError> {
    const { cq, queuePairs, settings } = this.#side
    const { iterations, type } = settings
    const connection = type === "srq" ? "rc" : type
    const isDone = () => this.#sent >= iterations && this.#received >= iterations
    const begin = () => {
      if (this.#role === "client") for (let index = 0; index < queuePairs.length; index++) this.#send(index)
    }
    const take = (completion: Completion) => this.#take(completion)
    const progress = (): Progress => ({
      ...{ waitedFor: "messages", came: this.#received, wanted: iterations, doThis: UNORDERED[connection] },
    })
    const hasAll = () => this.#received >= iterations
    return Effect.gen(function* () {
      yield* posting(begin)
      while (!isDone()) {
        let completion: Completion | undefined = yield* nextCompletion(cq, connection, progress)
        for (; completion !== undefined; completion = cq.pollOne()) {
          const one = completion
          if (one.status !== WcStatus.Success) {
            // A peer that has everything ends, and its last acknowledgement may be lost.
            if (one.id < RECEIVE_FIRST && hasAll()) return
            return yield* workFailed(one.id < RECEIVE_FIRST ? "send" : "receive", one, queuePairs)
          }
          const wrong = yield* posting(() => take(one))
          if (wrong !== undefined) return yield* wrong
        }
      }
    })
  }

  /** @throws VerbsError */
  #take(completion: Completion): WrongOctets | undefined {
    const { queuePairs, settings } = this.#side
    const index = queuePairs.findIndex(({ number }) => number === completion.qpn)
    let wrong: WrongOctets | undefined
    if (completion.id < RECEIVE_FIRST) {
      this.#sent++
      this.#pending[index]! &= ~SEND
    } else {
      wrong = this.#receive(index, completion.id - RECEIVE_FIRST)
      this.#pending[index]! &= ~RECEIVE
    }
    if (this.#sent < settings.iterations && this.#pending[index] === 0) this.#send(index)
    return wrong
  }

  #receive(index: number, slot: number): WrongOctets | undefined {
    const { settings, slots, queuePairs } = this.#side
    const isClient = this.#role === "client"
    const number = this.#received++
    this.#posted--
    const octets = slots[slot]!.octets.subarray(settings.type === "ud" ? GRH_BYTES : 0)
    // A server has begun as many rounds as it has answered.
    const round = this.#roundOf(isClient ? this.#rounds[index]! - 1 : this.#rounds[index]!)
    const check = isClient ? checkPattern : checkMessage
    const wrong = settings.check ? check(octets, round, number, UNORDERED[settings.type]) : undefined
    if (isClient) this.#free.push(slot)
    else this.#unanswered[index] = slot
    if (this.#posted <= queuePairs.length) this.postReceives()
    return wrong
  }

  /** All messages of a shared queue are alike: Linux's server has one buffer for all. */
  #roundOf(count: number): number {
    return this.#side.settings.type === "srq" ? 0 : count
  }

  /** @throws VerbsError */
  #send(index: number): void {
    const { queuePairs, outgoing, slots, settings } = this.#side
    const { address, length, lkey, octets } = outgoing[index]!
    const slot = this.#unanswered[index]
    if (this.#role === "client") fillPattern(octets, this.#roundOf(this.#rounds[index]!))
    else if (slot !== undefined) {
      octets.set(slots[slot]!.octets.subarray(settings.type === "ud" ? GRH_BYTES : 0))
      this.#free.push(slot)
      this.#unanswered[index] = undefined
    }
    queuePairs[index]!.postSend({
      ...{ id: index, opcode: WrOpcode.Send, sges: [{ address, length, lkey }], signaled: true },
      ...(this.#datagram === undefined ? {} : { datagram: this.#datagram }),
    })
    this.#rounds[index]!++
    this.#pending[index] = SEND | RECEIVE
    // Its memory may be what the next receive waits for.
    if (slot !== undefined && this.#posted <= queuePairs.length) this.postReceives()
  }
}
