/** How a hop's telemetry is kept while its packet travels. Times ps, sizes bytes, rates bit/s. */
export interface TelemetryFormat {
  readonly name: "exact" | "int64"
  /** Words per hop. */
  readonly hopWords: number
  /** Times count in this unit, modulo `timeModulusPs`. */
  readonly timeUnitPs: number
  readonly timeModulusPs: number
  readonly bytesUnit: number
  readonly bytesModulus: number
  readonly queueUnit: number
  readonly queueModulus: number
}

/**
 * 16 bytes a hop: 40 bits of picoseconds (they wrap after 1.1 s), 40 bits of bytes (1.1 TB), 32 of queue length, 16 of
 * rate code. Nothing is rounded.
 */
export const exactTelemetry: TelemetryFormat = {
  name: "exact",
  hopWords: 4,
  timeUnitPs: 1,
  timeModulusPs: 2 ** 40,
  bytesUnit: 1,
  bytesModulus: 2 ** 40,
  queueUnit: 1,
  queueModulus: 2 ** 32,
}

/**
 * The 64-bit hop of the public HPCC simulator: rate code 3 bits, time 24 bits of ns, bytes 20 bits of 128·multi B,
 * queue 17 bits of 80·multi B (int-header.h; HPCC §4.1 has 16 bits of queue and 4 of rate).
 */
export const int64Telemetry = (multi: number): TelemetryFormat => ({
  name: "int64",
  hopWords: 2,
  timeUnitPs: 1000,
  timeModulusPs: 2 ** 24 * 1000,
  bytesUnit: 128 * multi,
  bytesModulus: 2 ** 20 * 128 * multi,
  queueUnit: 80 * multi,
  queueModulus: 2 ** 17 * 80 * multi,
})

/** Numbers per hop as `unpackHops` writes them: time, bytes sent, queue length, rate. */
export const TELEMETRY_NUMBERS = 4

const TWO_32 = 2 ** 32

/** Writes one hop at word `at`. `rateCode` is an index into the table `unpackHops` is given. */
export function packHop(
  format: TelemetryFormat,
  words: Int32Array,
  at: number,
  time: number,
  sentBytes: number,
  queueBytes: number,
  rateCode: number,
): void {
  if (format.hopWords === 2) {
    const ns = (time / 1000) & 0xffffff
    const sent = (sentBytes / format.bytesUnit) & 0xfffff
    const queue = queueBytes === 0 ? 0 : (queueBytes / format.queueUnit) & 0x1ffff
    words[at] = ns | ((sent >> 12) << 24)
    words[at + 1] = (sent & 0xfff) | (queue << 12) | (rateCode << 29)
  } else {
    // Bit operations take numbers modulo 2^32, and drop what is behind the point.
    words[at] = time | 0
    words[at + 1] = sentBytes | 0
    words[at + 2] = queueBytes
    words[at + 3] = ((time / TWO_32) & 0xff) | (((sentBytes / TWO_32) & 0xff) << 8) | (rateCode << 16)
  }
}

/** Reads `hops` hops from word `at` into `out`, four numbers each. */
export function unpackHops(
  format: TelemetryFormat,
  words: Int32Array,
  at: number,
  hops: number,
  rates: ArrayLike<number>,
  out: Float64Array,
): void {
  let to = 0
  let from = at
  if (format.hopWords === 2) {
    for (let hop = 0; hop < hops; hop++) {
      const a = words[from]!
      const b = words[from + 1]!
      out[to] = (a & 0xffffff) * 1000
      out[to + 1] = (((a >>> 24) << 12) | (b & 0xfff)) * format.bytesUnit
      out[to + 2] = ((b >>> 12) & 0x1ffff) * format.queueUnit
      out[to + 3] = rates[b >>> 29]!
      from += 2
      to += TELEMETRY_NUMBERS
    }
  } else {
    for (let hop = 0; hop < hops; hop++) {
      const d = words[from + 3]!
      out[to] = (words[from]! >>> 0) + (d & 0xff) * TWO_32
      out[to + 1] = (words[from + 1]! >>> 0) + ((d >>> 8) & 0xff) * TWO_32
      out[to + 2] = words[from + 2]! >>> 0
      out[to + 3] = rates[d >>> 16]!
      from += 4
      to += TELEMETRY_NUMBERS
    }
  }
}
