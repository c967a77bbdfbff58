/** The heap that V8 may take: when it is full the process is ended, without a word of ours and with nothing swept away. */
import { getHeapStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Of the heap: what is not yet collected has to lie there too. */
const HEAP_SHARE = 0.75
/** What may be alive in the midst of a run: its results have to lie beside it. */
const ALIVE_SHARE = 0.65
/** When this much is taken it is time to look how much of it is alive. */
const LOOK_SHARE = 0.75

/** What V8 counts for young objects, three rooms of at most 64 MiB: when those that stay fill the rest it is over. */
const YOUNG_BYTES = 3 * 64 * 1024 * 1024

export const heapLimitBytes = (): number => {
  const { heap_size_limit: limitBytes } = getHeapStatistics()
  return Math.max(limitBytes - YOUNG_BYTES, limitBytes / 2)
}

/** What the inputs of a run may take of this process, bytes. */
export const memoryBytes = (): number => HEAP_SHARE * heapLimitBytes()

/** Whether what is alive fills the heap so far that the process would soon be ended. Most calls only read a counter. */
export const isMemoryEnding = (limitBytes: number): boolean => {
  if (getHeapStatistics().used_heap_size < LOOK_SHARE * limitBytes) return false
  collect()
  return getHeapStatistics().used_heap_size >= ALIVE_SHARE * limitBytes
}

const collect = (): void => {
  setFlagsFromString("--expose-gc")
  const gc = runInNewContext("gc") as () => void
  gc()
}
