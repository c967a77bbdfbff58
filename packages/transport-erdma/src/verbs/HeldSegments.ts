import { Packet } from "@rdmakit/packet"

/** Segments that wait for their turn: copies of their packets, by number. */
export class HeldSegments {
  private readonly handles = new Map<number, number>()
  private cursor: Packet | undefined = undefined

  keep(number: number, packet: Packet): void {
    this.cursor ??= new Packet(packet.pool)
    this.handles.set(number, packet.pool.duplicate(packet.handle))
  }

  /** The segment of this number, good until the next call; undefined: it is not here. */
  at(number: number): Packet | undefined {
    const handle = this.handles.get(number)
    return handle === undefined ? undefined : this.cursor!.at(handle)
  }

  drop(number: number): void {
    const handle = this.handles.get(number)
    if (handle === undefined) return
    this.handles.delete(number)
    this.cursor!.pool.release(handle)
  }

  clear(): void {
    for (const handle of this.handles.values()) this.cursor!.pool.release(handle)
    this.handles.clear()
  }
}
