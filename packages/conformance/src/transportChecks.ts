import { Opcode, type Packet, PacketPool, type PoolOptions } from "@rdmakit/packet"
import { type Engine, NEVER, type Time } from "@rdmakit/protocol"
import { fail } from "./ContractViolation.ts"
import type { Check } from "./controllerChecks.ts"
import { Draws } from "./Draws.ts"
import { type End, EnginePair, type EnginePairOptions, type PairEvent, telemetryAlive } from "./EnginePair.ts"
import { type FlowState, FlowWatch } from "./FlowWatch.ts"

/** What an event says of a message. */
export interface Outcome {
  readonly message: number
  readonly completed: boolean
  /** Where it says so: when, ps, and how many of its bytes were acknowledged. */
  readonly time?: Time
  readonly bytes?: number
}

/** A transport, as the suite gets hold of it. */
export interface TransportUnderTest<Command, Event, Endpoint extends Engine<Command, Event>> {
  readonly name: string
  /** The two ends of a fresh connection, whose packets live in `pool`. Either may be given messages to send. */
  readonly connect: (now: Time, pool: PacketPool) => readonly [Endpoint, Endpoint]
  /** The command to send a message of so many bytes, 0 or more. */
  readonly send: (message: number, bytes: number) => Command
  /** What an event says of a message; undefined when it says nothing of one. */
  readonly outcome: (event: Event) => Outcome | undefined
  /** Bytes of the peer's messages that this end has taken in, each once. */
  readonly received: (end: Endpoint) => number
  /**
   * Where it carries flows: an end of one, whose controller is listened to, which then is one for each end. Default: what
   * a transport tells its controllers is not looked at.
   */
  readonly flow?: (end: Endpoint) => FlowState
  /** The pool the packets need. Default: room for the telemetry of one hop. */
  readonly pool?: PoolOptions
}

/** What a transport promises beyond the contract. */
export interface TransportExpectations {
  /** Messages complete in the order of their commands. Default true. */
  readonly ordered?: boolean
  /** Losses are made up for. Default true; false for a transport that leaves it to its user, or to the network. */
  readonly recovers?: boolean
  /** Within this time after nothing comes through any more, each message is reported as failed, ps. Default NEVER. */
  readonly failsWithinPs?: Time
  /** What was acknowledged may have to be sent again, as of go-back-0: its controllers see acknowledgements go back. Default false. */
  readonly restarts?: boolean
  /** Whoever did not answer is not tried again. Default true; false for a transport without connections. */
  readonly connected?: boolean
}

const START: Time = 2e12
/** Time from end to end, ps. */
const FLIGHT: Time = 1e6
const SIZES = [0, 1, 2, 63, 64, 65, 255, 256, 257, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 0, 12_000, 3]
const SEEDS = [1, 2, 3, 4, 5]

type Path = NonNullable<EnginePairOptions<never, never>["path"]>

/** A network that loses, duplicates and delays packets by chance, each 0 to 1; `jitter` in flight times. */
interface Chances {
  readonly loss?: number
  readonly duplicate?: number
  readonly jitter?: number
}

const chanceWay = (seed: number, { loss = 0, duplicate = 0, jitter = 0 }: Chances): Way => {
  const draws = new Draws(seed)
  const delay = (): Time => FLIGHT + Math.floor(draws.next() * jitter * FLIGHT)
  const path = (): ReadonlyArray<Time> => {
    if (draws.next() < loss) return []
    return draws.next() < duplicate ? [delay(), delay()] : [delay()]
  }
  return { path, isShuffled: jitter > 0 }
}

/** What becomes of packets, and what the suite knows of it. */
interface Way {
  readonly path: Path
  /** Nothing is lost, duplicated or overtaken. Default false. */
  readonly isSound?: boolean
  /** Packets overtake each other. Default false. */
  readonly isShuffled?: boolean
}

/** Nothing happens to a packet. */
const direct: Way = { path: () => [FLIGHT], isSound: true }

/** Two ends, what was asked of them, and an account of its own of what came through. */
class Exchange<Command, Event, Endpoint extends Engine<Command, Event>> {
  readonly pool: PacketPool
  readonly ends: readonly [Endpoint, Endpoint]
  readonly pair: EnginePair<Command, Event>
  private readonly transport: TransportUnderTest<Command, Event, Endpoint>
  /** By end: the sizes of its messages, bytes; which of them ended, in order, and the bytes of these. */
  private readonly bytes: readonly [Array<number>, Array<number>] = [[], []]
  private readonly ended: readonly [Array<number>, Array<number>] = [[], []]
  private readonly endedBytes: [number, number] = [0, 0]
  /** By end: PSNs of its packets that reached the peer, and the bytes of these, each PSN once. */
  private readonly arrived: readonly [Set<number>, Set<number>] = [new Set(), new Set()]
  private readonly arrivedBytes: [number, number] = [0, 0]
  /** By end: the bytes of its messages that completed. */
  private readonly completedBytes: [number, number] = [0, 0]
  private readonly watches: ReadonlyArray<FlowWatch>
  private eventsSeen = 0

  constructor(
    transport: TransportUnderTest<Command, Event, Endpoint>,
    { path, isSound = false, isShuffled = false }: Way,
    { restless = false, restarts = false } = {},
  ) {
    this.transport = transport
    this.pool = new PacketPool(transport.pool ?? { telemetryHops: 1, telemetryRates: [1e9] })
    this.ends = transport.connect(START, this.pool)
    this.pair = new EnginePair({
      pool: this.pool,
      ends: this.ends,
      now: START,
      path,
      restless,
      onWay: (packet, { from, opcode, psn, payloadBytes }) => {
        this.watches[from]?.leaves(opcode < Opcode.Acknowledge, psn, payloadBytes)
        packet.stampHop(0, 0, 0, 0, 1)
      },
      onArrival: (_now, packet, to) => this.arrive(packet, to),
    })
    const { flow } = transport
    this.watches =
      flow === undefined
        ? []
        : this.ends.map(
            (end, from) =>
              new FlowWatch(flow(end), {
                now: () => this.pair.now,
                givenBytes: () => this.bytes[from as End].reduce((sum, each) => sum + each, 0),
                arrivedBytes: () => this.arrivedBytes[from as End],
                leastRttPs: 2 * FLIGHT,
                ...{ isSound, isShuffled, restarts },
              }),
          )
  }

  private arrive(packet: Packet, to: End): void {
    this.check()
    const from = to === 0 ? 1 : 0
    if (packet.opcode >= Opcode.Acknowledge || this.arrived[from].has(packet.psn)) return
    this.arrived[from].add(packet.psn)
    this.arrivedBytes[from] += packet.payloadBytes
  }

  send(from: End, sizes: ReadonlyArray<number>): void {
    for (const bytes of sizes) {
      this.bytes[from].push(bytes)
      this.pair.command(from, this.transport.send(this.bytes[from].length - 1, bytes))
    }
  }

  /** No more is taken in than has come, and nothing completes before it has. */
  private check(): void {
    for (const from of [0, 1] as const) {
      const taken = this.transport.received(this.ends[from === 0 ? 1 : 0])
      const came = this.arrivedBytes[from]
      if (taken > came) fail(`the receiver counts ${taken} bytes, but ${came} have reached it`)
    }
    for (; this.eventsSeen < this.pair.events.length; this.eventsSeen++) this.see(this.pair.events[this.eventsSeen]!)
  }

  private see({ time, end, event }: PairEvent<Event>): void {
    const outcome = this.transport.outcome(event)
    if (outcome === undefined) return
    const { message, completed, bytes } = outcome
    if (this.bytes[end][message] === undefined) fail(`message ${message} ended, but nobody sent it`)
    if (this.ended[end].includes(message)) fail(`message ${message} ended twice`)
    this.ended[end].push(message)
    const size = this.bytes[end][message]!
    this.endedBytes[end] += size
    if ((outcome.time ?? time) !== time) fail(`message ${message} ended at ${time} ps, its event says ${outcome.time}`)
    if (bytes !== undefined && (completed ? bytes !== size : !(bytes >= 0 && bytes <= size))) {
      fail(`message ${message} of ${size} bytes ${completed ? "completed" : "failed"}, its event says ${bytes} bytes`)
    }
    if (!completed) return
    this.completedBytes[end] += size
    this.watches[end]?.ended(this.completedBytes[end])
    const done = this.endedBytes[end]
    const taken = this.transport.received(this.ends[end === 0 ? 1 : 0])
    if (taken < done) fail(`message ${message} completed, but of ${done} bytes the receiver has only ${taken}`)
  }

  /** Runs until nothing more happens; then every message must have ended, and nothing be left anywhere. */
  finish(expectations: TransportExpectations, how: "completed" | "failed" | "either" = "completed"): void {
    this.pair.run()
    this.check()
    this.ended.forEach((ended, end) => {
      const sent = this.bytes[end as End]
      if (ended.length !== sent.length) fail(`${ended.length} of ${sent.length} messages ended, then it fell silent`)
      if ((expectations.ordered ?? true) && ended.some((message, index) => message !== index)) {
        fail(`messages ended in the order ${ended.join(", ")}`)
      }
      const total = sent.reduce((sum, each) => sum + each, 0)
      const taken = this.transport.received(this.ends[end === 0 ? 1 : 0])
      if (how === "completed") this.watches[end]?.completed(total)
      if (how === "completed" && taken !== total) fail(`${total} bytes were sent, but the receiver counts ${taken}`)
    })
    for (const { event } of this.pair.events) {
      const outcome = this.transport.outcome(event)
      if (outcome === undefined || how === "either") continue
      if (outcome.completed !== (how === "completed")) {
        fail(`message ${outcome.message} ${how === "completed" ? "failed" : "completed, though nothing came through"}`)
      }
    }
    this.checkIdle()
  }

  private checkIdle(): void {
    for (const end of this.ends) {
      if (end.nextSend !== NEVER) fail(`idle, nextSend is ${end.nextSend} ps and not NEVER`)
      if (end.nextTimeout !== NEVER) fail(`idle, nextTimeout is ${end.nextTimeout} ps and not NEVER`)
      if (end.pollEvent() !== undefined) fail("idle, it has an event that nothing led to")
    }
    if (this.pool.alive !== 0) fail(`idle, ${this.pool.alive} packets are still alive`)
    const blocks = telemetryAlive(this.pool)
    if (blocks !== 0) fail(`idle, ${blocks} telemetry blocks are still out`)
  }
}

/**
 * What `transportSuite` registers, for other test runners: run each, and count what throws. A broken promise of the
 * contract is a `ContractViolation`.
 */
export const transportChecks = <Command, Event, Endpoint extends Engine<Command, Event>>(
  transport: TransportUnderTest<Command, Event, Endpoint>,
  expectations: TransportExpectations = {},
): ReadonlyArray<Check> => {
  const { restarts = false } = expectations
  const exchange = (way: Way, restless = false) => new Exchange(transport, way, { restless, restarts })

  const idle: Check = {
    name: "is idle until it is given work",
    run: () => {
      const each = exchange(direct)
      each.finish(expectations)
      if (each.pair.sent.length > 0) fail("it sent a packet, though nobody gave it work")
    },
  }

  const sizes: Check = {
    name: "delivers messages of every size, in one way and in both",
    run: () => {
      for (const size of SIZES) {
        const each = exchange(direct)
        each.send(0, [size])
        each.finish(expectations)
      }
      const both = exchange(direct)
      both.send(0, SIZES)
      both.send(1, SIZES.toReversed())
      both.finish(expectations)
    },
  }

  const again: Check = {
    name: "goes on after it was idle",
    run: () => {
      const each = exchange(direct)
      for (let round = 0; round < 5; round++) {
        each.send(0, [round === 2 ? 0 : 5000, 10])
        each.finish(expectations)
        each.pair.run(each.pair.now + 1e9)
      }
    },
  }

  const restless: Check = {
    name: "is not disturbed by timeouts nobody asked for; the same input gives the same output",
    run: () => {
      const sent = [false, true, false].map((disturbed) => {
        const chances = expectations.recovers === false ? {} : { loss: 0.1, duplicate: 0.05, jitter: 3 }
        const each = exchange(chanceWay(7, chances), disturbed)
        each.send(0, SIZES)
        each.send(1, [5000])
        each.finish(expectations)
        return JSON.stringify([each.pair.sent, each.pair.events])
      })
      if (sent[1] !== sent[0]) fail("early timeouts changed what it sent, or when")
      if (sent[2] !== sent[0]) fail("two runs of the same input sent different packets")
    },
  }

  const lossy = (name: string, chances: Chances): Check => ({
    name: `nothing lost, nothing twice: ${name}`,
    run: () => {
      for (const seed of SEEDS) {
        const each = exchange(chanceWay(seed, chances))
        each.send(0, SIZES)
        each.send(1, [20_000, 0, 1])
        each.finish(expectations)
      }
    },
  })

  const tail: Check = {
    name: "recovers the last packet, and the last acknowledgement, of a message",
    run: () => {
      for (const size of [0, 1, 10_000]) {
        const plain = exchange(direct)
        plain.send(0, [size])
        plain.finish(expectations)
        for (const from of [0, 1] as const) {
          const last = plain.pair.sent.findLast((crossing) => crossing.from === from)?.ordinal
          const each = exchange({
            path: (crossing) => (crossing.from === from && crossing.ordinal === last ? [] : direct.path(crossing)),
          })
          each.send(0, [size])
          each.finish(expectations)
        }
      }
    },
  }

  const deadPeer: Check = {
    name: "reports what it cannot deliver, and is silent then",
    run: () => {
      const limit = expectations.failsWithinPs ?? NEVER
      for (const through of [0, 1]) {
        const each = exchange({ path: ({ ordinal }) => (ordinal < through ? [FLIGHT] : []) })
        each.send(0, [12_000, 0, 1])
        const { now } = each.pair
        each.finish(expectations, through === 0 ? "failed" : "either")
        const took = each.pair.now - now
        if (took > limit) fail(`it took ${took} ps to report, more than ${limit}`)
        const before = each.pair.sent.length
        each.send(0, [10])
        each.finish(expectations, "either")
        if (each.pair.sent.length > before && (expectations.connected ?? true))
          fail("it sends again, though it has reported the connection's end")
      }
    },
  }

  const checks = [idle, sizes, again, restless]
  if (expectations.recovers ?? true) {
    checks.push(
      lossy("lost packets", { loss: 0.05 }),
      lossy("many lost packets", { loss: 0.2 }),
      lossy("duplicates", { duplicate: 0.3 }),
      lossy("overtaking packets", { jitter: 8 }),
      lossy("all of it", { loss: 0.1, duplicate: 0.1, jitter: 5 }),
      tail,
    )
  }
  if (expectations.failsWithinPs !== undefined) checks.push(deadPeer)
  return checks
}
