// What a peer may do with a key: a device alone, with a stand-in for the world and for the transport.
import { Device } from "@rdmakit/device"
import { Access, MemoryFault, type VerbsTransport, type World } from "@rdmakit/protocol"

/** A port that leads nowhere. */
const world: World = {
  now: 0,
  gids: [],
  link: { lineRateBps: 100e9, mtuBytes: 4096, up: true },
  attach: () => {},
  resolve: () => undefined,
  kick: () => {},
  detach: () => {},
  joinGroup: () => {},
  leaveGroup: () => {},
}
const transport: VerbsTransport = {
  makeEngine: () => {
    throw new Error("no queue pairs here")
  },
}

const device = new Device(world, transport, { seed: 1 })
const pd = device.allocPd()
const memory = device.allocate(8192)
const region = pd.regMr({
  address: memory.address,
  length: 4096,
  access: Access.LocalWrite | Access.RemoteWrite,
})

/** What the transport does when a WRITE arrives at queue pair 17. */
const arrives = (address: number, octets: Uint8Array): MemoryFault =>
  device.memory.write({ domain: pd.number, qpn: 17 }, region.rkey, true, address, octets, 0, octets.length)

const words = { [MemoryFault.None]: "written", [MemoryFault.Bounds]: "out of bounds", [MemoryFault.Key]: "no such key" }
const say = (fault: MemoryFault): string => (words as Record<number, string>)[fault] ?? "refused"

/** Inside; across the end; after the region is gone: written, out of bounds, no such key */
export const said = [
  say(arrives(region.iova, Uint8Array.of(1, 2, 3))),
  say(arrives(region.iova + 4095, Uint8Array.of(1, 2))),
]
region.dereg()
said.push(say(arrives(memory.address, Uint8Array.of(1))))
