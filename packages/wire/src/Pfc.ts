import { layout } from "./Layout.ts"
import { EmitError, put16, space, u16, uint } from "./Octets.ts"
import { failed, type Parse, parsed, shortage, type WireError, wrong } from "./Result.ts"

/** MAC control: PAUSE (IEEE 802.3 Annex 31B) and priority-based flow control (Annex 31D). */
export type Pfc =
  /** A quantum is 512 bit times at the rate of the link; 0 resumes. */
  | { readonly kind: "pause"; readonly quanta: number }
  /** For each of the eight priorities its quanta; undefined where the class is not enabled and nothing changes. */
  | { readonly kind: "pfc"; readonly quanta: ReadonlyArray<number | undefined> }

/** Where both are sent: never forwarded by a bridge, and never tagged. */
export const PFC_MAC = 0x0180_c200_0001

const PAUSE_OPCODE = 0x0001
const PFC_OPCODE = 0x0101
const PRIORITIES = 8

export const PAUSE = /* @__PURE__ */ layout("pfc", "opcode:16 quanta:16")
export const PFC = /* @__PURE__ */ layout(
  "pfc",
  "opcode:16 _:8 enabled:8 quanta0:16 quanta1:16 quanta2:16 quanta3:16 quanta4:16 quanta5:16 quanta6:16 quanta7:16",
)

export const pfcBytes = (value: Pfc): number => (value.kind === "pause" ? 4 : 4 + 2 * PRIORITIES)

/**
 * Reads what follows EtherType 0x8808; the rest of the frame is padding. Quanta of a class that is not enabled, and the
 * upper octet of the vector of classes, are ignored: a fault when they are not 0.
 */
export const parsePfc = (octets: Uint8Array, start = 0, end = octets.length): Parse<Pfc> => {
  const short = shortage("pfc", octets, start, end, 4)
  if (short !== undefined) return short
  const opcode = u16(octets, start)
  if (opcode === PAUSE_OPCODE) {
    return parsed<Pfc>({ kind: "pause", quanta: u16(octets, start + 2) }, start + 4, start + 4)
  }
  if (opcode !== PFC_OPCODE) return failed("unsupported", "pfc", "opcode", start, opcode, "0x0001 or 0x0101")
  const bytes = 4 + 2 * PRIORITIES
  const cut = shortage("pfc", octets, start, end, bytes)
  if (cut !== undefined) return cut
  const faults: Array<WireError> = []
  const enabled = u16(octets, start + 2)
  if (enabled > 0xff) faults.push(wrong("ignored", "pfc", "reserved", start + 2, enabled >> 8, "0"))
  const quanta: Array<number | undefined> = []
  for (let priority = 0; priority < PRIORITIES; priority++) {
    const at = start + 4 + 2 * priority
    const found = u16(octets, at)
    const counts = ((enabled >> priority) & 1) === 1
    if (!counts && found !== 0) faults.push(wrong("ignored", "pfc", `quanta${priority}`, at, found, "0"))
    quanta.push(counts ? found : undefined)
  }
  return parsed<Pfc>({ kind: "pfc", quanta }, start + bytes, start + bytes, faults)
}

export const emitPfc = (value: Pfc, octets: Uint8Array, start = 0): number => {
  const bytes = pfcBytes(value)
  space(octets, start, bytes, "pfc")
  if (value.kind === "pause") {
    put16(octets, start, PAUSE_OPCODE)
    put16(octets, start + 2, uint(value.quanta, 16, "pfc", "quanta"))
    return start + bytes
  }
  if (value.quanta.length !== PRIORITIES) throw new EmitError("pfc", "quanta", value.quanta.length, "8 entries")
  let enabled = 0
  put16(octets, start, PFC_OPCODE)
  value.quanta.forEach((quanta, priority) => {
    if (quanta !== undefined) enabled |= 1 << priority
    put16(octets, start + 4 + 2 * priority, uint(quanta ?? 0, 16, "pfc", "quanta"))
  })
  put16(octets, start + 2, enabled)
  return start + bytes
}
