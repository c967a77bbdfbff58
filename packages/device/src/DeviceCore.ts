import type { DeviceTransport, VerbsEngine, VerbsTransport, World } from "@rdmakit/protocol"
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
  /** The same where the device's queue pairs share an engine. */
  readonly shared: DeviceTransport | undefined
  /** How many address handles there are for a node. */
  readonly handles: Map<number, number>
  readonly limits: DeviceLimits
  readonly space: AddressSpace
  readonly memory: ProtectionTable
  readonly resources: Resources
  readonly events: AsyncEvents
  readonly groups: MulticastGroups
  readonly queuePairs: Map<number, QueuePair>
  /** Windows that are bound. */
  readonly windows: Set<MemoryWindow>
  /** Something was posted at a queue pair, or changed: whoever carries its packets has a turn. */
  kick(engine: VerbsEngine): void
  /** A queue pair number that is free; undefined: there is none. */
  nextQpn(): number | undefined
  /** A number for a protection domain or a shared receive queue. */
  nextNumber(): number
}
