import type { DeviceLimits } from "./DeviceAttributes.ts"

/**
 * Those of an eRDMA device, as its driver has them (Linux, drivers/infiniband/hw/erdma, and Alibaba's driver outside the
 * kernel): queues of 8,192, sends of six elements, receives and READs of one, 96 octets inline, 128 READs outstanding, no
 * shared receive queues, windows or multicast. What the driver asks its device for is not public in numbers; of these there
 * are as many as of rxe: queue pairs, completion queues, regions, their sizes.
 *
 * Address handles are of its compatibility mode, whose datagrams are software.
 */
export const erdmaLimits: Partial<DeviceLimits> = {
  maxQpWr: 8192,
  maxSge: 6,
  maxRecvSge: 1,
  maxReadSge: 1,
  maxMw: 0,
  maxPd: 128 * 1024,
  maxQpRdAtom: 128,
  maxQpInitRdAtom: 128,
  maxMulticastGroups: 0,
  maxMulticastQpAttach: 0,
  maxTotalMulticastQpAttach: 0,
  maxSrq: 0,
  maxSrqWr: 0,
  maxSrqSge: 0,
  maxInlineBytes: 96,
}
