import { DeviceError } from "./DeviceError.ts"

/** How much of everything a device has (struct ibv_device_attr). */
export interface DeviceLimits {
  /** Bytes of one region. */
  readonly maxMrBytes: number
  /** Bytes of all allocations in the device's address space together. */
  readonly maxMemoryBytes: number
  readonly maxQp: number
  /** Work requests of one queue. */
  readonly maxQpWr: number
  readonly maxSge: number
  /** Elements of a receive, and of a READ; never more than `maxSge`. */
  readonly maxRecvSge: number
  readonly maxReadSge: number
  readonly maxCq: number
  /** Completions that one queue may hold. */
  readonly maxCqe: number
  readonly maxMr: number
  readonly maxMw: number
  readonly maxPd: number
  /** READs and atomics of a peer that may be outstanding at one queue pair. */
  readonly maxQpRdAtom: number
  /** READs and atomics that one queue pair may have outstanding at its peer. */
  readonly maxQpInitRdAtom: number
  readonly maxMulticastGroups: number
  /** Queue pairs of one group, and of all. */
  readonly maxMulticastQpAttach: number
  readonly maxTotalMulticastQpAttach: number
  readonly maxAh: number
  readonly maxSrq: number
  readonly maxSrqWr: number
  readonly maxSrqSge: number
  /** Bytes of an inline send. */
  readonly maxInlineBytes: number
  /** Bytes of one message. */
  readonly maxMessageBytes: number
}

/** Those of rdma_rxe (Linux, rxe_param.h), but for memory, which there is the machine's. */
export const rxeLimits: DeviceLimits = {
  maxMrBytes: 2 ** 40,
  maxMemoryBytes: 2 ** 36,
  maxQp: 1 << 20,
  maxQpWr: 1 << 20,
  maxSge: 32,
  maxRecvSge: 32,
  maxReadSge: 32,
  maxCq: 1 << 20,
  maxCqe: (1 << 15) - 1,
  maxMr: 1 << 20,
  maxMw: 1 << 12,
  maxPd: 1 << 20,
  maxQpRdAtom: 128,
  maxQpInitRdAtom: 128,
  maxMulticastGroups: 8192,
  maxMulticastQpAttach: 56,
  maxTotalMulticastQpAttach: 0x70000,
  maxAh: 1 << 20,
  maxSrq: 1 << 20,
  maxSrqWr: 1 << 20,
  maxSrqSge: 27,
  maxInlineBytes: 512,
  maxMessageBytes: 2 ** 31,
}

/** What a device says of itself. */
export interface DeviceAttributes {
  readonly name: string
  /** EUI-64. */
  readonly nodeGuid: bigint
  /** What `atomic_cap` says: atomics are atomic among the queue pairs of one device. */
  readonly atomics: "hca"
  readonly pageBytes: number
  readonly ports: number
  readonly limits: DeviceLimits
}

/** What a port says of itself (struct ibv_port_attr). */
export interface PortAttributes {
  readonly state: "active" | "down"
  readonly linkLayer: "ethernet"
  readonly maxMtuBytes: number
  readonly activeMtuBytes: number
  readonly lineRateBps: number
  readonly maxMessageBytes: number
  readonly gids: number
  /** Partition keys, of which there is one: 0xffff. */
  readonly partitionKeys: number
}

/** Limits with a program's own in place of some of rxe's. @throws DeviceError EINVAL */
export const limitsOf = (some: Partial<DeviceLimits>): DeviceLimits => {
  for (const [name, value] of Object.entries(some)) {
    if (Number.isSafeInteger(value) && value >= 0) continue
    throw new DeviceError(
      "EINVAL",
      "open_device",
      `limits.${name}`,
      `${value} is no count`,
      "give a whole number from 0 on",
    )
  }
  return { ...rxeLimits, ...some }
}
