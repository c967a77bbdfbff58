import type { CmPath } from "@rdmakit/wire/cm"

/** Where datagrams of communication management go: always to queue pair 1, the queue key of `GSI_QUEUE_KEY`. */
export interface CmAddress {
  /** 16 octets each; IPv4 mapped (RFC 4291 §2.5.5.2). */
  readonly localGid: Uint8Array
  readonly remoteGid: Uint8Array
  /** 20 bits. */
  readonly flowLabel: number
  readonly trafficClass: number
  readonly hopLimit: number
  /** 0 to 15. */
  readonly serviceLevel: number
}

/** A path of a connection, as this side sees it. */
export interface CmRoute extends CmAddress {
  /** Code of the rate, 6 bits (IBTA vol. 1, ch. 15, path records); 0, as Linux says of RoCE, for unknown. */
  readonly rate: number
  readonly partition: number
  /** 256 to 4,096. */
  readonly mtuBytes: number
  /** Code, 4.096 µs · 2^n, 0 to 30. */
  readonly packetLifetime: number
}

/** Every LID of RoCE (IBTA 1.7 annex A17). */
const PERMISSIVE_LID = 0xffff

export const mtuBytesOf = (code: number): number => 128 << code
/** 1 to 5; 0 for what is no MTU. */
export const mtuCodeOf = (bytes: number): number => [256, 512, 1024, 2048, 4096].indexOf(bytes) + 1

export const pathOf = (route: CmRoute, ackTimeout: number): CmPath => ({
  localLid: PERMISSIVE_LID,
  remoteLid: PERMISSIVE_LID,
  localGid: route.localGid,
  remoteGid: route.remoteGid,
  flowLabel: route.flowLabel,
  rate: route.rate,
  trafficClass: route.trafficClass,
  hopLimit: route.hopLimit,
  serviceLevel: route.serviceLevel,
  subnetLocal: false,
  ackTimeout,
  suggestions: false,
})

/** The path of a request, seen from the other end. */
export const routeOf = (path: CmPath, partition: number, mtuCode: number): CmRoute => ({
  localGid: path.remoteGid,
  remoteGid: path.localGid,
  flowLabel: path.flowLabel,
  trafficClass: path.trafficClass,
  hopLimit: path.hopLimit,
  serviceLevel: path.serviceLevel,
  rate: path.rate,
  partition,
  mtuBytes: mtuBytesOf(mtuCode),
  packetLifetime: Math.max(0, path.ackTimeout - 1),
})
