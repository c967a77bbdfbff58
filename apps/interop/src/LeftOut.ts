/** Exit code of a run that could not be made here, as automake's tests have it: nothing failed, and nothing was tried. */
export const EXIT_LEFT_OUT = 77

/** Something this machine lacks, so that the guest cannot be prepared or started. */
export class LeftOut extends Error {
  override readonly name = "LeftOut"
  /** What to do about it. */
  readonly todo: string
  constructor(missing: string, todo: string) {
    super(missing)
    this.todo = todo
  }
  /** One plain line. */
  get line(): string {
    return `left out: ${this.message}. ${this.todo}`
  }
}
