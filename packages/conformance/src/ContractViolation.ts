/** A part broke a promise of its contract. The message says which, and after what. */
export class ContractViolation extends Error {
  readonly _tag = "ContractViolation"
  override readonly name = "ContractViolation"
}

/** Throws a `ContractViolation`. */
export const fail = (what: string): never => {
  throw new ContractViolation(what)
}
