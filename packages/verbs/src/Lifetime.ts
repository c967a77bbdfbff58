import { Effect, type Scope } from "effect"
import { attempt, refusalOf, type VerbsError } from "./VerbsError.ts"

/**
 * What is to be freed at one device. A scope may end before what still uses its resource does: such a resource goes with
 * the last of its users.
 */
export class Lifetimes {
  private readonly waiting = new Set<Lifetime>()

  defer(lifetime: Lifetime): void {
    this.waiting.add(lifetime)
  }

  /** Something is gone: perhaps what waited for it can go too. */
  settle(): void {
    for (let before = -1; before !== this.waiting.size && this.waiting.size > 0; ) {
      before = this.waiting.size
      for (const lifetime of [...this.waiting]) if (lifetime.tryEnd()) this.waiting.delete(lifetime)
    }
  }
}

/** From the making of one resource to its end, by its program or its scope, whichever comes first. */
export class Lifetime {
  private readonly all: Lifetimes
  private readonly free: () => void
  private ended = false

  constructor(all: Lifetimes, free: () => void) {
    this.all = all
    this.free = free
  }

  /** Now, or not at all. A second time is refused, as the device does. */
  readonly end: Effect.Effect<void, VerbsError> = attempt(() => {
    this.free()
    this.ended = true
    this.all.settle()
  })

  /** Now, or as soon as nothing uses it any more. */
  readonly release: Effect.Effect<void> = Effect.sync(() => {
    if (this.tryEnd()) this.all.settle()
    else this.all.defer(this)
  })

  /** False: it is in use. */
  tryEnd(): boolean {
    if (this.ended) return true
    try {
      this.free()
    } catch (thrown) {
      // Any other refusal means that it is gone: somebody has freed the device's own object.
      if (refusalOf(thrown).errno === "EBUSY") return false
    }
    this.ended = true
    return true
  }
}

/** Something that ends with the scope it is made in. */
export const scoped = <A extends { readonly lifetime: Lifetime }>(
  make: () => A,
): Effect.Effect<A, VerbsError, Scope.Scope> =>
  Effect.acquireRelease(attempt(make), (resource) => resource.lifetime.release)
