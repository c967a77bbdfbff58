import type { VerbsTransport } from "@rdmakit/protocol"
import { DatagramQueuePair } from "./DatagramQueuePair.ts"
import { ReliableQueuePair } from "./ReliableQueuePair.ts"
import { UnreliableQueuePair } from "./UnreliableQueuePair.ts"
import { type VerbsOptions, verbsConfig } from "./VerbsOptions.ts"

/**
 * The InfiniBand transport for all of the verbs: it makes engines of queue pairs of types RC, UC and UD.
 *
 * @throws RcOptionsError when an option is out of its range
 */
export const verbsTransport = (options: VerbsOptions = {}): VerbsTransport => {
  const config = verbsConfig(options)
  return {
    makeEngine: (_now, engine) => {
      if (engine.type === "rc") return new ReliableQueuePair(engine, config)
      return engine.type === "uc" ? new UnreliableQueuePair(engine, config) : new DatagramQueuePair(engine, config)
    },
  }
}
