import type { Ack, Time } from "@rdmakit/protocol"
import { BackToZeroQueuePair } from "./BackToZeroQueuePair.ts"
import { Ns3QueuePair } from "./Ns3QueuePair.ts"
import type { RcConfig } from "./RcConfig.ts"
import type { RcAddress } from "./RcEndpoint.ts"
import { RcQueuePair } from "./RcQueuePair.ts"
import type { RcRequester } from "./RcRequester.ts"
import { RestartQueuePair } from "./RestartQueuePair.ts"
import { SelectiveQueuePair } from "./SelectiveQueuePair.ts"

/** A queue pair with the recovery that its config asks for. Arguments as of the classes. */
export const makeQueuePair = (now: Time, config: RcConfig, ack: Ack, address: RcAddress): RcRequester => {
  if (config.recovery === "selective-repeat") return new SelectiveQueuePair(now, config, ack, address)
  if (config.recovery === "go-back-0") return new RestartQueuePair(now, config, ack, address)
  if (config.ns3BackToZero === true) return new BackToZeroQueuePair(now, config, ack, address)
  if (config.ns3GoBack === true) return new Ns3QueuePair(now, config, ack, address)
  return new RcQueuePair(now, config, ack, address)
}
