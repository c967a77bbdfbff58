/**
 * The network as a kernel takes it: directed ports, two a link. Port p and port p ^ 1 are the ends of one link; a frame
 * sent by port p arrives at the node of port p ^ 1. `topology`'s `Ports` has this shape.
 */
export interface Network {
  readonly nodes: number
  readonly ports: number
  /** 1 for a switch, 0 for a host, by node. */
  readonly isSwitch: Uint8Array
  readonly portNode: Int32Array
  readonly rateBps: Float64Array
  readonly delayPs: Float64Array
  /** Chance that a frame sent by the port is lost, 0 to 1. */
  readonly lossRate: Float64Array
}
