import { Layout, type Packet } from "@rdmakit/packet"
import {
  type Adapter,
  type AddressVector,
  type Completion,
  type GidEntry,
  type Memory,
  type PeerPath,
  shown,
  type Time,
  type VerbsEngine,
  type VerbsEvent,
  type VerbsTransport,
  type World,
} from "@rdmakit/protocol"
import { hash32 } from "@rdmakit/units"
import { answerVector } from "./AddressHandle.ts"
import { AddressSpace, type Allocation, PAGE_BYTES } from "./AddressSpace.ts"
import { type AsyncEvent, AsyncEvents } from "./AsyncEvents.ts"
import { CompletionQueue } from "./CompletionQueue.ts"
import { type DeviceAttributes, type DeviceLimits, limitsOf, type PortAttributes } from "./DeviceAttributes.ts"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import { checkFields } from "./Given.ts"
import type { MemoryWindow } from "./MemoryWindow.ts"
import { MulticastGroups } from "./MulticastGroups.ts"
import { ProtectionDomain, ThreadDomain } from "./ProtectionDomain.ts"
import { ProtectionTable } from "./ProtectionTable.ts"
import { DEFAULT_PARTITION } from "./QpOptions.ts"
import type { QueuePair } from "./QueuePair.ts"
import { type ResourceCounts, Resources } from "./Resources.ts"

/** How a device differs from another. */
export interface DeviceOptions {
  /** As `ibv_devices` would list it; `rdmakit0` by default. */
  readonly name?: string
  /** EUI-64; made from the seed by default. */
  readonly nodeGuid?: bigint
  /** 32 bits: of queue pair numbers, tags of keys, the GUID. The same seed gives the same numbers. */
  readonly seed?: number
  /** In place of some of `rxeLimits`. */
  readonly limits?: Partial<DeviceLimits>
  /** Congestion control that its connections ask for, in place of the transport's own; of no use where that has none to ask for. */
  readonly congestionControl?: number
}

const { EXT, EXTENSION_SHIFT } = Layout
const NAME = "rdmakit0"
const QPN_STREAM = 0x71706e
const GUID_STREAM = 0x67756964
/** QP0 and QP1 are management's, 0xffffff is multicast (IBTA vol. 1, ch. 3). */
const QPN_FIRST = 2
const QPN_COUNT = 0xffffff - QPN_FIRST
const MULTICAST_QPN = 0xffffff
const NOBODY: ReadonlyArray<VerbsEngine> = []
const GID_OCTETS = 16
const HOP_LIMIT = 64

/** A NIC: what it checks of a program's verbs, and what it keeps. It is the same in every world. */
export class Device implements Adapter {
  readonly name: string
  readonly nodeGuid: bigint
  readonly world: World
  /** What its connections ask for, by number; undefined: there is nothing to agree on. */
  readonly congestionControl: number | undefined
  private readonly core: DeviceCore
  private linkUp: boolean

  /** Attaches itself to the world. @throws DeviceError EINVAL */
  constructor(world: World, transport: VerbsTransport, options: DeviceOptions = {}) {
    checkFields("open_device", "options", options, "give an object, or leave it out")
    const seed = (options.seed ?? 0) >>> 0
    const limits = limitsOf(options.limits ?? {})
    const resources = new Resources()
    const queuePairs = new Map<number, QueuePair>()
    let qpnCounter = hash32(seed, QPN_STREAM, 0) % QPN_COUNT
    let numberCounter = 0
    this.world = world
    this.name = options.name ?? NAME
    this.nodeGuid =
      options.nodeGuid ?? (BigInt(hash32(seed, GUID_STREAM, 0)) << 32n) | BigInt(hash32(seed, GUID_STREAM, 1))
    this.linkUp = world.link.up
    this.congestionControl =
      transport.congestionControl === undefined ? undefined : (options.congestionControl ?? transport.congestionControl)
    const handles = new Map<number, number>()
    const shared = transport.open?.(world.now, {
      get mtuBytes() {
        return world.link.mtuBytes
      },
      pathTo: (packet) => pathBack(this, packet),
      knows: (peer) => handles.has(peer),
    })
    this.core = {
      world,
      transport: shared ?? transport,
      shared,
      handles,
      limits,
      space: new AddressSpace(limits.maxMemoryBytes),
      memory: new ProtectionTable(seed),
      resources,
      events: new AsyncEvents(),
      groups: new MulticastGroups(world, limits, resources),
      queuePairs,
      windows: new Set<MemoryWindow>(),
      kick: (engine) => world.kick(engine.carrier ?? engine),
      nextQpn: () => {
        // A number comes back as late as it can, so that packets for one that is gone meet nobody.
        for (let tries = 0; tries <= queuePairs.size; tries += 1) {
          const qpn = QPN_FIRST + qpnCounter
          qpnCounter = (qpnCounter + 1) % QPN_COUNT
          if (!queuePairs.has(qpn)) return qpn
        }
        return undefined
      },
      nextNumber: () => {
        numberCounter += 1
        return numberCounter
      },
    }
    world.attach(this)
  }

  /** What the device is, and how much of everything it has. */
  query(): DeviceAttributes {
    return {
      name: this.name,
      nodeGuid: this.nodeGuid,
      atomics: "hca",
      pageBytes: PAGE_BYTES,
      ports: 1,
      limits: this.core.limits,
    }
  }
  /**
   * The vector that answers a datagram (ibv_init_ah_from_wc). Nothing is made of it yet, and nothing kept.
   * @param grh the first 40 octets of its receive
   * @throws DeviceError EINVAL
   */
  answerVector(completion: Completion, grh: Uint8Array, port = 1): AddressVector {
    return answerVector(this.core, completion, grh, port)
  }
  /** @param port 1. @throws DeviceError EINVAL */
  queryPort(port: number): PortAttributes {
    checkPort("query_port", port)
    const { link, gids } = this.world
    return {
      state: link.up ? "active" : "down",
      linkLayer: "ethernet",
      maxMtuBytes: 4096,
      activeMtuBytes: link.mtuBytes,
      lineRateBps: link.lineRateBps,
      maxMessageBytes: this.core.limits.maxMessageBytes,
      gids: gids.length,
      partitionKeys: 1,
    }
  }
  /** Addresses of the port. */
  get gids(): ReadonlyArray<GidEntry> {
    return this.world.gids
  }
  /** One address. @throws DeviceError EINVAL */
  queryGid(port: number, index: number): GidEntry {
    checkPort("query_gid", port)
    const entry = this.world.gids.find((each) => each.index === index)
    if (entry !== undefined) return entry
    throw new DeviceError(
      "EINVAL",
      "query_gid",
      "index",
      `the port has no GID ${shown(index)}`,
      "take one of the GID table",
    )
  }
  /** The partition key. @throws DeviceError EINVAL */
  queryPkey(port: number, index: number): number {
    checkPort("query_pkey", port)
    if (index === 0) return DEFAULT_PARTITION
    throw new DeviceError("EINVAL", "query_pkey", "index", `there is no key ${shown(index)}`, "say 0")
  }

  /** Memory that the device can reach, zeroed, on pages of 4,096 bytes of its own. @throws DeviceError EINVAL, ENOMEM */
  allocate(bytes: number, options: { readonly writable?: boolean } = {}): Allocation {
    checkFields("allocate", "options", options, "give an object, or leave it out")
    return this.core.space.allocate(bytes, options.writable ?? true)
  }
  /** @throws DeviceError EBUSY while it is registered, EINVAL */
  release(allocation: Allocation): void {
    this.core.space.release(allocation)
  }
  /** Registered memory as the transport reaches it. */
  get memory(): Memory {
    return this.core.memory
  }

  /** @throws DeviceError ENOMEM */
  allocPd(): ProtectionDomain {
    return new ProtectionDomain(this, this.core)
  }
  /** @throws DeviceError ENOMEM */
  allocTd(): ThreadDomain {
    return new ThreadDomain(this, this.core)
  }
  /** @param capacity completions that may wait. @throws DeviceError EINVAL, ENOMEM */
  createCq(capacity: number): CompletionQueue {
    return new CompletionQueue(this, this.core, capacity)
  }
  /** undefined: there is none of this number. */
  queuePair(qpn: number): QueuePair | undefined {
    return this.core.queuePairs.get(qpn)
  }

  /** Who is told of asynchronous events, from now on; those nobody took are told first. Without one they wait. */
  onAsyncEvent(listener: ((event: AsyncEvent) => void) | undefined): void {
    const { events } = this.core
    events.listener = listener
    if (listener === undefined) return
    for (let event = events.poll(); event !== undefined; event = events.poll()) listener(event)
  }
  /** The oldest asynchronous event that nobody took. */
  pollAsyncEvent(): AsyncEvent | undefined {
    return this.core.events.poll()
  }

  /** What it has counted, by the names of its driver; of a device whose queue pairs share an engine. */
  get counters(): Readonly<Record<string, number>> {
    return this.core.shared?.counters ?? {}
  }

  /** How many of each kind are in use. */
  get resources(): ResourceCounts {
    return { allocations: this.core.space.count, ...this.core.resources.counts }
  }

  engineFor(packet: Packet): VerbsEngine | undefined {
    const at = packet.extension
    if (at < 0) return undefined
    const { extension } = packet.pool
    const { queuePairs, shared } = this.core
    const engine = queuePairs.get(extension[(at << EXTENSION_SHIFT) + EXT.destinationQp]! & 0xffffff)?.engine
    return engine === undefined ? shared?.carrier : (engine.carrier ?? engine)
  }

  groupFor(packet: Packet): ReadonlyArray<VerbsEngine> {
    if (packet.extension < 0) return NOBODY
    const { extension } = packet.pool
    const at = packet.extension << EXTENSION_SHIFT
    if ((extension[at + EXT.destinationQp]! & 0xffffff) !== MULTICAST_QPN) return NOBODY
    const to = at + EXT.ipv6Destination
    return this.core.groups.listeners(extension[to]!, extension[to + 1]!, extension[to + 2]!, extension[to + 3]!)
  }

  handleEvent(_now: Time, engine: VerbsEngine, event: VerbsEvent): void {
    if (event.type === "unresponsive") {
      this.core.events.raise({ type: "REMOTE_UNRESPONSIVE", gid: event.path.destinationGid })
      return
    }
    // An engine that speaks for several queue pairs says which.
    const qpn = event.type === "completion" ? event.completion.qpn : (event.qpn ?? engine.qpn)
    const qp = this.core.queuePairs.get(qpn)
    // What a queue pair that is gone had left to say.
    if (qp === undefined || (qp.engine.carrier ?? qp.engine) !== engine) return
    if (event.type === "async") {
      if (event.event !== "SQ_DRAINED" || qp.notifiesDrained) this.core.events.raise({ type: event.event, qp })
      return
    }
    const cq = event.queue === "send" ? qp.sendCq : qp.recvCq
    const first = !cq.overrun
    if (!cq.add(event.completion, event.solicited) && first) this.handleOverrun(cq)
  }

  forgetPeer(now: Time, peer: number): void {
    this.core.shared?.forgetPeer(now, peer)
  }

  /** The world's link went up or down. */
  handleLinkChange(): void {
    const { up } = this.world.link
    if (up === this.linkUp) return
    this.linkUp = up
    this.core.events.raise({ type: up ? "PORT_ACTIVE" : "PORT_ERR", port: 1 })
  }
  /** The world's GID table changed. */
  handleGidChange(): void {
    this.core.events.raise({ type: "GID_CHANGE", port: 1 })
  }

  /** IBTA 1.7 §11.6.3: the queue is in error, and so is every queue pair that completes there. */
  private handleOverrun(cq: CompletionQueue): void {
    this.core.events.raise({ type: "CQ_ERR", cq })
    for (const qp of this.core.queuePairs.values()) {
      if (qp.sendCq !== cq && qp.recvCq !== cq) continue
      if (qp.fail()) this.core.events.raise({ type: "QP_FATAL", qp })
    }
  }
}

/** The path to the sender of a packet, from the address that it came to. Nothing holds it: strangers give way to others. */
const pathBack = ({ world }: Device, packet: Packet): PeerPath | undefined => {
  if (packet.extension < 0) return undefined
  const source = gidAt(packet, EXT.ipv6Source)
  const own = gidAt(packet, EXT.ipv6Destination)
  const entry = world.gids.find(({ gid }) => gid.every((octet, index) => octet === own[index]))
  if (entry === undefined) return undefined
  const answer = { trafficClass: 0, hopLimit: HOP_LIMIT, flowLabel: 0, serviceLevel: packet.priority }
  const path = world.resolve({ port: 1, sourceGidIndex: entry.index, destinationGid: source, ...answer }, 0)
  if (path !== undefined) world.release?.(path)
  return path
}

const gidAt = (packet: Packet, word: number): Uint8Array => {
  const gid = new Uint8Array(GID_OCTETS)
  const view = new DataView(gid.buffer)
  const at = (packet.extension << EXTENSION_SHIFT) + word
  for (let index = 0; index < GID_OCTETS / 4; index++) view.setInt32(4 * index, packet.pool.extension[at + index]!)
  return gid
}

const checkPort = (verb: string, port: number): void => {
  if (port !== 1) throw new DeviceError("EINVAL", verb, "port", `there is no port ${shown(port)}`, "say 1")
}
