import { MemoryTable, RdmEndpoint } from "@rdmakit/ulp"

/** Two endpoints, and between them a service that turns around what it is given: the last packet arrives first. */
const endpoint = (number: number) =>
  new RdmEndpoint({
    address: { gid: new Uint8Array(16), qpn: number, connid: 1000 + number },
    mtuBytes: 8192,
    memory: new MemoryTable(),
  })
const endpoints = [endpoint(0), endpoint(1)] as const

const exchange = (): void => {
  for (;;) {
    const arrivals: Array<() => void> = []
    for (const [from, sender] of endpoints.entries())
      for (let request = sender.pollTransmit(); request !== undefined; request = sender.pollTransmit()) {
        const { token, peer, packet, bytes } = request
        const octets = packet.slice(0, bytes)
        arrivals.unshift(() => {
          endpoints[peer as 0 | 1].handlePacket(from, octets)
          sender.handleCompletion(token, "done")
        })
      }
    if (arrivals.length === 0) return
    for (const arrive of arrivals) arrive()
  }
}

const [sender, receiver] = endpoints
receiver.receive(new Uint8Array(1_048_576), 1)
receiver.receive(new Uint8Array(8), 2)
sender.send(1, new Uint8Array(1_048_576), 1)
sender.send(1, new Uint8Array(8), 2)
exchange()

/** The long message was sent first, so it ends first, though the other one was there long before. */
export const received: Array<number> = []
for (let event = receiver.pollEvent(); event !== undefined; event = receiver.pollEvent())
  if (event.type === "completed") received.push(event.bytes)

export const { reordered } = receiver.counters
