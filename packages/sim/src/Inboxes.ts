import { NEVER, type Time } from "@rdmakit/protocol"

/** Entries of a chunk, 16 bytes each. */
const CHUNK_SHIFT = 4
const CHUNK_MASK = (1 << CHUNK_SHIFT) - 1
const CHUNKS_AT_FIRST = 1 << 15
const SORTED_AT_FIRST = 1 << 15

/** A window is sorted by so many parts of it first. */
const PARTS = 512
/** Up to so many are sorted at once. */
const FEW = 24

/**
 * Packets on their way to each node, by the window of time in which they arrive: in chunks, written one after the other by
 * whoever sends, and read at once when the node's turn comes. A window is as long as the shortest link's delay, so what is
 * sent in one arrives in a later one.
 */
export class Inboxes {
  /** What `gather` found: times of arrival, the ports that sent, packets. */
  times = new Float64Array(SORTED_AT_FIRST)
  froms = new Int32Array(SORTED_AT_FIRST)
  handles = new Int32Array(SORTED_AT_FIRST)
  /** Of each node in each of the windows to come, a row of nodes for each: its last entry, -1 for none. */
  private readonly last: Int32Array
  /** Entries: time, packet, port. */
  private f64: Float64Array
  private i32: Int32Array
  /** The chunk before each of the same box, or the next that is free. */
  private before: Int32Array
  private free = -1
  private fresh = 0

  /** Start of the present window, ps; its number, and its row. */
  start: Time = NEVER
  private window = 0
  row = 0
  readonly width: Time
  private readonly nodes: number
  private readonly windows: number
  private readonly perPs: number

  /** What `gather` and `sort` work with: entries as they were found; first and next of each part, parts that have any. */
  private entries = new Int32Array(SORTED_AT_FIRST)
  private next = new Int32Array(SORTED_AT_FIRST)
  private readonly heads = new Int32Array(PARTS).fill(-1)
  private readonly parts = new Int32Array(PARTS >> 5)

  /**
   * @param width of a window, ps; nothing is ever put into the present one
   * @param windows at least two more than anything arrives ahead; a power of two
   */
  constructor(nodes: number, width: Time, windows: number) {
    this.nodes = nodes
    this.width = width
    this.windows = windows
    this.perPs = PARTS / width
    this.last = new Int32Array(windows * nodes).fill(-1)
    const buffer = new ArrayBuffer(CHUNKS_AT_FIRST << (CHUNK_SHIFT + 4))
    this.f64 = new Float64Array(buffer)
    this.i32 = new Int32Array(buffer)
    this.before = new Int32Array(CHUNKS_AT_FIRST)
    this.start = 0
  }

  /** A packet is on its way. @param from the port that sent it */
  readonly put = (node: number, arrival: Time, from: number, handle: number): void => {
    const ahead = ((arrival - this.start) / this.width) | 0
    const at = ((this.window + ahead) & (this.windows - 1)) * this.nodes + node
    let entry = this.last[at]! + 1
    if ((entry & CHUNK_MASK) === 0) entry = this.chunkAfter(entry - 1)
    this.last[at] = entry
    this.f64[entry << 1] = arrival
    this.i32[(entry << 2) | 2] = handle
    this.i32[(entry << 2) | 3] = from
  }

  /** First entry of a new chunk of a box. */
  private chunkAfter(last: number): number {
    let chunk = this.free
    if (chunk >= 0) this.free = this.before[chunk]!
    else {
      if (this.fresh === this.before.length) this.grow()
      chunk = this.fresh++
    }
    this.before[chunk] = last >> CHUNK_SHIFT
    return chunk << CHUNK_SHIFT
  }

  private grow(): void {
    const buffer = new ArrayBuffer(this.f64.byteLength * 2)
    const i32 = new Int32Array(buffer)
    i32.set(this.i32)
    this.i32 = i32
    this.f64 = new Float64Array(buffer)
    const before = new Int32Array(this.before.length * 2)
    before.set(this.before)
    this.before = before
  }

  /** Whether anything arrives at a node in the present window. */
  has(node: number): boolean {
    return this.last[this.row + node]! >= 0
  }

  /** Windows until the next that has anything for anybody, after the present one; NEVER: none has. */
  ahead(): number {
    for (let ahead = 1; ahead < this.windows; ahead++) {
      const row = ((this.window + ahead) & (this.windows - 1)) * this.nodes
      for (let node = 0; node < this.nodes; node++) if (this.last[row + node]! >= 0) return ahead
    }
    return NEVER
  }

  /** The present window is over, or there is nothing in this many. */
  advance(windows: number): void {
    this.start += windows * this.width
    this.window = (this.window + (windows % this.windows)) & (this.windows - 1)
    this.row = this.window * this.nodes
  }

  /** Takes all that arrives at a node in the present window, by time and, at one time, by port; how many. */
  readonly gather = (node: number): number => {
    let entry = this.last[this.row + node]!
    if (entry < 0) return 0
    this.last[this.row + node] = -1
    const { before } = this
    let count = 0
    while (entry >= 0) {
      const chunk = entry >> CHUNK_SHIFT
      if (count + CHUNK_MASK >= this.entries.length) this.growSorted()
      for (const first = chunk << CHUNK_SHIFT; entry >= first; entry--) this.entries[count++] = entry
      entry = (before[chunk]! << CHUNK_SHIFT) | CHUNK_MASK
      // The chunk before -1 ends at -1.
      before[chunk] = this.free
      this.free = chunk
    }
    if (count <= FEW) {
      // The newest was found first; from the oldest on, most go behind all others.
      for (let i = count - 1, filled = 0; i >= 0; i--) this.insert(this.entries[i]!, 0, filled++)
    } else {
      this.sort(count)
    }
    return count
  }

  private growSorted(): void {
    const { times, froms, handles, entries, next } = this
    const length = entries.length * 2
    this.entries = new Int32Array(length)
    this.entries.set(entries)
    this.times = new Float64Array(length)
    this.times.set(times)
    this.froms = new Int32Array(length)
    this.froms.set(froms)
    this.handles = new Int32Array(length)
    this.handles.set(handles)
    this.next = new Int32Array(length)
    this.next.set(next)
  }

  private readonly sort = (count: number): void => {
    const { entries, f64, heads, next, parts, perPs, start } = this
    for (let i = 0; i < count; i++) {
      const part = ((f64[entries[i]! << 1]! - start) * perPs) | 0
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
        for (let i = heads[part]!; i >= 0; i = next[i]!) this.insert(entries[i]!, least, filled++)
        heads[part] = -1
      }
    }
  }

  /** Puts an entry among those from `least` on that are sorted already, up to `end`. */
  private readonly insert = (entry: number, least: number, end: number): void => {
    const { froms, handles, times } = this
    const time = this.f64[entry << 1]!
    const from = this.i32[(entry << 2) | 3]!
    let at = end
    while (at > least) {
      const other = times[at - 1]!
      if (other < time || (other === time && froms[at - 1]! < from)) break
      times[at] = other
      froms[at] = froms[at - 1]!
      handles[at] = handles[at - 1]!
      at--
    }
    times[at] = time
    froms[at] = from
    handles[at] = this.i32[(entry << 2) | 2]!
  }
}
