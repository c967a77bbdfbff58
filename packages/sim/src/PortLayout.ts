import type { Time } from "@rdmakit/protocol"
import type { Network } from "./Network.ts"
import * as P from "./PortTable.ts"

/**
 * Where the tables begin in their buffer, bytes: allocators put a header of 16 bytes in front of a large block, which
 * starts at a page. Elsewhere lines are halved, and nothing else changes. (Not a `lineBuffer`: an ordinary one often lies
 * where its addresses fit into an instruction; see ADR 0007.)
 */
const LINE_OFFSET = 48

/**
 * The tables of a network's ports as they are before the first event, and the serialization time of every size at every rate:
 * `txTable[ports[base + TX_BASE] + bytes]`.
 */
export function layOutPorts(
  network: Network,
  wireBytesMax: number,
  serializationPs: (bytes: number, rateBps: number) => Time,
) {
  const count = network.ports
  const words = [count << P.PORT_SHIFT, count << P.POLICY_SHIFT, count << P.QUEUES_SHIFT] as const
  const buffer = new ArrayBuffer(LINE_OFFSET + 4 * (words[0] + words[1] + words[2]))
  const ports = new Int32Array(buffer, LINE_OFFSET, words[0])
  const portF64 = new Float64Array(buffer, LINE_OFFSET, words[0] >> 1)
  const policyWords = new Int32Array(buffer, LINE_OFFSET + 4 * words[0], words[1]).fill(-1)
  const queueWords = new Int32Array(buffer, LINE_OFFSET + 4 * (words[0] + words[1]), words[2])
  const rates = [...new Set(network.rateBps)]
  const stride = wireBytesMax + 1
  const txTable = new Float64Array(stride * rates.length)
  rates.forEach((rate, r) => {
    for (let bytes = 0; bytes < stride; bytes++) txTable[r * stride + bytes] = serializationPs(bytes, rate)
  })
  /** Node of each port; of a host's port, the complement: negative. */
  const nodeOf = network.portNode.map((node) => (network.isSwitch[node] === 1 ? node : ~node))
  for (let port = 0; port < count; port++) {
    const base = port << P.PORT_SHIFT
    ports[base + P.LINK_HEAD] = -1
    ports[base + P.BUSY_ORDER] = port
    ports[base + P.LEAVE] = P.Leave.Nothing
    ports[base + P.TX_BASE] = stride * rates.indexOf(network.rateBps[port]!)
    ports[base + P.PEER] = nodeOf[port ^ 1]!
    portF64[(base >> 1) + P.DELAY_F64] = network.delayPs[port]!
  }
  return { ports, portF64, policyWords, queueWords, txTable, nodeOf }
}
