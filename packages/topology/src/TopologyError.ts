/** What is wrong with a graph, or with a question about it. */
export type TopologyErrorKind =
  /** The node count and the table of kinds disagree, or there are more nodes or links than packets or routes have room for. */
  | "size"
  /** A link ends at a node that does not exist. */
  | "unknown-node"
  /** A link has both ends at one node. */
  | "self-loop"
  /** A rate is zero, negative, infinite or no number. */
  | "rate"
  /** A delay is negative or no whole number of picoseconds. */
  | "delay"
  /** A loss rate is outside 0 to 1. */
  | "loss"
  /** A buffer has no room, or is no whole number of bytes. */
  | "buffer"
  /** A destination is a switch, or no node: only hosts are routed to. */
  | "not-a-host"
  /** No path leads from one host to the other. */
  | "unreachable"
  /** A link that does not exist was to be changed. */
  | "unknown-link"
  /** A builder was asked for a shape that does not exist. */
  | "shape"

export class TopologyError extends Error {
  readonly _tag = "TopologyError"
  readonly kind: TopologyErrorKind
  /** The link at fault, when it is one. */
  readonly link: number | undefined
  /** The node at fault, when it is one. */
  readonly node: number | undefined

  constructor(
    kind: TopologyErrorKind,
    message: string,
    at: { readonly link?: number | undefined; readonly node?: number | undefined } = {},
  ) {
    super(message)
    this.name = "TopologyError"
    this.kind = kind
    this.link = at.link
    this.node = at.node
  }
}
