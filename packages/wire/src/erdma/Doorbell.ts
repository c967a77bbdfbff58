import type { FieldsOf } from "../Layout.ts"
import { littleLayout } from "../LittleLayout.ts"
import { emitPlain, parsePlain } from "../Plain.ts"
import type { Parse } from "../Result.ts"

/*
 * What a host writes to the doorbells of an eRDMA device, eight octets each, little-endian as x86 and Arm write them
 * (Linux drivers/infiniband/hw/erdma/erdma_hw.h).
 */

const SEND = "index:16 _:16 qp:20 _:12"
/** Of a send queue: the next free block of 32 octets in its ring. */
export type ErdmaSendDoorbell = FieldsOf<typeof SEND>
export const ERDMA_SEND_DOORBELL = /* @__PURE__ */ littleLayout("erdmaSendDoorbell", SEND)
export const parseErdmaSendDoorbell = (octets: Uint8Array, start = 0, end = octets.length): Parse<ErdmaSendDoorbell> =>
  parsePlain(ERDMA_SEND_DOORBELL, octets, start, end)
export const emitErdmaSendDoorbell = (value: ErdmaSendDoorbell, octets: Uint8Array, start = 0): number =>
  emitPlain(ERDMA_SEND_DOORBELL, value, octets, start)

const COMPLETION = "consumer:24 _:4 armSequence:2 solicited:1 arm:1 queue:24 index:8"
/** Of a completion queue: what was consumed, and whether to raise an event at the next entry, or solicited one. */
export type ErdmaCompletionDoorbell = FieldsOf<typeof COMPLETION>
export const ERDMA_COMPLETION_DOORBELL = /* @__PURE__ */ littleLayout("erdmaCompletionDoorbell", COMPLETION)
export const parseErdmaCompletionDoorbell = (
  octets: Uint8Array,
  start = 0,
  end = octets.length,
): Parse<ErdmaCompletionDoorbell> => parsePlain(ERDMA_COMPLETION_DOORBELL, octets, start, end)
export const emitErdmaCompletionDoorbell = (value: ErdmaCompletionDoorbell, octets: Uint8Array, start = 0): number =>
  emitPlain(ERDMA_COMPLETION_DOORBELL, value, octets, start)

const EVENT = "consumer:24 _:7 arm:1 _:32"
/** Of an event queue. */
export type ErdmaEventDoorbell = FieldsOf<typeof EVENT>
export const ERDMA_EVENT_DOORBELL = /* @__PURE__ */ littleLayout("erdmaEventDoorbell", EVENT)
export const parseErdmaEventDoorbell = (
  octets: Uint8Array,
  start = 0,
  end = octets.length,
): Parse<ErdmaEventDoorbell> => parsePlain(ERDMA_EVENT_DOORBELL, octets, start, end)
export const emitErdmaEventDoorbell = (value: ErdmaEventDoorbell, octets: Uint8Array, start = 0): number =>
  emitPlain(ERDMA_EVENT_DOORBELL, value, octets, start)
