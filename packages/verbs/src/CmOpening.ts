import { CarriedOpening, MpaError } from "@rdmakit/cm/mpa"
import type { Device } from "@rdmakit/device"
import type { QueuePair } from "./QueuePair.ts"
import { VerbsError } from "./VerbsError.ts"

/** What the ends of a connection agree on besides, by MPA's frames in the private data; undefined: nothing. @param cookie of this side */
export const openingOf = ({ congestionControl }: Device, cookie: number): CarriedOpening | undefined =>
  congestionControl === undefined ? undefined : new CarriedOpening({ cookie, congestionControl })

/** Calls it. @throws VerbsError EINVAL for private data that does not fit */
export const opened = (call: () => Uint8Array): Uint8Array => {
  try {
    return call()
  } catch (thrown) {
    if (!(thrown instanceof MpaError)) throw thrown
    const [problem, remedy = "give less"] = thrown.message.replace(/^mpa: /, "").split("; ")
    throw new VerbsError({ errno: "EINVAL", verb: "rdma_connect", attribute: "privateData", problem: problem!, remedy })
  }
}

/** Both sides have spoken: the queue pair is told, before it comes up. */
export const agreeOn = ({ handle }: QueuePair, { agreement }: CarriedOpening): void => {
  const { congestionControl } = agreement ?? {}
  if (congestionControl !== undefined) handle.engine.agree?.(congestionControl)
}

export const unopened = (peer: string): VerbsError =>
  new VerbsError({
    errno: "EINVAL",
    verb: "rdma_establish",
    problem: `${peer} did not answer by a frame of MPA`,
    remedy: "see that its device is eRDMA's too",
  })
