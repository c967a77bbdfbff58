import { FormatError } from "./FormatError.ts"

/** A buffer of rping's, as a SEND tells the peer of it (struct rping_rdma_info of librdmacm/examples/rping.c). */
export interface RpingBuffer {
  /** 64 bits. */
  readonly address: bigint
  /** 32 bits. */
  readonly rkey: number
  /** Bytes, 32 bits. */
  readonly bytes: number
}

export const RPING_BYTES = 16

export const emitRping = ({ address, rkey, bytes }: RpingBuffer): Uint8Array => {
  const octets = new Uint8Array(RPING_BYTES)
  const view = new DataView(octets.buffer)
  view.setBigUint64(0, address)
  view.setUint32(8, rkey)
  view.setUint32(12, bytes)
  return octets
}

/** @throws FormatError when there are not 16 octets */
export const parseRping = (octets: Uint8Array): RpingBuffer => {
  if (octets.length !== RPING_BYTES) {
    const found = `${octets.length} octets`
    throw new FormatError({ format: "rping buffer", field: "length", found, expected: `${RPING_BYTES}` })
  }
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength)
  return { address: view.getBigUint64(0), rkey: view.getUint32(8), bytes: view.getUint32(12) }
}
