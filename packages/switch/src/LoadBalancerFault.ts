import { shown, type Time } from "@rdmakit/protocol"

/** A load balancer broke its contract: what it chose is none of the next hops. */
export class LoadBalancerFault extends Error {
  readonly _tag = "LoadBalancerFault"
  override readonly name = "LoadBalancerFault"
  /** The switch that asked. */
  readonly node: number
  /** When, ps. */
  readonly time: Time

  /** @param choice what it chose @param count how many next hops there were */
  constructor(choice: unknown, count: number, node: number, time: Time) {
    super(
      `load balancer of switch ${node}, at ${time / 1e6} us: it chose ${shown(choice)}, expected the index of one of ${count} next hops, 0 to ${count - 1}`,
    )
    this.node = node
    this.time = time
  }
}

/**
 * A choice that is an index below `count`: by another, a packet would go where another switch sends it, or nowhere.
 * @throws LoadBalancerFault
 */
export const checkedChoice = (choice: number, count: number, node: number, time: Time): number => {
  if (choice >>> 0 === choice && choice < count) return choice
  throw new LoadBalancerFault(choice, count, node, time)
}
