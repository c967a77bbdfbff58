/** Bits of a handshake's `extraInfo[0]`: what an endpoint can do, and what it asks for (table 2.1). */
export const EfaRdmFeature = {
  RdmaRead: 1n << 0n,
  DeliveryComplete: 1n << 1n,
  /** A request: headers of one length. Deprecated since libfabric 1.22. */
  ConstantHeaderLength: 1n << 2n,
  /** A request: `connid` in every packet. */
  ConnidHeader: 1n << 3n,
  RuntRead: 1n << 4n,
  RdmaWrite: 1n << 5n,
  ReadNack: 1n << 6n,
  /** Not offered since libfabric 2.6. */
  UserReceiveQp: 1n << 7n,
  UnsolicitedWriteReceive: 1n << 8n,
} as const
