import { Cm } from "@rdmakit/cm"
import { type Device, GSI_QPN, GSI_QUEUE_KEY } from "@rdmakit/device"
import { Access, QpState, WrOpcode } from "@rdmakit/protocol"
import { Random } from "@rdmakit/units"
import { Effect, Fiber } from "effect"
import { expect, it, vi } from "vitest"
import { vectorOf } from "../src/AddressHandle.ts"
import { managed } from "./cmEnds.ts"
import { Loopback } from "./Loopback.ts"
import { resultOf } from "./program.ts"

const ROUNDS = 2_000

/** Octets of any kind, every other time with the head of a message of communication management. */
const anything = (seed: number) => {
  const random = new Random(seed)
  return (octets: Uint8Array, round: number): number => {
    for (let at = 0; at < 256; at++) octets[at] = random.bits()
    if (round % 2 === 0) octets.set([1, 7, 2, 3])
    if (round % 4 === 0) octets.set([0, 0x10 + (random.bits() % 10)], 16)
    return round % 3 === 0 ? random.bits() % 1500 : 256
  }
}

/** Sends whatever it likes to queue pair 1 of 10.0.0.2, from a queue pair 1 of its own. @param fill gives the length */
const attack = (device: Device, fill: (octets: Uint8Array, round: number) => number) =>
  Effect.gen(function* () {
    const memory = device.allocate(4096)
    const pd = device.allocPd()
    const region = pd.regMr({ address: memory.address, length: 4096, access: Access.LocalWrite })
    const cq = device.createCq(4096)
    const capabilities = { maxSendWr: 64, maxRecvWr: 1, maxSendSge: 1, maxRecvSge: 1, maxInlineBytes: 0 }
    const qp = pd.createQp({ type: "gsi", sendCq: cq, recvCq: cq, capabilities })
    qp.modify({ state: QpState.Init, pkeyIndex: 0, queueKey: GSI_QUEUE_KEY })
    qp.modify({ state: QpState.Rtr })
    qp.modify({ state: QpState.Rts, sendPsn: 0 })
    const address = pd.createAh(vectorOf({ gid: "10.0.0.2" }, device.gids))
    for (let round = 0; round < ROUNDS; round++) {
      const length = fill(memory.octets, round)
      qp.postSend({
        id: round,
        opcode: WrOpcode.Send,
        signaled: true,
        sges: [{ address: memory.address, length, lkey: region.lkey }],
        datagram: { address, qpn: GSI_QPN, queueKey: GSI_QUEUE_KEY },
      })
      yield* Effect.sleep("1 micros")
      cq.pollOne()
    }
    address.destroy()
    qp.destroy()
    cq.destroy()
    region.dereg()
    pd.dealloc()
    device.release(memory)
  })

it("a flood of octets of any kind and length leaves queue pair 1 as it was: connections come about as before", () => {
  const network = new Loopback({ devices: 3 })
  const established = resultOf(
    Effect.gen(function* () {
      const left = yield* managed(0)
      const right = yield* managed(1)
      const listener = yield* right.manager.listen({ port: 7174 })
      yield* attack(network.devices[2]!, anything(1))
      const accepted = yield* Effect.forkScoped(
        Effect.flatMap(listener.next, (request) => request.accept({ queuePair: right.qp })),
      )
      const resolved = yield* left.manager.resolve("10.0.0.2", { port: 7174 })
      const client = yield* left.manager.connect(resolved, { queuePair: left.qp })
      return [client.isEstablished, (yield* Fiber.join(accepted)).isEstablished]
    }),
    { network },
  )
  expect(established).toEqual([true, true])
  expect(network.sent).toBeGreaterThan(ROUNDS)
})

it("a datagram that says nothing makes no path to its sender", () => {
  const network = new Loopback({ devices: 3 })
  const resolve = vi.spyOn(network.worlds[1]!, "resolve")
  const handleMad = vi.spyOn(Cm.prototype, "handleMad")
  resultOf(
    Effect.gen(function* () {
      const { manager } = yield* managed(1)
      yield* manager.listen({ port: 7174 })
      resolve.mockClear()
      yield* attack(network.devices[2]!, (octets) => {
        octets.fill(0, 0, 256)
        return 256
      })
    }),
    { network },
  )
  expect(handleMad.mock.calls.length).toBeGreaterThan(ROUNDS / 2)
  expect(resolve).not.toHaveBeenCalled()
  vi.restoreAllMocks()
})
