import type { PacketPool } from "@rdmakit/packet"
import { type Nic, shown, type Time } from "@rdmakit/protocol"
import { NicFault } from "./NicFault.ts"

/** Where a packet is: nowhere, for it was given back or never was; where it was made or has come to; on its way. */
const Place = { Nowhere: 0, Here: 1, Away: 2 } as const

/** Looks at what NICs of one's own send: packets, and each once. */
export class PacketWatch {
  /** By handle. */
  private places = new Uint8Array(1024)
  private readonly nodeOf: ArrayLike<number>

  /**
   * @param pool that no packet has been taken from; it tells from now on which are
   * @param nodeOf the node of each port; of a host's, its complement
   */
  constructor(pool: PacketPool, nodeOf: ArrayLike<number>) {
    this.nodeOf = nodeOf
    const alloc = pool.alloc.bind(pool)
    const release = pool.release.bind(pool)
    pool.alloc = () => {
      const handle = alloc()
      this.put(handle, Place.Here)
      return handle
    }
    pool.release = (handle) => {
      this.put(handle, Place.Nowhere)
      release(handle)
    }
  }

  /** The same NIC as a kernel should see it: `pull` is refused what is no packet of the pool, or has been sent. */
  over(nic: Nic): Nic {
    return {
      receive: (now, packet, port) => {
        this.put(packet.handle, Place.Here)
        nic.receive(now, packet, port)
      },
      pull: (now, port, paused) => {
        const handle = nic.pull(now, port, paused)
        if (handle === -1) return handle
        const place = typeof handle === "number" ? this.places[handle] : undefined
        if (place !== Place.Here) throw this.fault(now, port, handle, place)
        this.places[handle] = Place.Away
        return handle
      },
      quiet: (port) => nic.quiet(port),
      timer: (now, endpoint, timer) => nic.timer(now, endpoint, timer),
    }
  }

  private fault(now: Time, port: number, handle: number, place: number | undefined): NicFault {
    const found =
      place === Place.Away ? `${handle}, a packet that is on its way already` : `${shown(handle)}, which is no packet`
    return new NicFault(`pull gave ${found}: expected the handle of a packet, or -1`, ~this.nodeOf[port]!, now)
  }

  private put(handle: number, place: number): void {
    if (handle >= this.places.length) {
      const more = new Uint8Array(2 * handle)
      more.set(this.places)
      this.places = more
    }
    this.places[handle] = place
  }
}
