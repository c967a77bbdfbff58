import { CollectiveError } from "./CollectiveError.ts"
import type { CollectiveOperation, Range, RankProgram } from "./Program.ts"

/** The part of a chunk: `elements` over `ranks`, the first ones one longer where it does not divide. */
const chunkOf = (elements: number, elementBytes: number, ranks: number, chunk: number): Range => {
  const index = ((chunk % ranks) + ranks) % ranks
  const first = Math.floor((elements * index) / ranks)
  const next = Math.floor((elements * (index + 1)) / ranks)
  return { buffer: "data", offset: first * elementBytes, bytes: (next - first) * elementBytes }
}

export interface RingOptions {
  readonly rank: number
  readonly ranks: number
  /** Elements of a rank's data, all ranks' alike. */
  readonly elements: number
  readonly elementBytes: number
}

const checkRing = ({ rank, ranks, elements, elementBytes }: RingOptions): void => {
  const whole = [ranks, elements, elementBytes].every((value) => Number.isSafeInteger(value) && value >= 1)
  if (!whole || !(Number.isSafeInteger(rank) && rank >= 0 && rank < ranks))
    throw new CollectiveError(`rank ${rank} of ${ranks}, ${elements} elements of ${elementBytes} bytes`)
}

/** Takes operations in and tells their places. */
class Builder {
  readonly operations: Array<CollectiveOperation> = []
  add(operation: CollectiveOperation): number {
    return this.operations.push(operation) - 1
  }
}

/** Rank r ends with chunk r + 1 reduced; the sends and reductions of each step. */
const reduceSteps = (builder: Builder, { rank, ranks, elements, elementBytes }: RingOptions) => {
  const chunk = (index: number): Range => chunkOf(elements, elementBytes, ranks, index)
  const sends: Array<number> = []
  const reductions: Array<number> = []
  for (let step = 0; step < ranks - 1; step++) {
    const before = step === 0 ? [] : [reductions[step - 1]!]
    const range = chunk(rank - step - 1)
    const scratch: Range = { buffer: "scratch", offset: 0, bytes: range.bytes }
    sends.push(builder.add({ kind: "send", to: (rank + 1) % ranks, step, range: chunk(rank - step), after: before }))
    const from = (rank + ranks - 1) % ranks
    const received = builder.add({ kind: "receive", from, step, range: scratch, after: before })
    reductions.push(builder.add({ kind: "reduce", source: scratch, range, after: [received] }))
  }
  return { sends, reductions }
}

const scratchBytes = ({ ranks, elements, elementBytes }: RingOptions): number =>
  ranks === 1 ? 0 : Math.ceil(elements / ranks) * elementBytes

const programOf = (options: RingOptions, builder: Builder, scratch: number): RankProgram => ({
  rank: options.rank,
  ranks: options.ranks,
  dataBytes: options.elements * options.elementBytes,
  scratchBytes: scratch,
  operations: builder.operations,
})

/**
 * All ranks end with the combination of what all had: a ring twice around, 2(n − 1) steps of a chunk each.
 *
 * @throws CollectiveError for numbers that are not whole and at least 1
 */
export const ringAllReduce = (options: RingOptions): RankProgram => {
  checkRing(options)
  const { rank, ranks, elements, elementBytes } = options
  const chunk = (index: number): Range => chunkOf(elements, elementBytes, ranks, index)
  const builder = new Builder()
  const { sends, reductions } = reduceSteps(builder, options)
  let received = reductions.at(-1) ?? -1
  for (let index = 0; index < ranks - 1; index++) {
    const step = ranks - 1 + index
    builder.add({ kind: "send", to: (rank + 1) % ranks, step, range: chunk(rank + 1 - index), after: [received] })
    const from = (rank + ranks - 1) % ranks
    // The chunk has been sent before what it becomes comes in.
    const after = [sends[index]!, reductions.at(-1)!]
    received = builder.add({ kind: "receive", from, step, range: chunk(rank - index), after })
  }
  return programOf(options, builder, scratchBytes(options))
}

/**
 * Each rank ends with its own chunk of the combination, the others are left half combined: n − 1 steps around a ring.
 * Chunk r is rank r's.
 *
 * @throws CollectiveError for numbers that are not whole and at least 1
 */
export const ringReduceScatter = (options: RingOptions): RankProgram => {
  checkRing(options)
  const { rank, ranks } = options
  const builder = new Builder()
  // A ring in which each is one behind ends with chunk r at rank r.
  const behind = { ...options, rank: (rank + ranks - 1) % ranks }
  reduceSteps(builder, behind)
  const turned = builder.operations.map((operation): CollectiveOperation => {
    if (operation.kind === "send") return { ...operation, to: (rank + 1) % ranks }
    return operation.kind === "receive" ? { ...operation, from: (rank + ranks - 1) % ranks } : operation
  })
  return { ...programOf(options, builder, scratchBytes(options)), operations: turned }
}

/**
 * All ranks end with the chunks of all; chunk r of the data is what rank r gives. n − 1 steps around a ring.
 *
 * @throws CollectiveError for numbers that are not whole and at least 1
 */
export const ringAllGather = (options: RingOptions): RankProgram => {
  checkRing(options)
  const { rank, ranks, elements, elementBytes } = options
  const chunk = (index: number): Range => chunkOf(elements, elementBytes, ranks, index)
  const builder = new Builder()
  let received = -1
  for (let step = 0; step < ranks - 1; step++) {
    const after = step === 0 ? [] : [received]
    builder.add({ kind: "send", to: (rank + 1) % ranks, step, range: chunk(rank - step), after })
    const from = (rank + ranks - 1) % ranks
    received = builder.add({ kind: "receive", from, step, range: chunk(rank - step - 1), after: [] })
  }
  return programOf(options, builder, 0)
}

/**
 * Chunk s of rank r ends as chunk r of rank s. The data is not sent in place: it goes out from `data` and comes into
 * `scratch`, which is copied back when all of it has been sent.
 *
 * @throws CollectiveError for numbers that are not whole and at least 1, and elements that do not divide by the ranks
 */
export const allToAll = (options: RingOptions): RankProgram => {
  checkRing(options)
  const { rank, ranks, elements, elementBytes } = options
  if (elements % ranks !== 0) throw new CollectiveError(`${elements} elements do not divide by ${ranks} ranks`)
  const builder = new Builder()
  const ends: Array<number> = []
  // Each begins with its next neighbour, so that no one is sent to by all at once.
  for (let distance = 1; distance < ranks; distance++) {
    const to = (rank + distance) % ranks
    const from = (rank + ranks - distance) % ranks
    const range = chunkOf(elements, elementBytes, ranks, to)
    ends.push(builder.add({ kind: "send", to, step: 0, range, after: [] }))
    const incoming: Range = { ...chunkOf(elements, elementBytes, ranks, from), buffer: "scratch" }
    ends.push(builder.add({ kind: "receive", from, step: 0, range: incoming, after: [] }))
  }
  for (let other = 0; other < ranks; other++) {
    if (other === rank) continue
    const range = chunkOf(elements, elementBytes, ranks, other)
    builder.add({ kind: "copy", source: { ...range, buffer: "scratch" }, range, after: ends })
  }
  return programOf(options, builder, ranks === 1 ? 0 : elements * elementBytes)
}
