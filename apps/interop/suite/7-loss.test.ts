/* 2 % lost, 2 % twice, 5 % late, each way: every octet right, every atomic once. */
import { FaultInjector } from "@rdmakit/codec/cable"
import type { Softnic } from "@rdmakit/softnic"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect, Side } from "../src/cases/Side.ts"
import { DevicePeer } from "../src/DevicePeer.ts"
import { LinuxPeer } from "../src/LinuxPeer.ts"
import { openNic } from "../src/Nic.ts"
import type { VerbsPeer } from "../src/VerbsPeer.ts"
import { describeLong, gidIndex, introduce, itLong, meet, SHORT, setMtu, theLab } from "./lab.ts"

const FAULTS = { loss: 0.02, duplication: 0.02, reordering: 0.05 }
const IN_WORDS = "loss=2%,dup=2%,reorder=5%"
const ATOMICS = 300
const OP = { write: 0, send: 2, read: 4, add: 6 } as const

// An ARP that is lost ends a connection before it begins.
beforeAll(introduce)

describe("packets lost, repeated and late", () => {
  it.each(["ours", "theirs"] as const)("rc_pingpong, the server is %s", async (server) => {
    await setMtu(1500)
    const rounds = SHORT ? 100 : 500
    const { theirs } = await meet({
      ours: [
        ...["pingpong", "rc", "-g", String(gidIndex(4)), "-n", String(rounds), "-s", "4096", "-c", "--json"],
        ...["--faults", IN_WORDS, "--seed", "7"],
      ],
      theirs: `ibv_rc_pingpong -d rxe0 -g ${gidIndex(4)} -p PORT -n ${rounds} -s 4096 -c HOST`,
      server,
      by: "tcp",
      seconds: 110,
    })
    expect(theirs).toContain(`${rounds} iters in`)
    expect(theirs).not.toContain("invalid data")
  })

  itLong.each(["ours", "theirs"] as const)("rping, the server is %s", async (server) => {
    const { theirs } = await meet({
      ours: [...["rping", "-C", "100", "-S", "3000", "-V", "--json", "--faults", IN_WORDS, "--seed", "8"]].filter(
        (_, i) => server === "theirs" || i === 0 || i > 5,
      ),
      theirs:
        server === "theirs"
          ? "rping -s -v -C 100 -S 3000 -p PORT HOST"
          : "rping -c -v -V -a HOST -C 100 -S 3000 -p PORT",
      server,
      by: "cm",
      seconds: 110,
    })
    expect(theirs.match(/ping data: rdma-ping-/g)?.length).toBe(100)
  })
})

describeLong.each([1, 2, 3])("the same by verbs, seed %i", (seed) => {
  let nic: Softnic | undefined
  let injector: FaultInjector | undefined
  let ours: VerbsPeer
  let theirs: VerbsPeer

  beforeAll(async () => {
    const { guest, link } = await theLab()
    await setMtu(1500)
    nic = await openNic({
      link,
      through: (cable) => {
        injector = new FaultInjector(cable, { ...FAULTS, seed })
        return injector
      },
    })
    ours = new DevicePeer(nic.device, "ours")
    theirs = new LinuxPeer(guest)
  })
  afterAll(() => nic?.close())

  it.each(["ours", "theirs"] as const)("the requester is %s", async (who) => {
    const [requester, responder] = (who === "ours" ? [ours, theirs] : [theirs, ours]).map((peer) => new Side(peer))
    const [from, to] = [requester!, responder!]
    try {
      for (const side of [from, to]) await side.open({ bytes: 2 ** 20, qp: { sends: 128, receives: 128 } })
      // 268 ms: a guest on a busy machine may be silent for longer than eight times 67 ms.
      await connect(from, to, { rts: { timeout: 16 } })
      const { rkey, address } = to
      const half = 2 ** 19
      const aim = { rkey, address: String(address + BigInt(half)) }
      await from.must("fill", { bytes: half, seed })
      await from.must("send", { id: 1, op: OP.write, sge: `m:0:${half}`, ...aim })
      expect(await from.wait(1, 60_000)).toMatchObject([{ status: 0 }])
      expect(await to.must("check", { offset: half, bytes: half, seed })).toMatchObject({ equal: true })
      await from.must("clear", { bytes: half })
      await from.must("send", { id: 2, op: OP.read, sge: `m:0:${half}`, ...aim })
      expect(await from.wait(1, 60_000)).toMatchObject([{ status: 0 }])
      expect(await from.must("check", { bytes: half, seed })).toMatchObject({ equal: true })

      // SENDs in order: each lies in the receive that was posted for it.
      await from.must("fill", { bytes: half, seed: seed + 1 })
      for (let i = 0; i < 64; i++) await to.must("receive", { id: i, sge: `m:${i * 5000}:5000` })
      for (let i = 0; i < 64; i++) await from.must("send", { id: i, op: OP.send, sge: `m:${i * 5000}:5000` })
      expect((await from.wait(64, 60_000)).map(({ id, status }) => [id, status])).toEqual(
        Array.from({ length: 64 }, (_, i) => [i, 0]),
      )
      expect((await to.wait(64, 5000)).map(({ id, status }) => [id, status])).toEqual(
        Array.from({ length: 64 }, (_, i) => [i, 0]),
      )
      expect(await to.must("check", { bytes: 64 * 5000, seed: seed + 1 })).toMatchObject({ equal: true })

      // Each addition found what those before it had made.
      await to.must("poke", { offset: 0, octets: "0000000000000000" })
      for (let done = 0; done < ATOMICS; done += 100) {
        for (let i = 0; i < 100; i++) {
          await from.must("send", {
            id: i,
            op: OP.add,
            sge: `m:${8 * (done + i)}:8`,
            rkey,
            address: String(address),
            add: 1,
          })
        }
        expect((await from.wait(100, 60_000)).every(({ status }) => status === 0)).toBe(true)
      }
      const { octets } = await from.must("peek", { bytes: 8 * ATOMICS })
      const words = Buffer.from(String(octets), "hex")
      expect(Array.from({ length: ATOMICS }, (_, i) => Number(words.readBigUInt64LE(8 * i)))).toEqual(
        Array.from({ length: ATOMICS }, (_, i) => i),
      )
      expect(await to.word(0)).toBe(BigInt(ATOMICS))
      const { counts } = injector!
      for (const count of [counts.lost, counts.duplicated, counts.reordered]) expect(count).toBeGreaterThan(0)
    } finally {
      await ours.leave()
      await theirs.leave()
    }
  })
})
