import { PacketPool } from "@rdmakit/packet"
import { type ControllerFactory, type FlowCommand, type FlowEvent, unpaced } from "@rdmakit/protocol"
import { type Crossing, type End, EnginePair, type EnginePairOptions } from "./EnginePair.ts"
import type { SeededDraws } from "./SeededDraws.ts"

const US = 1e6

/** How a window that never rests moves, bytes. */
export interface RestlessLaw {
  readonly start: number
  /** It grows by this with each acknowledgement, to `most`. */
  readonly step: number
  readonly most: number
  /** What is left of it after a loss, or a timeout. */
  readonly lost: (window: number, timeout: boolean) => number
}

const bySegments = (mtuBytes: number): RestlessLaw => ({
  start: 10 * mtuBytes,
  step: mtuBytes,
  most: 1e6,
  lost: (window, timeout) => (timeout ? mtuBytes : Math.max(mtuBytes, window / 2)),
})

/**
 * Congestion control that takes an engine through windows of every size, at line rate. By default its window halves with
 * each loss, is a segment after a timeout, and grows by one with each acknowledgement.
 */
export const restlessWindow = (lawOf: (mtuBytes: number) => RestlessLaw = bySegments): ControllerFactory => ({
  name: "restless",
  needs: [],
  make: (_now, { lineRateBps, mtuBytes }) => {
    const { start, step, most, lost } = lawOf(mtuBytes)
    const controller = {
      ...unpaced,
      window: start,
      rate: lineRateBps,
      onAck: () => {
        controller.window = Math.min(most, controller.window + step)
        return true
      },
      onLoss: (_time: number, timeout: boolean) => {
        const before = controller.window
        controller.window = lost(before, timeout)
        return controller.window !== before
      },
    }
    return controller
  },
})

/**
 * A random way between two ends: packets are lost by chance, each way by its own, and duplicated; delays let them overtake
 * each other; and up to three times nothing comes through, for 5 µs to 100 ms, one way or both.
 */
export const randomPath = (draws: SeededDraws): NonNullable<EnginePairOptions<never, never>["path"]> => {
  const flightPs = draws.pick([1, 6, 50, 400]) * US
  const chances = [0, 0.001, 0.01, 0.1, 0.3]
  const loss = [draws.pick(chances), draws.pick(chances)]
  const duplicate = draws.pick([0, 0, 0.01, 0.2])
  const jitter = draws.pick([0, 0, 0.1, 1, 5])
  const outages = Array.from({ length: draws.below(4) }, () => {
    const from = draws.below(20_000) * US
    return { from, to: from + draws.pick([5, 100, 5000, 100_000]) * US, way: draws.below(3) }
  })
  const delay = (): number => flightPs + Math.floor(draws.next() * jitter * flightPs)
  return ({ time, from }: Crossing): ReadonlyArray<number> => {
    if (outages.some((out) => time >= out.from && time < out.to && (out.way === 2 || out.way === from))) return []
    if (draws.next() < loss[from]!) return []
    return draws.next() < duplicate ? [delay(), delay()] : [delay()]
  }
}

export interface RandomFlows
  extends Required<Pick<EnginePairOptions<FlowCommand, FlowEvent>, "ends" | "path">>,
    Pick<EnginePairOptions<FlowCommand, FlowEvent>, "onWay"> {
  readonly draws: SeededDraws
  /** Bytes that messages may have. */
  readonly sizes: ReadonlyArray<number>
  /** Bytes of the peer's messages that this end has taken in, each once. */
  readonly received: (end: End) => number
  /** Messages complete in the order of their commands. Default true. */
  readonly ordered?: boolean
}

/**
 * Up to thirty messages of random sizes, both ways at random times, between the ends of a flow that recovers. Returns what
 * is wrong, in words: a message that did not complete once with all its bytes; bytes that were lost or came twice; packets
 * that are left over; a contract that was broken.
 */
export const runRandomFlows = (flows: RandomFlows): ReadonlyArray<string> => {
  const { draws, ends, path, onWay, received, ordered = true } = flows
  const pool = new PacketPool()
  const pair = new EnginePair<FlowCommand, FlowEvent>({ pool, ends, path, ...(onWay === undefined ? {} : { onWay }) })
  const sizes: readonly [Array<number>, Array<number>] = [[], []]
  const wrong: Array<string> = []
  try {
    for (let left = 1 + draws.below(30); left > 0; left--) {
      const end = draws.below(2) as End
      const writeBytes = draws.pick(flows.sizes)
      sizes[end].push(writeBytes)
      pair.command(end, { message: sizes[end].length - 1, writeBytes })
      if (draws.below(2) === 0) pair.run(pair.now + draws.pick([1, 20, 300, 3000]) * US)
    }
    pair.run()
  } catch (error) {
    wrong.push(String(error))
  }
  const inOrder = (told: Array<string>): string => (ordered ? told : told.sort()).join()
  for (const end of [0, 1] as const) {
    const ended = pair.events.filter((each) => each.end === end).map(({ event }) => event)
    const told = inOrder(ended.map(({ message, type, bytes }) => `${message} ${type} ${bytes}`))
    const expected = inOrder(sizes[end].map((bytes, message) => `${message} completed ${bytes}`))
    if (told !== expected) wrong.push(`end ${end}: told [${told}], expected [${expected}]`)
    const came = received(end === 0 ? 1 : 0)
    const sent = sizes[end].reduce((sum, bytes) => sum + bytes, 0)
    if (came !== sent) wrong.push(`end ${end} sent ${sent} bytes, and ${came} were taken in`)
  }
  if (pool.alive !== 0) wrong.push(`${pool.alive} packets are left over`)
  return wrong
}
