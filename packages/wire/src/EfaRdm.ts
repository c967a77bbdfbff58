// The protocol that libfabric's provider speaks over EFA's queue pairs (prov/efa/docs/efa_rdm_protocol_v4.md, and
// efa_rdm_protocol.h where the document is loose). Hosts write their memory as it lies: every number is little-endian.
export * from "./efaRdm/Address.ts"
export { efaRdmBytes, emitEfaRdm, parseEfaRdm } from "./efaRdm/Codec.ts"
export * from "./efaRdm/Features.ts"
export type * from "./efaRdm/Packet.ts"
