import { NEVER, type Time } from "@rdmakit/protocol"
import { LinkRings } from "./LinkRings.ts"
import type { Network } from "./Network.ts"
import * as P from "./PortTable.ts"

/**
 * The port table of a network as it is before the first event, and the serialization time of every size at every rate:
 * `txTable[txBase[port] + bytes]`.
 */
export function layOutPorts(
  network: Network,
  wireBytesMax: number,
  serializationPs: (bytes: number, rateBps: number) => Time,
) {
  const buffer = new ArrayBuffer((network.ports << P.PORT_SHIFT) * 4)
  const ports = new Int32Array(buffer)
  const portF64 = new Float64Array(buffer)
  const rates = [...new Set(network.rateBps)]
  const stride = wireBytesMax + 1
  const txTable = new Float64Array(stride * rates.length)
  rates.forEach((rate, r) => {
    for (let bytes = 0; bytes < stride; bytes++) txTable[r * stride + bytes] = serializationPs(bytes, rate)
  })
  const txBase = Int32Array.from(network.rateBps, (rate) => stride * rates.indexOf(rate))
  for (let port = 0; port < network.ports; port++) {
    const base = port << P.PORT_SHIFT
    const f = port << (P.PORT_SHIFT - 1)
    const { start, mask } = LinkRings.first(port)
    ports[base + P.RING_START] = start
    ports[base + P.RING_MASK] = mask
    portF64[f + P.DELAY_F64] = network.delayPs[port]!
    portF64[f + P.WAKE_TIME_F64] = NEVER
    portF64[f + P.LOSS_F64] = network.lossRate[port]!
  }
  return { ports, portF64, txTable, txBase }
}
