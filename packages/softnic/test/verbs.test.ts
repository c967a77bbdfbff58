import { type Cable, FaultInjector, type FaultOptions } from "@rdmakit/codec/cable"
import { WcOpcode, WrOpcode } from "@rdmakit/protocol"
import { describe, expect, it, test } from "vitest"
import { joints } from "./joints.ts"
import { fill, openPair, QUEUE_KEY } from "./pair.ts"

type Pair = Awaited<ReturnType<typeof openPair>>

const words = (octets: Uint8Array): DataView => new DataView(octets.buffer, octets.byteOffset)

/** Every operation of a reliable connection once or more, each looked at where it ends. */
const everyOperation = async ({ left, right }: Pair, rounds: number): Promise<void> => {
  const remote = (offset: number) => ({
    remoteAddress: right.region.iova + offset,
    remoteKey: right.region.rkey,
  })
  words(right.octets).setBigUint64(512 * 1024, 5n, true)
  for (let round = 0; round < rounds; round++) {
    const bytes = [1, 8, 1023, 1024, 1025, 5000, 65_536, 100_003][round % 8]!
    fill(left.octets.subarray(0, bytes), round)
    left.qp.postSend({ id: 1, opcode: WrOpcode.RdmaWrite, sges: [left.sge(0, bytes)], signaled: true, ...remote(0) })
    await left.completions(1)
    expect(Buffer.compare(left.octets.subarray(0, bytes), right.octets.subarray(0, bytes))).toBe(0)

    right.qp.postRecv({ id: 2, sges: [right.sge(256 * 1024, bytes)] })
    left.qp.postSend({
      id: 3,
      opcode: WrOpcode.SendWithImm,
      sges: [left.sge(0, bytes)],
      signaled: true,
      immediate: 0x89ab_cdef,
    })
    const [[sent], [received]] = await Promise.all([left.completions(1), right.completions(1)])
    expect(sent).toMatchObject({ id: 3, opcode: WcOpcode.Send })
    expect(received).toMatchObject({ id: 2, opcode: WcOpcode.Recv, byteLength: bytes, immediate: 0x89ab_cdef })
    const landed = right.octets.subarray(256 * 1024, 256 * 1024 + bytes)
    expect(Buffer.compare(left.octets.subarray(0, bytes), landed)).toBe(0)

    left.octets.fill(0, 300_000, 300_000 + bytes)
    left.qp.postSend({
      id: 4,
      opcode: WrOpcode.RdmaRead,
      sges: [left.sge(300_000, bytes)],
      signaled: true,
      ...remote(256 * 1024),
    })
    await left.completions(1)
    expect(Buffer.compare(left.octets.subarray(300_000, 300_000 + bytes), landed)).toBe(0)

    left.qp.postSend({
      id: 5,
      opcode: WrOpcode.AtomicFetchAndAdd,
      sges: [left.sge(700_000, 8)],
      signaled: true,
      compareAdd: 1n,
      ...remote(512 * 1024),
    })
    await left.completions(1)
    expect(words(left.octets).getBigUint64(700_000, true)).toBe(5n + BigInt(round))
  }
  expect(words(right.octets).getBigUint64(512 * 1024, true)).toBe(5n + BigInt(rounds))
}

describe.each(joints)("$name", (joint) => {
  it("carries every operation of RC", async () => {
    const pair = await openPair(joint)
    try {
      await everyOperation(pair, 8)
      const { counters } = pair.left.softnic
      expect(counters).toMatchObject({ icrcErrors: 0, malformed: 0, noQueuePair: 0, unresolved: 0, socketErrors: 0 })
      expect(counters.rxPackets).toBeGreaterThan(8)
    } finally {
      pair.close()
    }
  })

  it("gets what was held on its way in as it came", async () => {
    const held: Array<FaultInjector> = []
    const through = (cable: Cable): Cable => {
      held.push(new FaultInjector(cable, { seed: 3, direction: "in", delayPs: [1e6, 2e6], duplication: 0.1 }))
      return held.at(-1)!
    }
    const pair = await openPair(joint, "rc", { timeout: 18, common: { through } })
    try {
      await everyOperation(pair, 8)
      for (const { counters } of [pair.left.softnic, pair.right.softnic])
        expect(counters).toMatchObject({ icrcErrors: 0, malformed: 0, otherProtocols: 0, notOurs: 0, unresolved: 0 })
      for (const { counts } of held) expect(counts.duplicated).toBeGreaterThan(0)
    } finally {
      pair.close()
    }
  })

  it("loses nothing with 2 % loss, 2 % duplication and 5 % reordering each way", async () => {
    let seed = 0
    const injectors: Array<FaultInjector> = []
    const faults: FaultOptions = { seed: 1, loss: 0.02, duplication: 0.02, reordering: 0.05, reorderPs: 3e8 }
    const through = (cable: Cable): Cable => {
      const injector = new FaultInjector(cable, { ...faults, seed: ++seed })
      injectors.push(injector)
      return injector
    }
    const pair = await openPair(joint, "rc", { timeout: 13, common: { through } })
    try {
      await everyOperation(pair, 24)
    } finally {
      pair.close()
    }
    const lost = injectors.reduce((sum, { counts }) => sum + counts.lost, 0)
    const duplicated = injectors.reduce((sum, { counts }) => sum + counts.duplicated, 0)
    expect(Math.min(lost, duplicated)).toBeGreaterThan(5)
  }, 30_000)
})

test.each([joints[0]!, joints[3]!])("UC sends and writes over $name", async (joint) => {
  const { left, right, close } = await openPair(joint, "uc")
  try {
    fill(left.octets.subarray(0, 5000), 3)
    right.qp.postRecv({ id: 1, sges: [] })
    left.qp.postSend({
      id: 2,
      opcode: WrOpcode.RdmaWriteWithImm,
      sges: [left.sge(0, 5000)],
      signaled: true,
      immediate: 7,
      remoteAddress: right.region.iova,
      remoteKey: right.region.rkey,
    })
    const [received] = await right.completions(1)
    expect(received).toMatchObject({ opcode: WcOpcode.RecvRdmaWithImm, immediate: 7, byteLength: 5000 })
    expect(Buffer.compare(left.octets.subarray(0, 5000), right.octets.subarray(0, 5000))).toBe(0)
  } finally {
    close()
  }
})

test.each([joints[0]!, joints[2]!, joints[3]!, joints[4]!])("UD tells who sent over $name", async (joint) => {
  const { left, right, close } = await openPair(joint, "ud")
  try {
    fill(left.octets.subarray(0, 1000), 9)
    right.qp.postRecv({ id: 1, sges: [right.sge(0, 1040)] })
    const address = left.pd.createAh(left.vector(right.gid))
    const datagram = { address, qpn: right.qp.qpn, queueKey: QUEUE_KEY }
    left.qp.postSend({ id: 2, opcode: WrOpcode.Send, sges: [left.sge(0, 1000)], signaled: true, datagram })
    const [received] = await right.completions(1)
    expect(received).toMatchObject({ byteLength: 1040, sourceQp: left.qp.qpn, grh: true })
    expect(Buffer.compare(left.octets.subarray(0, 1000), right.octets.subarray(40, 1040))).toBe(0)
    // The addresses end the forty octets, of IPv6 and of IPv4 alike (IBTA 1.7 §A17.4.5.2).
    const header = Array.from(right.octets.subarray(0, 40))
    const mapped = left.gid[10] === 0xff && left.gid[0] === 0
    const addresses = mapped ? [...left.gid.subarray(12), ...right.gid.subarray(12)] : [...left.gid, ...right.gid]
    expect(header.slice(40 - addresses.length)).toEqual(addresses)
  } finally {
    close()
  }
})
