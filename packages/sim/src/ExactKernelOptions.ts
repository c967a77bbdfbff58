import type { PacketPool } from "@rdmakit/packet"
import type { Time } from "@rdmakit/protocol"
import type { Network } from "./Network.ts"
import type { TieOrder } from "./TieOrder.ts"
import type { QueueWeights } from "./WeightedQueues.ts"

export interface ExactKernelOptions {
  readonly network: Network
  readonly pool: PacketPool
  /**
   * How a port chooses among its queues, queue 0 always first. Default "strict": the higher the number the sooner.
   * "round-robin": a packet of each in turn. Weights: bytes in proportion to them.
   */
  readonly discipline?: "strict" | "round-robin" | QueueWeights
  /** Who goes first among events at one time. Default "canonical". */
  readonly ties?: TieOrder
  /** One event a hop: see `FusedKernel`, which sets it. Needs canonical ties. */
  readonly fused?: boolean
  /** Nodes take turns where they can: see `FusedKernel`, which sets it. */
  readonly turns?: boolean
  /** Serialization time of a frame on a link, ps. */
  readonly serializationPs: (bytes: number, rateBps: number) => Time
  /** Largest frame, bytes. */
  readonly wireBytesMax: number
  /** Size of a PFC frame, bytes: 64 on Ethernet (IEEE 802.1Qbb); 43 in the ns-3 model. */
  readonly pfcBytes: number
  /** Most switches a packet may pass, up to 255; one that meets more is dropped. */
  readonly hopsMax: number
  /** Slot width of the event queue, ps. */
  readonly slotPs?: Time
  readonly seed?: number
  /** Ordinals (from 0) of frames to lose, by sending port: faults for tests and experiments. */
  readonly losses?: ReadonlyMap<number, ReadonlySet<number>>
  /**
   * Asked of every frame that arrives, PFC frames too, by sending port: true, it is lost. In place of the rates of
   * `network`, for a model with draws of its own.
   */
  readonly isLost?: (port: number) => boolean
  /** Links may go down and rates of loss change during the run: see `FaultyKernel`, which sets it. */
  readonly faults?: boolean
}
