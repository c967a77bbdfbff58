import { shown } from "@rdmakit/protocol"
import { DeviceError } from "./DeviceError.ts"
import { checkFields } from "./Given.ts"

export const PAGE_BYTES = 4096
const FIRST_ADDRESS = 0x7f0000000000
/** Beyond every allocation lie pages that belong to nobody, so that what runs over the end meets no neighbour. */
const GUARD_BYTES = 16 * PAGE_BYTES

/** Memory of a program, where its device can reach it. */
export interface Allocation {
  /** Virtual address of the first octet, a multiple of 4,096. */
  readonly address: number
  /** The octets themselves: the program reads and writes them here. */
  readonly octets: Uint8Array
  /** False: the device may not write here, whatever a region says. */
  readonly writable: boolean
}

interface Pages extends Allocation {
  /** Regions registered here. */
  pins: number
}

/** What registered memory lies in. */
export interface Pinned {
  /** Exactly the octets asked for. */
  readonly octets: Uint8Array
  readonly writable: boolean
  unpin(): void
}

/** The virtual memory of the program at a device: what may be registered. Addresses only grow, none comes back. */
export class AddressSpace {
  private readonly allocations: Array<Pages> = []
  private readonly maxBytes: number
  private next = FIRST_ADDRESS
  /** Bytes allocated. */
  bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  /** Allocations that have not been released. */
  get count(): number {
    return this.allocations.length
  }

  /**
   * Zeroed memory on pages of its own.
   * @param bytes from 1 on
   * @throws DeviceError EINVAL, ENOMEM
   */
  allocate(bytes: number, writable: boolean): Allocation {
    if (!Number.isSafeInteger(bytes) || bytes < 1) {
      throw new DeviceError(
        "EINVAL",
        "allocate",
        "bytes",
        `${shown(bytes)} is no size`,
        "give a whole number from 1 on",
      )
    }
    if (bytes > this.maxBytes - this.bytes) {
      throw new DeviceError(
        "ENOMEM",
        "allocate",
        "bytes",
        `${bytes} bytes beside ${this.bytes} are more than ${this.maxBytes}`,
        "release memory, or raise limits.maxMemoryBytes",
      )
    }
    let octets: Uint8Array
    try {
      octets = new Uint8Array(bytes)
    } catch {
      throw new DeviceError("ENOMEM", "allocate", "bytes", `there are no ${bytes} bytes in one piece`, "allocate less")
    }
    const pages: Pages = { address: this.next, octets, writable, pins: 0 }
    this.next += Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES + GUARD_BYTES
    this.bytes += bytes
    this.allocations.push(pages)
    return pages
  }

  /** Gives memory back. @throws DeviceError EINVAL when it is none of this device's, EBUSY while it is registered */
  release(allocation: Allocation): void {
    checkFields("release", "allocation", allocation, "release what allocate gave, once")
    const at = this.indexOf(allocation.address)
    const pages = this.allocations[at]
    if (pages === undefined || pages !== allocation) {
      throw new DeviceError(
        "EINVAL",
        "release",
        undefined,
        "no memory of this device",
        "release what allocate gave, once",
      )
    }
    if (pages.pins > 0) {
      throw new DeviceError(
        "EBUSY",
        "release",
        undefined,
        `${pages.pins} memory regions lie in it`,
        "deregister them first",
      )
    }
    this.bytes -= pages.octets.length
    this.allocations.splice(at, 1)
  }

  /** Pins octets for a region. undefined: they are not all of one allocation. */
  pin(address: number, bytes: number): Pinned | undefined {
    const pages = this.allocations[this.indexOf(address)]
    if (pages === undefined) return undefined
    const start = address - pages.address
    if (start > pages.octets.length || bytes > pages.octets.length - start) return undefined
    pages.pins += 1
    let pinned = true
    return {
      octets: pages.octets.subarray(start, start + bytes),
      writable: pages.writable,
      unpin: () => {
        if (pinned) pages.pins -= 1
        pinned = false
      },
    }
  }

  /** The last allocation that begins at or before an address; -1: none. */
  private indexOf(address: number): number {
    let low = 0
    let high = this.allocations.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.allocations[middle]!.address <= address) low = middle + 1
      else high = middle
    }
    return low - 1
  }
}
