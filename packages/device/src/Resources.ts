import { DeviceError } from "./DeviceError.ts"

/** How many of each kind a program has: all zero when it has left nothing behind. */
export interface ResourceCounts {
  readonly allocations: number
  readonly protectionDomains: number
  readonly threadDomains: number
  readonly memoryRegions: number
  readonly memoryWindows: number
  readonly completionQueues: number
  readonly sharedReceiveQueues: number
  readonly queuePairs: number
  readonly addressHandles: number
  readonly multicastAttachments: number
}

type Kind = Exclude<keyof ResourceCounts, "allocations">

/** Counts what has been handed out, and refuses what would be too much. */
export class Resources {
  readonly counts: Record<Kind, number> = {
    protectionDomains: 0,
    threadDomains: 0,
    memoryRegions: 0,
    memoryWindows: 0,
    completionQueues: 0,
    sharedReceiveQueues: 0,
    queuePairs: 0,
    addressHandles: 0,
    multicastAttachments: 0,
  }

  /** @throws DeviceError ENOMEM */
  claim(kind: Kind, most: number, verb: string): void {
    if (this.counts[kind] >= most) {
      throw new DeviceError(
        "ENOMEM",
        verb,
        undefined,
        `all ${most} are in use`,
        "free some, or raise the device's limits",
      )
    }
    this.counts[kind] += 1
  }

  free(kind: Kind): void {
    this.counts[kind] -= 1
  }
}
