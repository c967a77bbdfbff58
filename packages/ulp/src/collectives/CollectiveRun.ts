import { applyAtomic } from "../rdm/Atomics.ts"
import type { RdmEndpoint } from "../rdm/RdmEndpoint.ts"
import type { RdmEvent, RdmFailure } from "../rdm/RdmEvent.ts"
import { CollectiveError } from "./CollectiveError.ts"
import { type CollectiveOperation, checkProgram, consumersOf, type Range, type RankProgram } from "./Program.ts"

export interface CollectiveOptions {
  readonly program: RankProgram
  readonly data: Uint8Array
  /** The endpoint's number of each rank's endpoint. */
  readonly peers: ReadonlyArray<number>
  /** Contexts from here on are this run's, as many as the program has operations. */
  readonly firstContext: number
  /** Tells the messages of this collective from others between the same ranks, 32 bits: all ranks say the same. */
  readonly channel: number
  /** How elements are combined: an `AtomicDatatype` and an `AtomicOperation` that writes. */
  readonly reduction?: { readonly datatype: number; readonly operation: number }
}

/** An operation that has not ended. */
export interface Unfinished {
  readonly index: number
  readonly operation: CollectiveOperation
  /** `blocked`: producers have not ended, or the endpoint has no room. `running`: it has begun. `failed`: it will not end. */
  readonly state: "blocked" | "running" | "failed"
  /** The producers that have not ended. */
  readonly waitsFor: ReadonlyArray<number>
  readonly failure: RdmFailure | undefined
}

type State = "waiting" | "ready" | "running" | "ended" | "failed"

/**
 * One rank's program, run over an endpoint. An operation begins when all its producers have ended and never before; when
 * one never does, what waits for it does not begin, and `unfinished` tells it by name. Hand in the endpoint's events, and
 * drain the endpoint after each call.
 */
export class CollectiveRun {
  private readonly endpoint: RdmEndpoint
  private readonly options: CollectiveOptions
  private readonly scratch: Uint8Array
  private readonly consumers: ReadonlyArray<ReadonlyArray<number>>
  private readonly states: Array<State>
  private readonly left: Array<number>
  private readonly failures = new Map<number, RdmFailure>()
  private ready: Array<number> = []
  private endedCount = 0

  /** @throws CollectiveError for a program that cannot end, and data of another length */
  constructor(endpoint: RdmEndpoint, options: CollectiveOptions) {
    const { program, data, peers } = options
    checkProgram(program)
    if (data.length !== program.dataBytes)
      throw new CollectiveError(`${data.length} bytes of data, expected ${program.dataBytes}`)
    if (peers.length !== program.ranks) throw new CollectiveError(`${peers.length} peers of ${program.ranks} ranks`)
    if (options.reduction === undefined && program.operations.some(({ kind }) => kind === "reduce"))
      throw new CollectiveError("a program that reduces, and no reduction")
    this.endpoint = endpoint
    this.options = options
    this.scratch = new Uint8Array(program.scratchBytes)
    this.consumers = consumersOf(program.operations)
    this.left = program.operations.map(({ after }) => after.length)
    this.states = program.operations.map(({ after }) => (after.length === 0 ? "ready" : "waiting"))
    this.ready = this.states.flatMap((state, index) => (state === "ready" ? [index] : []))
    this.proceed()
  }

  /** Every operation has ended. */
  get done(): boolean {
    return this.endedCount === this.states.length
  }

  /** What has not ended, and why. */
  get unfinished(): ReadonlyArray<Unfinished> {
    const { operations } = this.options.program
    return this.states.flatMap((state, index): ReadonlyArray<Unfinished> => {
      if (state === "ended") return []
      const operation = operations[index]!
      const waitsFor = operation.after.filter((producer) => this.states[producer] !== "ended")
      const told = state === "failed" ? "failed" : state === "running" ? "running" : "blocked"
      return [{ index, operation, state: told, waitsFor, failure: this.failures.get(index) }]
    })
  }

  /** A computation has ended. @throws CollectiveError for what is none that runs */
  finish(index: number): void {
    const operation = this.options.program.operations[index]
    if (operation?.kind !== "compute" || this.states[index] !== "running")
      throw new CollectiveError(`operation ${index} is no computation that runs`)
    this.end(index)
    this.proceed()
  }

  /** False for an event of something else. */
  handleEvent(event: RdmEvent): boolean {
    if (event.type === "remoteWrite") return false
    const index = event.context - this.options.firstContext
    if (this.states[index] === undefined) return false
    if (event.type === "failed") {
      this.states[index] = "failed"
      this.failures.set(index, event.reason)
    } else this.end(index)
    this.proceed()
    return true
  }

  /** Begins what is ready. What the endpoint has no room for stays so until the next event. */
  private proceed(): void {
    for (let index = this.ready.shift(); index !== undefined; index = this.ready.shift()) {
      if (this.begin(index)) continue
      this.ready.unshift(index)
      return
    }
  }

  /** False when there is no room for it now. */
  private begin(index: number): boolean {
    const { program, peers, firstContext, channel, reduction } = this.options
    const operation = program.operations[index]!
    const context = firstContext + index
    switch (operation.kind) {
      case "send":
      case "receive": {
        const tag = (BigInt(channel) << 32n) | BigInt(operation.step)
        const octets = this.octets(operation.range)
        const refusal =
          operation.kind === "send"
            ? this.endpoint.send(peers[operation.to]!, octets, context, { tag })
            : this.endpoint.receive(octets, context, { tag, from: peers[operation.from]! })
        if (refusal === "busy") return false
        this.states[index] = refusal === undefined ? "running" : "failed"
        if (refusal !== undefined) this.failures.set(index, "unreachable")
        return true
      }
      case "reduce": {
        const { datatype, operation: combines } = reduction!
        applyAtomic(datatype, combines, this.octets(operation.range), this.octets(operation.source), undefined)
        this.end(index)
        return true
      }
      case "copy":
        this.octets(operation.range).set(this.octets(operation.source))
        this.end(index)
        return true
      case "compute":
        this.states[index] = "running"
        return true
    }
  }

  private octets({ buffer, offset, bytes }: Range): Uint8Array {
    const whole = buffer === "data" ? this.options.data : this.scratch
    return whole.subarray(offset, offset + bytes)
  }

  private end(index: number): void {
    if (this.states[index] === "ended") return
    this.states[index] = "ended"
    this.endedCount++
    for (const consumer of this.consumers[index]!)
      if (--this.left[consumer]! === 0) {
        this.states[consumer] = "ready"
        this.ready.push(consumer)
      }
  }
}
