import { type Memory, MemoryFault, type MemoryUser, type Sge } from "@rdmakit/protocol"

const NONE: ReadonlyArray<Sge> = []

/** Reads and writes a list of scatter-gather elements as one stretch of bytes; quickest where it left off. */
export class SgeCursor {
  private sges: ReadonlyArray<Sge> = NONE
  /** The element it stands at, and the bytes before it. */
  private index = 0
  private before = 0

  set(sges: ReadonlyArray<Sge>): void {
    this.sges = sges
    this.index = 0
    this.before = 0
  }

  /** Moves to the element that holds byte `offset`, which is within the list. */
  private seek(offset: number): void {
    if (offset < this.before) {
      this.index = 0
      this.before = 0
    }
    while (offset >= this.before + this.sges[this.index]!.length) this.before += this.sges[this.index++]!.length
  }

  /** Copies bytes out of memory; all of them are within the list. After a fault some may have been copied. */
  read(memory: Memory, user: MemoryUser, offset: number, bytes: number, out: Uint8Array, start: number): MemoryFault {
    let done = 0
    while (done < bytes) {
      this.seek(offset + done)
      const { address, length, lkey } = this.sges[this.index]!
      const from = offset + done - this.before
      const most = length - from
      const part = most < bytes - done ? most : bytes - done
      const fault = memory.read(user, lkey, false, address + from, part, out, start + done)
      if (fault !== MemoryFault.None) return fault
      done += part
    }
    return MemoryFault.None
  }

  /** Copies bytes into memory; all of them are within the list. After a fault some may have been copied. */
  write(
    memory: Memory,
    user: MemoryUser,
    offset: number,
    octets: Uint8Array,
    start: number,
    bytes: number,
  ): MemoryFault {
    let done = 0
    while (done < bytes) {
      this.seek(offset + done)
      const { address, length, lkey } = this.sges[this.index]!
      const from = offset + done - this.before
      const most = length - from
      const part = most < bytes - done ? most : bytes - done
      const fault = memory.write(user, lkey, false, address + from, octets, start + done, part)
      if (fault !== MemoryFault.None) return fault
      done += part
    }
    return MemoryFault.None
  }
}

/** Whether the whole list may be read (`access` 0), or written to (`Access.LocalWrite`). */
export const checkSges = (memory: Memory, user: MemoryUser, sges: ReadonlyArray<Sge>, access: number): MemoryFault => {
  for (let index = 0; index < sges.length; index++) {
    const { address, length, lkey } = sges[index]!
    if (length === 0) continue
    const fault = memory.check(user, lkey, false, access, address, length)
    if (fault !== MemoryFault.None) return fault
  }
  return MemoryFault.None
}
