import { type CaptureRecord, compareTimes, type PacketRecord } from "./Record.ts"

export interface MergedRecord {
  /** Position of its capture among those merged, from 0. */
  readonly source: number
  readonly record: CaptureRecord
}

interface Head {
  readonly source: number
  readonly records: AsyncIterator<CaptureRecord>
  record: CaptureRecord
  /** The packet whose time the record goes by: itself, or the one before it that had a time. */
  clock: PacketRecord | undefined
}

/**
 * Joins captures by time. Each is read one record ahead and keeps its own order; records other than packets go with
 * the packet before them, and so does a packet without a time. Of equal times the earlier capture comes first.
 */
export async function* mergeCaptures(
  captures: ReadonlyArray<AsyncIterable<CaptureRecord>>,
): AsyncGenerator<MergedRecord, void, undefined> {
  const iterators = captures.map((capture) => capture[Symbol.asyncIterator]())
  try {
    const heap: Array<Head> = []
    for (const [source, records] of iterators.entries()) {
      const first = await records.next()
      if (first.done !== true) rise(heap, { source, records, record: first.value, clock: timed(first.value) })
    }
    for (let head = heap[0]; head !== undefined; head = heap[0]) {
      yield { source: head.source, record: head.record }
      const next = await head.records.next()
      if (next.done === true) {
        const last = heap.pop()!
        if (heap.length > 0) heap[0] = last
      } else {
        head.record = next.value
        head.clock = timed(next.value) ?? head.clock
      }
      sink(heap)
    }
  } finally {
    for (const records of iterators) await records.return?.()
  }
}

/** Captures one after the other, as the files of a rotated set are; each record with the position of its capture. */
export async function* chainCaptures(
  captures: Iterable<AsyncIterable<CaptureRecord>>,
): AsyncGenerator<MergedRecord, void, undefined> {
  let source = 0
  for (const capture of captures) {
    for await (const record of capture) yield { source, record }
    source++
  }
}

const timed = (record: CaptureRecord): PacketRecord | undefined =>
  record.kind === "packet" && record.timeHigh >= 0 ? record : undefined

/** Whether `a` comes before `b`. What has had no packet yet comes first: headers before the first packet. */
const isBefore = (a: Head, b: Head): boolean => {
  const order =
    a.clock === undefined || b.clock === undefined
      ? Number(a.clock !== undefined) - Number(b.clock !== undefined)
      : compareTimes(a.clock, b.clock)
  return order === 0 ? a.source < b.source : order < 0
}

const rise = (heap: Array<Head>, head: Head): void => {
  heap.push(head)
  let at = heap.length - 1
  while (at > 0) {
    const parent = (at - 1) >> 1
    if (!isBefore(head, heap[parent]!)) return
    heap[at] = heap[parent]!
    heap[parent] = head
    at = parent
  }
}

const sink = (heap: Array<Head>): void => {
  const head = heap[0]
  let at = 0
  if (head === undefined) return
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) return
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
    if (!isBefore(heap[child]!, head)) return
    heap[at] = heap[child]!
    heap[child] = head
    at = child
  }
}
