import type { AddressVector, Completion } from "@rdmakit/protocol"
import { AddressHandle, answerVector } from "./AddressHandle.ts"
import type { Device } from "./Device.ts"
import type { DeviceCore } from "./DeviceCore.ts"
import { DeviceError } from "./DeviceError.ts"
import { wrongType } from "./Given.ts"
import { MemoryRegion, type RegionOptions } from "./MemoryRegion.ts"
import { MemoryWindow } from "./MemoryWindow.ts"
import type { QpOptions } from "./QpOptions.ts"
import { QueuePair } from "./QueuePair.ts"
import { SharedReceiveQueue, type SrqOptions } from "./SharedReceiveQueue.ts"

/** A promise of the program that one thread alone uses what is made with it; the device does no more than count it. */
export class ThreadDomain {
  readonly device: Device
  private readonly core: DeviceCore
  private users = 0
  private alive = true

  constructor(device: Device, core: DeviceCore) {
    core.resources.claim("threadDomains", core.limits.maxPd, "alloc_td")
    this.device = device
    this.core = core
  }

  retain(): void {
    this.users += 1
  }
  release(): void {
    this.users -= 1
  }

  /** @throws DeviceError EBUSY while a parent domain has it, EINVAL the second time */
  dealloc(): void {
    if (!this.alive) {
      throw new DeviceError("EINVAL", "dealloc_td", undefined, "the domain is gone already", "free it once")
    }
    if (this.users > 0) {
      throw new DeviceError("EBUSY", "dealloc_td", undefined, `${this.users} parent domains have it`, "free them first")
    }
    this.alive = false
    this.core.resources.free("threadDomains")
  }
}

/** What may touch what: queue pairs reach the memory of their own domain alone (IBTA 1.7 §10.2.3). */
export class ProtectionDomain {
  readonly device: Device
  /** A parent domain has that of the domain it was made of. */
  readonly number: number
  /** Of a parent domain: what it was made of. */
  readonly parent: ProtectionDomain | undefined
  readonly threadDomain: ThreadDomain | undefined
  private readonly core: DeviceCore
  private users = 0
  private alive = true

  constructor(device: Device, core: DeviceCore, parent?: ProtectionDomain, threadDomain?: ThreadDomain) {
    core.resources.claim(
      "protectionDomains",
      core.limits.maxPd,
      parent === undefined ? "alloc_pd" : "alloc_parent_domain",
    )
    this.device = device
    this.core = core
    this.parent = parent
    this.threadDomain = threadDomain
    this.number = parent?.number ?? core.nextNumber()
    parent?.retain()
    threadDomain?.retain()
  }

  /** Registers memory. @throws DeviceError EINVAL, EFAULT, ENOMEM */
  regMr(options: RegionOptions): MemoryRegion {
    this.refuseGone("reg_mr")
    return new MemoryRegion(this.core, this, options)
  }
  /** A memory window, not bound yet. @throws DeviceError EINVAL, ENOMEM */
  allocMw(type: 1 | 2): MemoryWindow {
    this.refuseGone("alloc_mw")
    return new MemoryWindow(this.core, this, type)
  }
  /** @throws DeviceError EINVAL, ENOMEM */
  createSrq(options: SrqOptions): SharedReceiveQueue {
    this.refuseGone("create_srq")
    return new SharedReceiveQueue(this.core, this, options)
  }
  /** A queue pair in RESET. @throws DeviceError EINVAL, ENOMEM */
  createQp(options: QpOptions): QueuePair {
    this.refuseGone("create_qp")
    return new QueuePair(this.core, this, options)
  }
  /** Where datagrams go. @throws DeviceError EINVAL, EHOSTUNREACH, ENOMEM */
  createAh(vector: AddressVector): AddressHandle {
    this.refuseGone("create_ah")
    return new AddressHandle(this.core, this, vector)
  }
  /**
   * The way back to the sender of a datagram (ibv_create_ah_from_wc).
   * @param grh the first 40 octets of its receive
   * @throws DeviceError EINVAL, EHOSTUNREACH, ENOMEM
   */
  createAhFromCompletion(completion: Completion, grh: Uint8Array, port = 1): AddressHandle {
    return this.createAh(answerVector(this.core, completion, grh, port))
  }
  /** A domain for the same memory, made of this one and a thread domain. @throws DeviceError EINVAL, ENOMEM */
  allocParentDomain(threadDomain?: ThreadDomain): ProtectionDomain {
    this.refuseGone("alloc_parent_domain")
    if (this.parent !== undefined) {
      throw new DeviceError(
        "EINVAL",
        "alloc_parent_domain",
        "pd",
        "it is a parent domain itself",
        "take a plain domain",
      )
    }
    if (threadDomain !== undefined && !(threadDomain instanceof ThreadDomain))
      throw wrongType("alloc_parent_domain", "threadDomain", threadDomain, "give one of allocTd, or leave it out")
    return new ProtectionDomain(this.device, this.core, this, threadDomain)
  }

  /** Something was made in it, or is gone. */
  retain(): void {
    this.users += 1
  }
  release(): void {
    this.users -= 1
  }

  /** @throws DeviceError EBUSY while something of it is in use, EINVAL the second time */
  dealloc(): void {
    this.refuseGone("dealloc_pd")
    if (this.users > 0) {
      throw new DeviceError(
        "EBUSY",
        "dealloc_pd",
        undefined,
        `${this.users} objects are made in it`,
        "free its queue pairs, regions, windows, address handles and shared receive queues first",
      )
    }
    this.alive = false
    this.core.resources.free("protectionDomains")
    this.parent?.release()
    this.threadDomain?.release()
  }

  private refuseGone(verb: string): void {
    if (this.alive) return
    throw new DeviceError("EINVAL", verb, "pd", "the domain is gone", "use one that has not been freed")
  }
}
