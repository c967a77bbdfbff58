import { CollectiveError } from "./CollectiveError.ts"

/** Octets of one of a rank's two buffers: the data it was given, or its own scratch. */
export interface Range {
  readonly buffer: "data" | "scratch"
  readonly offset: number
  readonly bytes: number
}

/** What a rank does. It begins when its producers have ended, and not before. */
export type CollectiveOperation = {
  /** Its producers: operations of the same rank, by their place in the program. */
  readonly after: ReadonlyArray<number>
} & (
  | { readonly kind: "send"; readonly to: number; readonly step: number; readonly range: Range }
  | { readonly kind: "receive"; readonly from: number; readonly step: number; readonly range: Range }
  /** Combines octets of `source` into those of `range`, of the same length. */
  | { readonly kind: "reduce"; readonly source: Range; readonly range: Range }
  | { readonly kind: "copy"; readonly source: Range; readonly range: Range }
  /** Something that the program does itself, and says when it has ended. */
  | { readonly kind: "compute"; readonly name: string }
)

/** What one rank of so many does. */
export interface RankProgram {
  readonly rank: number
  readonly ranks: number
  readonly dataBytes: number
  readonly scratchBytes: number
  readonly operations: ReadonlyArray<CollectiveOperation>
}

/** The ranges that an operation touches. */
const rangesOf = (operation: CollectiveOperation): ReadonlyArray<Range> => {
  if (operation.kind === "compute") return []
  return "source" in operation ? [operation.source, operation.range] : [operation.range]
}

const check = (holds: boolean, problem: string): void => {
  if (!holds) throw new CollectiveError(problem)
}

/**
 * Makes sure that a program can end: its ranks and ranges are there, its producers too, and none waits for itself.
 *
 * @throws CollectiveError with the operation and what is wrong with it
 */
export const checkProgram = ({ rank, ranks, dataBytes, scratchBytes, operations }: RankProgram): void => {
  check(Number.isSafeInteger(ranks) && ranks >= 1, `${ranks} ranks, expected 1 at least`)
  check(Number.isSafeInteger(rank) && rank >= 0 && rank < ranks, `rank ${rank} of ${ranks}`)
  for (const [index, operation] of operations.entries()) {
    const { kind, after } = operation
    const name = `operation ${index}, ${kind},`
    for (const producer of after)
      check(operations[producer] !== undefined, `${name} waits for operation ${producer}, which there is not`)
    for (const { buffer, offset, bytes } of rangesOf(operation)) {
      const room = buffer === "data" ? dataBytes : scratchBytes
      check(offset >= 0 && bytes >= 0 && offset + bytes <= room, `${name} leaves its buffer of ${room} bytes`)
    }
    if ("source" in operation)
      check(operation.source.bytes === operation.range.bytes, `${name} has ranges of two lengths`)
    if (kind === "send") check(operation.to >= 0 && operation.to < ranks, `${name} is to rank ${operation.to}`)
    if (kind === "receive")
      check(operation.from >= 0 && operation.from < ranks, `${name} is from rank ${operation.from}`)
  }
  checkAcyclic(operations)
}

const checkAcyclic = (operations: ReadonlyArray<CollectiveOperation>): void => {
  const left = operations.map(({ after }) => after.length)
  const consumers = consumersOf(operations)
  const ready = left.flatMap((count, index) => (count === 0 ? [index] : []))
  let ended = 0
  for (let index = ready.pop(); index !== undefined; index = ready.pop()) {
    ended++
    for (const consumer of consumers[index]!) if (--left[consumer]! === 0) ready.push(consumer)
  }
  if (ended === operations.length) return
  const first = left.findIndex((count) => count > 0)
  throw new CollectiveError(`operation ${first}, ${operations[first]!.kind}, waits for itself, through its producers`)
}

/** For each operation those that wait for it. */
export const consumersOf = (operations: ReadonlyArray<CollectiveOperation>): ReadonlyArray<ReadonlyArray<number>> => {
  const consumers: ReadonlyArray<Array<number>> = operations.map(() => [])
  for (const [index, { after }] of operations.entries()) for (const producer of after) consumers[producer]?.push(index)
  return consumers
}
