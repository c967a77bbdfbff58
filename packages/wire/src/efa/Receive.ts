import type { FieldsOf } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { emitPlain, parsePlain } from "../Plain.ts"
import type { Parse } from "../Result.ts"

const TEXT = "address:64 requestId:16 bytes:16 localKey:24 _:6 first:1 last:1"

/**
 * One buffer of a receive work-queue entry, 16 octets (efa_io_defs.h, `efa_io_rx_desc`): `first` and `last` say where
 * the entry begins and ends.
 */
export type EfaReceive = FieldsOf<typeof TEXT>

export const EFA_RECEIVE_BYTES = 16
export const EFA_RECEIVE = /* @__PURE__ */ littleLayout("efaReceive", TEXT)

export const parseEfaReceive = (octets: Uint8Array, start = 0, end = octets.length): Parse<EfaReceive> =>
  parsePlain(EFA_RECEIVE, octets, start, end)

export const emitEfaReceive = (value: EfaReceive, octets: Uint8Array, start = 0): number =>
  emitPlain(EFA_RECEIVE, value, octets, start)
