import type { FieldsOf } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { emitPlain, parsePlain } from "../Plain.ts"
import type { Parse } from "../Result.ts"

/**
 * The raw address of an endpoint (table 1.5): a GID of 16 octets, a queue pair, and a random number that tells it from
 * one that had the same queue pair before. In requests it lies in a header with a length (`rawAddress`); libfabric gives
 * it 4 octets of padding more, so that what follows lies at a multiple of 8.
 */
export interface EfaRdmAddress {
  readonly gid: Uint8Array
  readonly qpn: number
  readonly connid: number
}

const FORMAT = "efaRdmAddress"
const TEXT = "gid:16B qpn:16 _:16 connid:32 _:64"
export const EFA_RDM_ADDRESS_BYTES = 32
export const EFA_RDM_ADDRESS = /* @__PURE__ */ littleLayout(FORMAT, TEXT)

export const parseEfaRdmAddress = (octets: Uint8Array, start = 0, end = octets.length): Parse<EfaRdmAddress> =>
  parsePlain(EFA_RDM_ADDRESS, octets, start, end)

export const emitEfaRdmAddress = (value: EfaRdmAddress, octets: Uint8Array, start = 0): number =>
  emitPlain(EFA_RDM_ADDRESS, value as FieldsOf<typeof TEXT>, octets, start)
