import type { DeviceLimits } from "./DeviceAttributes.ts"

/**
 * Those of an EFA device (rdma-core, providers/efa/efa_io_defs.h: EFA_IO_TX_DESC_NUM_BUFS, _NUM_RDMA_BUFS and
 * _INLINE_MAX_SIZE): sends of two elements, READs of one, 32 octets inline, and neither shared receive queues nor windows,
 * multicast or atomics. What the driver asks its device for is not public in numbers: 4,096 requests in a queue, receives
 * of two elements and RDMA of 1 GiB are a model's, and of queue pairs, completion queues and regions there are as many as
 * of rxe. A SEND is a packet, so the port's MTU bounds it.
 */
export const efaLimits: Partial<DeviceLimits> = {
  maxQpWr: 4096,
  maxSge: 2,
  maxRecvSge: 2,
  maxReadSge: 1,
  maxMw: 0,
  maxQpRdAtom: 0,
  maxQpInitRdAtom: 0,
  maxMulticastGroups: 0,
  maxMulticastQpAttach: 0,
  maxTotalMulticastQpAttach: 0,
  maxSrq: 0,
  maxSrqWr: 0,
  maxSrqSge: 0,
  maxInlineBytes: 32,
  maxMessageBytes: 2 ** 30,
}
