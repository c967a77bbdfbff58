import type {
  Device,
  CompletionQueue as DeviceCq,
  AsyncEvent as DeviceEvent,
  QueuePair as DeviceQp,
  SharedReceiveQueue as DeviceSrq,
} from "@rdmakit/device"
import type { CompletionQueue } from "./CompletionQueue.ts"
import { Lifetimes } from "./Lifetime.ts"
import type { QueuePair } from "./QueuePair.ts"
import type { SharedReceiveQueue } from "./SharedReceiveQueue.ts"

/** What happened that no work request asked for (struct ibv_async_event). */
export type AsyncEvent =
  | { readonly type: Extract<DeviceEvent, { readonly qp: unknown }>["type"]; readonly queuePair: QueuePair }
  | { readonly type: "CQ_ERR"; readonly completionQueue: CompletionQueue }
  | { readonly type: "SRQ_LIMIT_REACHED"; readonly sharedReceiveQueue: SharedReceiveQueue }
  | { readonly type: "PORT_ACTIVE" | "PORT_ERR" | "GID_CHANGE"; readonly port: number }
  /** SRD: nobody answers at an address, 16 octets, and the work for it has failed. It may be tried again. */
  | { readonly type: "REMOTE_UNRESPONSIVE"; readonly gid: Uint8Array }
  | { readonly type: "DEVICE_FATAL" }

/** What programs have of one device, whichever context they came by: a device tells one listener. */
export class DeviceState {
  readonly lifetimes = new Lifetimes()
  readonly completionQueues = new Map<DeviceCq, CompletionQueue>()
  readonly queuePairs = new Map<DeviceQp, QueuePair>()
  readonly sharedReceiveQueues = new Map<DeviceSrq, SharedReceiveQueue>()
  /** One for each open context. */
  readonly listeners = new Set<(event: AsyncEvent) => void>()

  private constructor(device: Device) {
    device.onAsyncEvent((event) => this.handle(event))
  }

  private static readonly all = new WeakMap<Device, DeviceState>()

  static of(device: Device): DeviceState {
    let state = DeviceState.all.get(device)
    if (state === undefined) {
      state = new DeviceState(device)
      DeviceState.all.set(device, state)
    }
    return state
  }

  private handle(event: DeviceEvent): void {
    const told = this.translate(event)
    if (told === undefined) return
    if (told.type === "CQ_ERR") told.completionQueue.handleOverrun()
    else if ("queuePair" in told) told.queuePair.noteEvent(told.type)
    for (const listener of this.listeners) listener(told)
  }

  /** undefined: about something that this package has not made. */
  private translate(event: DeviceEvent): AsyncEvent | undefined {
    if ("qp" in event) {
      const queuePair = this.queuePairs.get(event.qp)
      return queuePair && { type: event.type, queuePair }
    }
    if (event.type === "CQ_ERR") {
      const completionQueue = this.completionQueues.get(event.cq)
      return completionQueue && { type: event.type, completionQueue }
    }
    if (event.type === "SRQ_LIMIT_REACHED") {
      const sharedReceiveQueue = this.sharedReceiveQueues.get(event.srq)
      return sharedReceiveQueue && { type: event.type, sharedReceiveQueue }
    }
    return event
  }
}
