import { Layout, type PacketPool } from "@rdmakit/packet"
import { NEVER, type Time } from "@rdmakit/protocol"

/** Entries of a chunk, 8 bytes each. */
const CHUNK_SHIFT = 4
const CHUNK_MASK = (1 << CHUNK_SHIFT) - 1
const CHUNKS_AT_FIRST = 1 << 15
const SORTED_AT_FIRST = 1 << 15

/** A window is sorted by so many parts of it first, at most. */
const PARTS = 512
/** Up to so many are sorted at once. */
const FEW = 24

/** The port that sent a packet lies in its record while it is on the link. */
const FROM = Layout.NEXT_ORDER

/**
 * Packets on their way to each node, by the window of time in which they arrive: in chunks, written one after the other by
 * whoever sends, and read at once when the node's turn comes. A window is as long as the shortest link's delay, so what is
 * sent in one arrives in a later one. Times are whole picoseconds.
 */
export class Inboxes {
  /** What `gather` found, in order: times of arrival since the window started, ps, and packets. */
  offsets = new Int32Array(SORTED_AT_FIRST)
  handles = new Int32Array(SORTED_AT_FIRST)
  private readonly pool: PacketPool
  /** Of each node in each of the windows to come, a row of nodes for each: its last entry, -1 for none. */
  private readonly last: Int32Array
  /** Entries: the time of arrival in its window, and the packet. */
  private entries = new Int32Array(CHUNKS_AT_FIRST << (CHUNK_SHIFT + 1))
  /** The chunk before each of the same box, or the next that is free. */
  private before = new Int32Array(CHUNKS_AT_FIRST)
  private free = -1
  private fresh = 0

  /** Start of the present window, ps; its number, and the rows of it and of the two after it. */
  start: Time = NEVER
  private window = 0
  private row = 0
  private rowNext = 0
  private rowAfter = 0
  readonly width: Time
  private readonly nodes: number
  private readonly windows: number
  private readonly partShift: number

  /** What `gather` and `sort` work with: as they were found; first and next of each part, parts that have any. */
  private foundOffsets = new Int32Array(SORTED_AT_FIRST)
  private foundHandles = new Int32Array(SORTED_AT_FIRST)
  private next = new Int32Array(SORTED_AT_FIRST)
  private readonly heads = new Int32Array(PARTS).fill(-1)
  private readonly parts = new Int32Array(PARTS >> 5)

  /**
   * @param width of a window, whole ps, at most 2^30
   * @param windows at least two more than anything arrives ahead; a power of two, at least 4
   */
  constructor(pool: PacketPool, nodes: number, width: Time, windows: number) {
    this.pool = pool
    this.nodes = nodes
    this.width = width
    this.windows = windows
    let shift = 0
    while (width / 2 ** shift > PARTS) shift++
    this.partShift = shift
    this.last = new Int32Array(windows * nodes).fill(-1)
    this.start = 0
    this.setRows()
  }

  private setRows(): void {
    this.row = this.rowOf(0)
    this.rowNext = this.rowOf(1)
    this.rowAfter = this.rowOf(2)
  }
  private rowOf(ahead: number): number {
    return ((this.window + ahead) & (this.windows - 1)) * this.nodes
  }

  /** A packet is on its way, to arrive in a later window. @param from the port that sent it */
  readonly put = (node: number, arrival: Time, from: number, handle: number): void => {
    this.pool.words[(handle << Layout.RECORD_SHIFT) | FROM] = from
    let offset = arrival - this.start - this.width
    let row = this.rowNext
    // Nearly all go over one link of nearly all the same length.
    if (offset >= this.width) {
      offset -= this.width
      row = this.rowAfter
      if (offset >= this.width) {
        const more = Math.floor(offset / this.width)
        offset -= more * this.width
        row = this.rowOf(2 + more)
      }
    }
    this.add(row + node, offset, handle)
  }

  /** What was found after an offset is not wanted yet. */
  putBack(node: number, from: number, count: number): void {
    for (let at = from; at < count; at++) this.add(this.row + node, this.offsets[at]!, this.handles[at]!)
  }

  private readonly add = (box: number, offset: Time, handle: number): void => {
    let entry = this.last[box]! + 1
    if ((entry & CHUNK_MASK) === 0) entry = this.chunkAfter(entry - 1)
    this.last[box] = entry
    this.entries[entry << 1] = offset
    this.entries[(entry << 1) | 1] = handle
  }

  /** First entry of a new chunk of a box. */
  private chunkAfter(last: number): number {
    let chunk = this.free
    if (chunk >= 0) this.free = this.before[chunk]!
    else {
      if (this.fresh === this.before.length) {
        this.entries = doubled(this.entries)
        this.before = doubled(this.before)
      }
      chunk = this.fresh++
    }
    this.before[chunk] = last >> CHUNK_SHIFT
    return chunk << CHUNK_SHIFT
  }

  /** The port that sent a packet that is on its way. */
  fromOf(handle: number): number {
    return this.pool.words[(handle << Layout.RECORD_SHIFT) | FROM]!
  }

  /** Whether anything arrives at a node in the present window. */
  has(node: number): boolean {
    return this.last[this.row + node]! >= 0
  }

  /** Windows until the next that has anything for anybody, after the present one; NEVER: none has. */
  ahead(): number {
    for (let ahead = 1; ahead < this.windows; ahead++) {
      const row = this.rowOf(ahead)
      for (let node = 0; node < this.nodes; node++) if (this.last[row + node]! >= 0) return ahead
    }
    return NEVER
  }

  /** The present window is over, or there is nothing in this many. */
  advance(windows: number): void {
    this.start += windows * this.width
    this.window = (this.window + (windows % this.windows)) & (this.windows - 1)
    this.setRows()
  }

  /** Takes all that arrives at a node in the present window, by time and, at one time, by port; how many. */
  readonly gather = (node: number): number => {
    let entry = this.last[this.row + node]!
    if (entry < 0) return 0
    this.last[this.row + node] = -1
    const { before, entries } = this
    let count = 0
    while (entry >= 0) {
      const chunk = entry >> CHUNK_SHIFT
      if (count + CHUNK_MASK >= this.next.length) this.growSorted()
      const { foundHandles, foundOffsets } = this
      for (const first = chunk << CHUNK_SHIFT; entry >= first; entry--) {
        foundOffsets[count] = entries[entry << 1]!
        foundHandles[count++] = entries[(entry << 1) | 1]!
      }
      // The chunk before the first is -1, which ends at -1.
      entry = (before[chunk]! << CHUNK_SHIFT) | CHUNK_MASK
      before[chunk] = this.free
      this.free = chunk
    }
    if (count > FEW) this.sort(count)
    // The newest was found first; from the oldest on, most go behind all others.
    else for (let i = count - 1, filled = 0; i >= 0; i--) this.insert(i, 0, filled++)
    return count
  }

  private growSorted(): void {
    this.offsets = doubled(this.offsets)
    this.handles = doubled(this.handles)
    this.foundOffsets = doubled(this.foundOffsets)
    this.foundHandles = doubled(this.foundHandles)
    this.next = doubled(this.next)
  }

  private readonly sort = (count: number): void => {
    const { foundOffsets, heads, next, parts, partShift } = this
    for (let i = 0; i < count; i++) {
      const part = foundOffsets[i]! >> partShift
      const head = heads[part]!
      if (head < 0) parts[part >> 5]! |= 1 << (part & 31)
      next[i] = head
      heads[part] = i
    }
    let filled = 0
    for (let word = 0; word < parts.length; word++) {
      let bits = parts[word]!
      parts[word] = 0
      while (bits !== 0) {
        const part = (word << 5) + 31 - Math.clz32(bits & -bits)
        bits &= bits - 1
        const least = filled
        for (let i = heads[part]!; i >= 0; i = next[i]!) this.insert(i, least, filled++)
        heads[part] = -1
      }
    }
  }

  /** Puts one that was found among those from `least` on that are sorted already, up to `end`. */
  private readonly insert = (found: number, least: number, end: number): void => {
    const { handles, offsets } = this
    const offset = this.foundOffsets[found]!
    const handle = this.foundHandles[found]!
    let at = end
    while (at > least) {
      const other = offsets[at - 1]!
      if (other < offset || (other === offset && this.fromOf(handles[at - 1]!) < this.fromOf(handle))) break
      offsets[at] = other
      handles[at] = handles[at - 1]!
      at--
    }
    offsets[at] = offset
    handles[at] = handle
  }
}

const doubled = (array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> => {
  const grown = new Int32Array(array.length * 2)
  grown.set(array)
  return grown
}
