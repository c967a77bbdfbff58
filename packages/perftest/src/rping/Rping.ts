import { type Time, WcStatus } from "@rdmakit/protocol"
import {
  type AccessName,
  type CompletionQueue,
  type ConnectionError,
  connectionManager,
  type DeviceContext,
  type MemoryRegion,
  type QueuePair,
  type WorkFailed,
} from "@rdmakit/verbs"
import { Data, Effect, Fiber, type Scope } from "effect"
import { FormatError } from "../outofband/FormatError.ts"
import { parsed } from "../outofband/PerftestSession.ts"
import { emitRping, parseRping, RPING_BYTES, type RpingBuffer } from "../outofband/RpingMessage.ts"
import { type ProgramError, posting, WrongOctets, workFailed } from "../ProgramError.ts"
import { fillPing, pingText } from "./PingText.ts"

/** Bytes of a ping: rping has a number in front, and buffers of 64 KiB. */
export const RPING_BYTES_MIN = 16
export const RPING_BYTES_MAX = 65_536

export interface RpingSettings {
  /** Of a ping, 16 to 65,536: the client's. Default 64. */
  readonly bytes: number
  /** Rounds: the client's. Default 10. */
  readonly rounds: number
  /** The client compares what comes back with what it sent. */
  readonly validate: boolean
}

/** What one side has to tell. */
export interface RpingReport {
  readonly role: "client" | "server"
  readonly peer: string
  readonly rounds: number
  /** Of the last ping. */
  readonly bytes: number
  readonly elapsedPs: Time
}

export interface RpingWatch {
  /**
   * The client's: its peer has not answered for so many seconds, first 2, then every 20. After sixteen questions, 103 s, it
   * fails with `ConnectionUnreachable`.
   */
  readonly waiting?: (peer: string, seconds: number) => Effect.Effect<void>
  /** What the client has sent, or the server has read. */
  readonly ping?: (text: string) => Effect.Effect<void>
}

/** Pings that cannot be. */
export class RpingSettingError extends Data.TaggedError("RpingSettingError")<{
  readonly option: keyof RpingSettings
  readonly found: string
  readonly expected: string
}> {
  override get message(): string {
    return `${this.option}: found ${this.found}, expected ${this.expected}`
  }
}

/** @throws RpingSettingError */
export const rpingSettings = (options: Partial<RpingSettings>): RpingSettings => {
  const { bytes = 64, rounds = 10, validate = false } = options
  const check = (option: "bytes" | "rounds", value: number, least: number, most: number): void => {
    if (Number.isInteger(value) && value >= least && value <= most) return
    throw new RpingSettingError({ option, found: String(value), expected: `a whole number ${least}..${most}` })
  }
  check("bytes", bytes, RPING_BYTES_MIN, RPING_BYTES_MAX)
  check("rounds", rounds, 1, 2 ** 31 - 1)
  return { bytes, rounds, validate }
}

const ACCESS: ReadonlyArray<AccessName> = ["local-write", "remote-read", "remote-write"]
const RECEIVE = 1
/** rping's queues. */
const CQ_CAPACITY = 32
/** A peer's silence is told of after so many seconds, then every so many. */
const SILENT_S = 2
const AGAIN_S = 20
/** READs outstanding. */
const DEPTHS = { responderResources: 1, initiatorDepth: 1 }

/** A queue pair with its buffers, as both sides have it. */
interface Side {
  readonly cq: CompletionQueue
  readonly queuePair: QueuePair
  /** What the client reads from and the server reads into. */
  readonly source: MemoryRegion
  /** What the client is written to. */
  readonly sink: MemoryRegion
  /** A message of 16 octets each way. */
  readonly incoming: MemoryRegion
  readonly outgoing: MemoryRegion
}

const makeSide = (context: DeviceContext, bytes: number) =>
  Effect.gen(function* () {
    const domain = yield* context.protectionDomain
    const cq = yield* context.completionQueue(CQ_CAPACITY)
    const capabilities = { maxSendWr: 16, maxRecvWr: 2, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: 0 }
    const queuePair = yield* domain.queuePair({ type: "rc", cq, capabilities })
    const source = yield* domain.memory(bytes, ACCESS)
    const sink = yield* domain.memory(bytes, ACCESS)
    const incoming = yield* domain.memory(RPING_BYTES, ["local-write"])
    const outgoing = yield* domain.memory(RPING_BYTES)
    return { cq, queuePair, source, sink, incoming, outgoing } satisfies Side as Side
  })

/** There is a receive before the peer may send. */
const postReceive = ({ queuePair, incoming }: Side) =>
  posting(() => {
    const { address, length, lkey } = incoming
    queuePair.postReceive({ id: RECEIVE, sges: [{ address, length, lkey }] })
  })

/** The peer's next message; undefined: it has ended the connection. */
const nextMessage = (side: Side): Effect.Effect<RpingBuffer | undefined, ProgramError> =>
  Effect.gen(function* () {
    const completion = yield* side.cq.next
    if (completion.status === WcStatus.WrFlushErr) return undefined
    if (completion.status !== WcStatus.Success) return yield* workFailed("receive", completion, [side.queuePair])
    const octets = side.incoming.octets.slice(0, completion.byteLength)
    yield* postReceive(side)
    return yield* parsed(() => parseRping(octets))
  })

const tell = ({ queuePair, outgoing }: Side, buffer: RpingBuffer) =>
  Effect.suspend(() => {
    outgoing.octets.set(emitRping(buffer))
    return queuePair.send(outgoing)
  })

const bufferOf = ({ address, rkey }: MemoryRegion, bytes: number): RpingBuffer => ({
  address: BigInt(address),
  rkey,
  bytes,
})

/** The client: what it tells the server of is read, and written back (rping_test_client). */
export const rpingClient = (
  context: DeviceContext,
  host: string,
  port: number,
  { bytes, rounds, validate }: RpingSettings,
  watch: RpingWatch = {},
): Effect.Effect<RpingReport, ProgramError | ConnectionError, Scope.Scope> =>
  Effect.gen(function* () {
    const manager = yield* connectionManager(context)
    const side = yield* makeSide(context, bytes)
    const resolved = yield* manager.resolve(host, { port })
    yield* manager.prepare(side.queuePair)
    yield* postReceive(side)
    const { waiting } = watch
    const telling = waiting === undefined ? Effect.void : silence((seconds) => waiting(resolved.peer, seconds))
    const teller = yield* Effect.forkChild(telling)
    const connection = yield* manager
      .connect(resolved, { queuePair: side.queuePair, ...DEPTHS })
      .pipe(Effect.ensuring(Fiber.interrupt(teller)))
    const startPs = context.now
    const answer = Effect.flatMap(nextMessage(side), (message) => (message === undefined ? left : Effect.void))
    for (let round = 0; round < rounds; round++) {
      fillPing(side.source.octets, round)
      yield* tell(side, bufferOf(side.source, bytes))
      yield* answer
      side.sink.octets.fill(0)
      yield* tell(side, bufferOf(side.sink, bytes))
      yield* answer
      if (validate) yield* compare(side, round)
      yield* watch.ping?.(pingText(side.sink.octets)) ?? Effect.void
    }
    const elapsedPs = context.now - startPs
    yield* connection.disconnect
    return { role: "client", peer: connection.peer.name, rounds, bytes, elapsedPs }
  })

/** Tells of a silence for as long as it lasts. */
const silence = (tell: (seconds: number) => Effect.Effect<void>): Effect.Effect<void> =>
  Effect.gen(function* () {
    yield* Effect.sleep(`${SILENT_S} seconds`)
    for (let seconds = SILENT_S; ; seconds += AGAIN_S) {
      yield* tell(seconds)
      yield* Effect.sleep(`${AGAIN_S} seconds`)
    }
  })

/** The server of one client: it reads, writes back, and ends when the client does (rping_test_server). */
export const rpingServer = (
  context: DeviceContext,
  port: number,
  listening: Effect.Effect<void> = Effect.void,
  watch: RpingWatch = {},
): Effect.Effect<RpingReport, ProgramError | ConnectionError, Scope.Scope> =>
  Effect.gen(function* () {
    const manager = yield* connectionManager(context)
    const listener = yield* manager.listen({ port })
    yield* listening
    const request = yield* listener.next
    const side = yield* makeSide(context, RPING_BYTES_MAX)
    yield* manager.prepare(side.queuePair)
    yield* postReceive(side)
    const connection = yield* request.accept({ queuePair: side.queuePair, ...DEPTHS })
    const startPs = context.now
    let rounds = 0
    let bytes = 0
    for (;;) {
      const source = yield* nextMessage(side)
      if (source === undefined) break
      yield* checkLength(source)
      bytes = source.bytes
      const ping = side.source.range(0, bytes)
      yield* side.queuePair.read(ping, remote(source))
      yield* watch.ping?.(pingText(ping.octets)) ?? Effect.void
      yield* tell(side, source)
      const sink = yield* nextMessage(side)
      if (sink === undefined) break
      yield* checkLength(sink)
      yield* side.queuePair.write(side.source.range(0, Math.min(bytes, sink.bytes)), remote(sink))
      rounds++
      // A client that has all its rounds may end the connection before this side knows that its last word has come.
      yield* Effect.catchIf(tell(side, sink), isFlushed, () => Effect.void)
    }
    const elapsedPs = context.now - startPs
    yield* connection.ended
    return { role: "server", peer: connection.peer.name, rounds, bytes, elapsedPs }
  })

const isFlushed = (error: { readonly _tag: string }): error is WorkFailed =>
  error._tag === "WorkFailed" && (error as WorkFailed).status === "WR_FLUSH_ERR"

const left = Effect.suspend(() =>
  Effect.fail(
    new FormatError({ format: "rping", field: "answer", found: "the end of the connection", expected: "16 octets" }),
  ),
)

const remote = ({ address, rkey }: RpingBuffer) => ({
  address: address <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(address) : address,
  rkey,
})

const checkLength = ({ bytes }: RpingBuffer): Effect.Effect<void, FormatError> => {
  if (bytes <= RPING_BYTES_MAX) return Effect.void
  const expected = `at most ${RPING_BYTES_MAX}`
  return Effect.fail(new FormatError({ format: "rping buffer", field: "size", found: `${bytes} bytes`, expected }))
}

const compare = ({ source, sink }: Side, round: number): Effect.Effect<void, WrongOctets> =>
  Effect.suspend(() => {
    const offset = source.octets.findIndex((octet, at) => octet !== sink.octets[at])
    if (offset < 0) return Effect.void
    const expected = `0x${source.octets[offset]!.toString(16)}`
    return Effect.fail(new WrongOctets({ number: round, offset, found: sink.octets[offset]!, expected }))
  })
