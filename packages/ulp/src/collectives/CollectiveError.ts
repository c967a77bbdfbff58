/** A program of a rank, or a number of ranks, that cannot be. */
export class CollectiveError extends Error {
  readonly _tag = "CollectiveError"
  override readonly name = "CollectiveError"
}
