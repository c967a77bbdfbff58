import { Cm, type CmRoute } from "@rdmakit/cm"
import { serviceIdOf } from "@rdmakit/wire/cm"

const gid = (last: number) => Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last)
const path = { flowLabel: 0, trafficClass: 0, hopLimit: 64, serviceLevel: 0 }
const toServer = { ...path, localGid: gid(1), remoteGid: gid(2) }
const toClient = { ...path, localGid: gid(2), remoteGid: gid(1) }
const route: CmRoute = { ...toServer, rate: 0, partition: 0xffff, mtuBytes: 1024, packetLifetime: 18 }

const client = new Cm({ caGuid: 1n, seed: 1 })
const server = new Cm({ caGuid: 2n, seed: 2 })

// A network without loss or delay: each end is handed what the other has to send.
const carry = () => {
  for (let sent = client.pollTransmit(); sent; sent = client.pollTransmit()) server.handleMad(0, sent.octets, toClient)
  for (let sent = server.pollTransmit(); sent; sent = server.pollTransmit()) client.handleMad(0, sent.octets, toServer)
}

const depths = { responderResources: 1, initiatorDepth: 1, rnrRetries: 7 }
const serviceId = serviceIdOf(6, 7174)
server.command(0, { type: "listen", serviceId })
client.command(0, {
  type: "connect",
  serviceId,
  route,
  transport: "rc",
  qpn: 17,
  psn: 1_000,
  retries: 7,
  ip: { version: 4, sourcePort: 50_000, source: 0x0a000001, destination: 0x0a000002 },
  ...depths,
})
carry()

export const request = server.pollEvent()
if (request?.type === "request") server.command(0, { type: "accept", id: request.id, qpn: 18, psn: 2_000, ...depths })
carry()

export const reply = client.pollEvent()
if (reply?.type === "reply") client.command(0, { type: "ready", id: reply.id })
carry()

export const established = server.pollEvent()
// What the client's queue pair is brought up with.
export const settings = reply && client.settings(reply.id)
