/** What is used of WebAssembly, whose types come only with those of browsers. */
interface WithMemory {
  readonly WebAssembly?: {
    readonly Memory: new (pages: {
      readonly initial: number
      readonly maximum: number
    }) => { readonly buffer: ArrayBuffer }
  }
}

const PAGE_BYTES = 1 << 16
/** No room has been left for the guard pages of one. */
let refused = false

/**
 * A buffer of zeros for a table of cache lines: of at least so many bytes, it begins at a line. An ordinary one begins
 * where the allocator puts it, and every line of the table may be two of the cache's. The memory of a WebAssembly
 * module, which is a buffer like any other, begins at a page.
 *
 * Where there is no WebAssembly, no room for its guard pages, or less than a page to hold, it is an ordinary one: lines
 * may be halved, and nothing else changes. Once there was no room it is not asked for again: an engine collects garbage,
 * all of it and more than once, before it refuses.
 */
export const lineBuffer = (bytes: number): ArrayBuffer => {
  const { WebAssembly } = globalThis as WithMemory
  if (refused || WebAssembly === undefined || bytes < PAGE_BYTES) return new ArrayBuffer(bytes)
  const pages = Math.ceil(bytes / PAGE_BYTES)
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages }).buffer
  } catch {
    refused = true
    return new ArrayBuffer(bytes)
  }
}
