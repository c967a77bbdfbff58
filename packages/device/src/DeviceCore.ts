import type { VerbsTransport, World } from "@rdmakit/protocol"
import type { AddressSpace } from "./AddressSpace.ts"
import type { AsyncEvents } from "./AsyncEvents.ts"
import type { DeviceLimits } from "./DeviceAttributes.ts"
import type { MemoryWindow } from "./MemoryWindow.ts"
import type { MulticastGroups } from "./MulticastGroups.ts"
import type { ProtectionTable } from "./ProtectionTable.ts"
import type { QueuePair } from "./QueuePair.ts"
import type { Resources } from "./Resources.ts"

/** What the objects of one device share, and nobody outside sees. */
export interface DeviceCore {
  readonly world: World
  readonly transport: VerbsTransport
  readonly limits: DeviceLimits
  readonly space: AddressSpace
  readonly memory: ProtectionTable
  readonly resources: Resources
  readonly events: AsyncEvents
  readonly groups: MulticastGroups
  readonly queuePairs: Map<number, QueuePair>
  /** Windows that are bound. */
  readonly windows: Set<MemoryWindow>
  /** A queue pair number that is free; undefined: there is none. */
  nextQpn(): number | undefined
  /** A number for a protection domain or a shared receive queue. */
  nextNumber(): number
}
