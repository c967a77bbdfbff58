import { Layout } from "@rdmakit/packet"
import { i32, put32 } from "./Octets.ts"
import { Header } from "./VerbsOpcode.ts"

const { EXT } = Layout

/** Writes the headers of the opcode from the extension record at `x`, in the order of IBTA 1.7 §9.2, table 38. */
export const putHeaders = (
  word: number,
  extension: Int32Array,
  x: number,
  octets: Uint8Array,
  headers: number,
): void => {
  let at = headers
  if ((word & Header.Deth) !== 0) {
    put32(octets, at, extension[x + EXT.queueKey]!)
    put32(octets, at + 4, extension[x + EXT.sourceQp]! & 0xff_ffff)
    at += 8
  }
  if ((word & Header.Xrceth) !== 0) {
    put32(octets, at, extension[x + EXT.receiveQueue]! & 0xff_ffff)
    at += 4
  }
  if ((word & (Header.Reth | Header.AtomicEth)) !== 0) {
    put32(octets, at, extension[x + EXT.remoteAddress]!)
    put32(octets, at + 4, extension[x + EXT.remoteAddress + 1]!)
    put32(octets, at + 8, extension[x + EXT.remoteKey]!)
    at += 12
  }
  if ((word & Header.Reth) !== 0) {
    put32(octets, at, extension[x + EXT.dmaLength]!)
    at += 4
  }
  if ((word & Header.AtomicEth) !== 0) {
    for (let index = 0; index < 2; index++) {
      put32(octets, at + 4 * index, extension[x + EXT.swapAdd + index]!)
      put32(octets, at + 8 + 4 * index, extension[x + EXT.compare + index]!)
    }
    at += 16
  }
  if ((word & Header.Aeth) !== 0) {
    put32(octets, at, extension[x + EXT.aeth]!)
    at += 4
  }
  if ((word & Header.AtomicAckEth) !== 0) {
    put32(octets, at, extension[x + EXT.compare]!)
    put32(octets, at + 4, extension[x + EXT.compare + 1]!)
    at += 8
  }
  if ((word & Header.Immediate) !== 0) put32(octets, at, extension[x + EXT.immediate]!)
  if ((word & Header.Cnp) !== 0) octets.fill(0, at, at + 16)
}

/** The same, read into an extension record whose words are 0. */
export const takeHeaders = (
  word: number,
  extension: Int32Array,
  x: number,
  octets: Uint8Array,
  headers: number,
): void => {
  let at = headers
  if ((word & Header.Deth) !== 0) {
    extension[x + EXT.queueKey] = i32(octets, at)
    extension[x + EXT.sourceQp] = i32(octets, at + 4) & 0xff_ffff
    at += 8
  }
  if ((word & Header.Xrceth) !== 0) {
    extension[x + EXT.receiveQueue] = i32(octets, at) & 0xff_ffff
    at += 4
  }
  if ((word & (Header.Reth | Header.AtomicEth)) !== 0) {
    extension[x + EXT.remoteAddress] = i32(octets, at)
    extension[x + EXT.remoteAddress + 1] = i32(octets, at + 4)
    extension[x + EXT.remoteKey] = i32(octets, at + 8)
    at += 12
  }
  if ((word & Header.Reth) !== 0) {
    extension[x + EXT.dmaLength] = i32(octets, at)
    at += 4
  }
  if ((word & Header.AtomicEth) !== 0) {
    for (let index = 0; index < 2; index++) {
      extension[x + EXT.swapAdd + index] = i32(octets, at + 4 * index)
      extension[x + EXT.compare + index] = i32(octets, at + 8 + 4 * index)
    }
    at += 16
  }
  if ((word & Header.Aeth) !== 0) {
    extension[x + EXT.aeth] = i32(octets, at)
    at += 4
  }
  if ((word & Header.AtomicAckEth) !== 0) {
    extension[x + EXT.compare] = i32(octets, at)
    extension[x + EXT.compare + 1] = i32(octets, at + 4)
    at += 8
  }
  if ((word & Header.Immediate) !== 0) extension[x + EXT.immediate] = i32(octets, at)
}
