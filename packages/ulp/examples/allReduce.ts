import { AtomicDatatype, AtomicOperation, MemoryTable, RdmEndpoint } from "@rdmakit/ulp"
import { CollectiveRun, ringAllReduce } from "@rdmakit/ulp/collectives"

const RANKS = 4
const ELEMENTS = 1000

const endpoints = Array.from(
  { length: RANKS },
  (_, rank) =>
    new RdmEndpoint({
      address: { gid: new Uint8Array(16), qpn: rank, connid: 1000 + rank },
      mtuBytes: 8192,
      memory: new MemoryTable(),
    }),
)
const vectors = endpoints.map((_, rank) => new Float64Array(ELEMENTS).fill(rank + 1))
const runs = endpoints.map(
  (endpoint, rank) =>
    new CollectiveRun(endpoint, {
      program: ringAllReduce({ rank, ranks: RANKS, elements: ELEMENTS, elementBytes: 8 }),
      data: new Uint8Array(vectors[rank]!.buffer),
      peers: endpoints.map((_, peer) => peer),
      firstContext: 0,
      channel: 1,
      reduction: { datatype: AtomicDatatype.Double, operation: AtomicOperation.Sum },
    }),
)

/** Hands packets from one to the other until every rank has done its part. */
while (!runs.every(({ done }) => done))
  for (const [rank, endpoint] of endpoints.entries()) {
    for (let request = endpoint.pollTransmit(); request !== undefined; request = endpoint.pollTransmit()) {
      endpoints[request.peer]!.handlePacket(rank, request.packet.slice(0, request.bytes))
      endpoint.handleCompletion(request.token, "done")
    }
    for (let event = endpoint.pollEvent(); event !== undefined; event = endpoint.pollEvent())
      runs[rank]!.handleEvent(event)
  }

/** 1 + 2 + 3 + 4, everywhere. */
export const sums = vectors.map((vector) => new Set(vector))
