import { Provider } from "@rdmakit/device/layer"
import { NetworkLinks, QueuePairs, simulateProgram, Topology } from "@rdmakit/fabric"
import type { Completion } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { Cause, Effect, Exit, Fiber, Layer } from "effect"
import { statusName } from "../src/index.ts"
import { type EndOptions, end, pattern } from "./ends.ts"
import { GRAPH } from "./worlds.ts"

/** What one request does, and where its octets come from or go to. Every one has a place of its own. */
interface Step {
  readonly kind: "send" | "write" | "read" | "add"
  readonly signaled: boolean
  readonly bytes: number
  readonly place: number
  readonly immediate: number | undefined
  readonly fence: boolean
}

/** What a run with a seed is made of. */
export interface Plan {
  readonly seed: number
  readonly selective: boolean
  readonly pathMtuBytes: number
  readonly impairment: {
    readonly loss: number
    readonly corruption: number
    readonly duplication: number
    readonly reordering: number
    readonly reorderPs: number
  }
  /** Steps of each queue pair, all of them from the left to the right. */
  readonly lanes: ReadonlyArray<ReadonlyArray<Step>>
  readonly receivesLatePs: number
}

const PLACE_BYTES = 16_384
const STEPS_MAX = 24
const MEMORY_BYTES = PLACE_BYTES * (STEPS_MAX + 1)
/** Eight octets that are added to lie behind all places. */
const COUNTER = PLACE_BYTES * STEPS_MAX

export const planOf = (seed: number): Plan => {
  const random = new Random(seed, 0x706c616e)
  const below = (count: number): number => Math.floor(random.next() * count)
  const pick = <A>(...choices: ReadonlyArray<A>): A => choices[below(choices.length)]!
  const step = (place: number): Step => {
    const kind = pick("send", "send", "write", "write", "read", "add")
    const carries = kind === "send" || kind === "write"
    return {
      kind,
      signaled: random.next() < 0.7,
      bytes: kind === "add" ? 8 : pick(0, 1, below(300), below(5000), below(PLACE_BYTES)),
      place: place * PLACE_BYTES,
      immediate: carries && random.next() < 0.4 ? random.bits() : undefined,
      fence: random.next() < 0.2,
    }
  }
  return {
    seed,
    selective: random.next() < 0.5,
    pathMtuBytes: pick(256, 1024, 4096),
    impairment: {
      loss: random.next() * 0.04,
      corruption: random.next() * 0.01,
      duplication: random.next() * 0.04,
      reordering: random.next() * 0.1,
      reorderPs: 1e6 + below(30e6),
    },
    lanes: Array.from({ length: 1 + below(3) }, () =>
      Array.from({ length: 1 + below(STEPS_MAX) }, (_, at) => step(at)),
    ),
    receivesLatePs: pick(0, 0, below(300e6)),
  }
}

const takesReceive = ({ kind, immediate }: Step): boolean =>
  kind === "send" || (kind === "write" && immediate !== undefined)

/** What the program has seen that should not be. */
const faults = (found: boolean, what: string): ReadonlyArray<string> => (found ? [what] : [])

const same = (left: Uint8Array, right: Uint8Array): boolean => Buffer.compare(left, right) === 0

const numberAt = (octets: Uint8Array, at: number): bigint =>
  new DataView(octets.buffer, octets.byteOffset + at, 8).getBigUint64(0, true)

/** One queue pair's work, from the first post to the last octet; what was wrong. */
const lane = Effect.fnUntraced(function* (plan: Plan, steps: ReadonlyArray<Step>, seed: number) {
  const options: EndOptions = { bytes: MEMORY_BYTES, twoQueues: true }
  const left = yield* end(0, options)
  const right = yield* end(1, options)
  const settings = { pathMtuBytes: plan.pathMtuBytes, timeout: "262us", minRnrTimer: "10us" }
  yield* left.qp.connect(right.qp.endpoint, settings)
  yield* right.qp.connect(left.qp.endpoint, settings)
  left.memory.octets.set(pattern(COUNTER, seed))
  const theirs = pattern(COUNTER, seed + 101)
  right.memory.octets.set(theirs)

  const receiving = steps.map((step, id) => ({ step, id })).filter(({ step }) => takesReceive(step))
  const postReceives = Effect.sync(() => {
    for (const { step, id } of receiving) {
      const into = step.kind === "send" ? [right.memory.range(step.place, PLACE_BYTES)] : []
      right.qp.postReceive({ id, sges: into.map(({ address, length, lkey }) => ({ address, length, lkey })) })
    }
  })
  const late = Effect.sleep(`${Math.ceil(plan.receivesLatePs / 1000)} nanos`).pipe(Effect.andThen(postReceives))
  const posting = yield* Effect.forkChild(plan.receivesLatePs === 0 ? postReceives : late, { startImmediately: true })

  const batch = left.qp.start()
  for (const [id, step] of steps.entries()) {
    const { kind, signaled, bytes, place, immediate, fence } = step
    const number = { id, signaled: signaled || id === steps.length - 1, fence }
    const carried = immediate === undefined ? number : { ...number, immediate }
    const local = left.memory.range(place, bytes)
    if (kind === "send") batch.send(local, carried)
    else if (kind === "write") batch.write(local, right.memory.range(place), carried)
    else if (kind === "read") batch.read(local, right.memory.range(place), number)
    else batch.fetchAndAdd(local, right.memory.range(COUNTER, 8), BigInt(id + 1), number)
  }
  batch.complete()

  const sent: Array<Completion> = []
  while (sent.at(-1)?.id !== steps.length - 1) sent.push(yield* left.cq.next)
  const received: Array<Completion> = []
  while (received.length < receiving.length) received.push(yield* right.receiveCq.next)
  yield* Fiber.join(posting)
  // What came twice would come by now.
  yield* Effect.sleep("10 millis")
  const more = [left.cq.pollOne(), left.receiveCq.pollOne(), right.cq.pollOne(), right.receiveCq.pollOne()]

  const wrong: Array<string> = []
  const ids = (completions: ReadonlyArray<Completion>): string =>
    completions.map(({ id, status }) => (status === 0 ? `${id}` : `${id} ${statusName(status)}`)).join(" ")
  const signaled = steps.flatMap((step, id) => (step.signaled || id === steps.length - 1 ? [id] : [])).join(" ")
  wrong.push(...faults(ids(sent) !== signaled, `sends completed as "${ids(sent)}", expected "${signaled}"`))
  const expected = receiving.map(({ id }) => id).join(" ")
  wrong.push(...faults(ids(received) !== expected, `receives completed as "${ids(received)}", expected "${expected}"`))
  wrong.push(
    ...faults(
      more.some((each) => each !== undefined),
      "there was another completion",
    ),
  )
  for (const { id, byteLength, immediate } of received) {
    const step = steps[id]!
    wrong.push(...faults(byteLength !== step.bytes, `receive ${id} has ${byteLength} bytes, not ${step.bytes}`))
    wrong.push(...faults(immediate !== step.immediate, `receive ${id} has immediate ${immediate}`))
  }
  let sum = 0n
  const ours = pattern(COUNTER, seed)
  for (const [id, { kind, bytes, place }] of steps.entries()) {
    const here = left.memory.octets.subarray(place, place + bytes)
    const there = right.memory.octets.subarray(place, place + bytes)
    const moved = kind === "read" ? theirs.subarray(place, place + bytes) : ours.subarray(place, place + bytes)
    if (kind === "add") {
      wrong.push(...faults(numberAt(left.memory.octets, place) !== sum, `add ${id} did not find ${sum}`))
      sum += BigInt(id + 1)
    } else {
      wrong.push(
        ...faults(!same(kind === "read" ? here : there, moved), `${kind} ${id} of ${bytes} bytes is not right`),
      )
    }
    const behind = right.memory.octets.subarray(place + (kind === "add" ? 0 : bytes), place + PLACE_BYTES)
    const untouched = theirs.subarray(place + (kind === "add" ? 0 : bytes), place + PLACE_BYTES)
    wrong.push(...faults(!same(behind, untouched), `${kind} ${id} of ${bytes} bytes wrote beyond its end`))
  }
  wrong.push(...faults(numberAt(right.memory.octets, COUNTER) !== sum, `the counter is not ${sum}`))
  return wrong
})

/** Runs the program of a seed on a network with faults; what was wrong, and its digest. */
export const runSeed = async (
  seed: number,
): Promise<{ readonly wrong: ReadonlyArray<string>; readonly digest: string }> => {
  const plan = planOf(seed)
  const program = Effect.gen(function* () {
    const links = yield* NetworkLinks
    for (let link = 0; link < links.count; link++) links.impair(link, plan.impairment)
    const lanes = plan.lanes.map((steps, at) => lane(plan, steps, seed + at))
    return yield* Effect.scoped(Effect.all(lanes, { concurrency: "unbounded" }))
  })
  const watched = Effect.gen(function* () {
    const wrong = (yield* program).flat()
    for (const { name, resources } of (yield* Provider).devices) {
      const left = Object.entries(resources).filter(([, count]) => count > 0)
      if (left.length > 0) wrong.push(`${name} has left ${JSON.stringify(Object.fromEntries(left))}`)
    }
    return wrong
  })
  const run = simulateProgram(watched, { seed, until: 10e12 }).pipe(
    Effect.provide(Layer.succeed(Topology, GRAPH)),
    Effect.provideService(QueuePairs, { recovery: plan.selective ? "selective-repeat" : "go-back-n" }),
  )
  const exit = await Effect.runPromise(Effect.exit(run))
  if (Exit.isFailure(exit)) return { wrong: [Cause.pretty(exit.cause)], digest: "" }
  return { wrong: exit.value.value, digest: exit.value.digest }
}
