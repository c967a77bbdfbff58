import type { Device, DeviceAttributes, PortAttributes } from "@rdmakit/device"
import { Provider } from "@rdmakit/device/layer"
import type { GidEntry, Time } from "@rdmakit/protocol"
import { Effect, Queue, type Scope, Stream } from "effect"
import { CompletionQueue } from "./CompletionQueue.ts"
import { type AsyncEvent, DeviceState } from "./DeviceState.ts"
import { chooseGid, type GidChoice } from "./Gid.ts"
import { scoped } from "./Lifetime.ts"
import { Allocation } from "./MemoryRegion.ts"
import { bytesOf, ProtectionDomain, ThreadDomain } from "./ProtectionDomain.ts"
import { attempt, checkFields, checkWhole, VerbsError } from "./VerbsError.ts"

/** Names of the devices there are (ibv_get_device_list). */
export const deviceNames: Effect.Effect<ReadonlyArray<string>, never, Provider> = Effect.map(Provider, ({ devices }) =>
  devices.map(({ name }) => name),
)

/** Events that wait to be taken, at most; the oldest go then. */
const EVENTS_MAX = 4096

/**
 * Opens a device (ibv_open_device), by its name or its place among `deviceNames`. Asynchronous events are gathered from now on.
 * Fails with ENODEV when there is none.
 */
export const openDevice = (
  device: string | number = 0,
): Effect.Effect<DeviceContext, VerbsError, Provider | Scope.Scope> =>
  Effect.gen(function* () {
    const { devices } = yield* Provider
    const found = typeof device === "number" ? devices[device] : devices.find(({ name }) => name === device)
    if (found === undefined) {
      const names = devices.map(({ name }) => name).join(", ")
      return yield* new VerbsError({
        errno: "ENODEV",
        verb: "open_device",
        attribute: "device",
        problem: `there is no device ${device}`,
        remedy: names === "" ? "give the program a world that has one" : `there are ${names}`,
      })
    }
    const events = yield* Effect.acquireRelease(Queue.sliding<AsyncEvent>(EVENTS_MAX), Queue.shutdown)
    const state = DeviceState.of(found)
    const listener = (event: AsyncEvent): void => {
      Queue.offerUnsafe(events, event)
    }
    yield* Effect.acquireRelease(
      Effect.sync(() => state.listeners.add(listener)),
      () => Effect.sync(() => state.listeners.delete(listener)),
    )
    return new DeviceContext(found, state, events)
  })

/** An open device (struct ibv_context). */
export class DeviceContext {
  /** The device itself, for code without Effect. */
  readonly handle: Device
  /**
   * What happens that no request asked for (ibv_get_async_event), since the device was opened: errors of queue pairs and
   * completion queues, limits of shared receive queues, the port. Each event is taken once; at most 4,096 wait.
   */
  readonly asyncEvents: Stream.Stream<AsyncEvent>
  /** The next of them. */
  readonly nextAsyncEvent: Effect.Effect<AsyncEvent>
  private readonly state: DeviceState

  constructor(device: Device, state: DeviceState, events: Queue.Dequeue<AsyncEvent>) {
    this.handle = device
    this.state = state
    this.asyncEvents = Stream.fromQueue(events)
    this.nextAsyncEvent = Queue.take(events)
  }

  get name(): string {
    return this.handle.name
  }
  /** What the device is, and how much of everything it has (ibv_query_device). */
  get attributes(): DeviceAttributes {
    return this.handle.query()
  }
  /** What a port is, and how it stands (ibv_query_port). @param port 1, the only one */
  port(port = 1): Effect.Effect<PortAttributes, VerbsError> {
    return attempt(() => this.handle.queryPort(port))
  }
  /** The port's addresses (ibv_query_gid_table). */
  get gids(): ReadonlyArray<GidEntry> {
    return this.handle.gids
  }
  /** One of them (ibv_query_gid_ex). */
  gid(index: number, port = 1): Effect.Effect<GidEntry, VerbsError> {
    return attempt(() => this.handle.queryGid(port, index))
  }
  /** The index of the address to use; see `chooseGid`. */
  chooseGid(choice: GidChoice = {}): Effect.Effect<number, VerbsError> {
    return attempt(() => chooseGid(this.gids, choice))
  }
  /** A partition key (ibv_query_pkey). @param index 0, the only one */
  partitionKey(index = 0, port = 1): Effect.Effect<number, VerbsError> {
    return attempt(() => this.handle.queryPkey(port, index))
  }
  /** Which index a partition key has (ibv_get_pkey_index). */
  partitionKeyIndex(key: number, port = 1): Effect.Effect<number, VerbsError> {
    return attempt(() => {
      checkWhole("get_pkey_index", "key", key, 0, 0xffff)
      const { partitionKeys } = this.handle.queryPort(port)
      for (let index = 0; index < partitionKeys; index++) if (this.handle.queryPkey(port, index) === key) return index
      throw new VerbsError({
        errno: "ENOENT",
        verb: "get_pkey_index",
        attribute: "key",
        problem: `the port has no partition key 0x${key.toString(16)}`,
        remedy: "take the default one, 0xffff",
      })
    })
  }
  /** The device's clock (ibv_query_rt_values_ex), ps. */
  get now(): Time {
    return this.handle.world.now
  }

  /** ibv_alloc_pd. */
  get protectionDomain(): Effect.Effect<ProtectionDomain, VerbsError, Scope.Scope> {
    return scoped(() => new ProtectionDomain(this.state, this.handle.allocPd()))
  }
  /** ibv_alloc_td. */
  get threadDomain(): Effect.Effect<ThreadDomain, VerbsError, Scope.Scope> {
    return scoped(() => new ThreadDomain(this.state, this.handle.allocTd()))
  }
  /** Where requests complete (ibv_create_cq). @param capacity completions that it may hold, from 1 on */
  completionQueue(capacity: number): Effect.Effect<CompletionQueue, VerbsError, Scope.Scope> {
    return scoped(() => new CompletionQueue(this.state, this.handle.createCq(capacity)))
  }
  /**
   * Memory that the device can reach, zeroed, on pages of 4,096 bytes of its own.
   *
   * @param size bytes from 1 on, or text: "64KiB"
   * @param options `writable`, default true: whether the device may write there, whatever a region says
   */
  allocate(
    size: number | string,
    options: { readonly writable?: boolean } = {},
  ): Effect.Effect<Allocation, VerbsError, Scope.Scope> {
    return scoped(() => {
      checkFields("allocate", "options", options, "give { writable }, or nothing")
      return new Allocation(this.state, this.handle, bytesOf(size), options.writable ?? true)
    })
  }
}
