import { type FieldsOf, type Layout, readFields, reservedFaults, writeFields } from "./Layout.ts"
import { space } from "./Octets.ts"
import { type Parse, parsed, shortage } from "./Result.ts"

/** Reads a header whose every value is legal: all fields, and a fault for each reserved one that is not 0. */
export const parsePlain = <T extends string>(
  layout: Layout<T>,
  octets: Uint8Array,
  start: number,
  end: number,
): Parse<FieldsOf<T>> =>
  shortage(layout.format, octets, start, end, layout.bytes) ??
  parsed(readFields(layout, octets, start), start + layout.bytes, end, reservedFaults(layout, octets, start))

/** Writes such a header. */
export const emitPlain = <T extends string>(
  layout: Layout<T>,
  value: FieldsOf<T>,
  octets: Uint8Array,
  start: number,
): number => {
  space(octets, start, layout.bytes, layout.format)
  writeFields(layout, value, octets, start)
  return start + layout.bytes
}
