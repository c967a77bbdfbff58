import type { FieldsOf } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { emitPlain, parsePlain } from "../Plain.ts"
import type { Parse } from "../Result.ts"

const TEXT = "index:16 _:16 qp:32 _:32 _:32 address:64 bytes:32 stag:32"

/** A receive queue entry of eRDMA, 32 octets, little-endian (erdma_hw.h, `erdma_rqe`): one buffer. */
export type ErdmaReceive = FieldsOf<typeof TEXT>

export const ERDMA_RECEIVE_BYTES = 32
export const ERDMA_RECEIVE = /* @__PURE__ */ littleLayout("erdmaReceive", TEXT)

export const parseErdmaReceive = (octets: Uint8Array, start = 0, end = octets.length): Parse<ErdmaReceive> =>
  parsePlain(ERDMA_RECEIVE, octets, start, end)

export const emitErdmaReceive = (value: ErdmaReceive, octets: Uint8Array, start = 0): number =>
  emitPlain(ERDMA_RECEIVE, value, octets, start)
