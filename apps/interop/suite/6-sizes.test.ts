/* Messages of every size, across the wrap of packet sequence numbers, both ways. */
import type { Softnic } from "@rdmakit/softnic"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { connect, Side } from "../src/cases/Side.ts"
import { DevicePeer } from "../src/DevicePeer.ts"
import { LinuxPeer } from "../src/LinuxPeer.ts"
import { openNic } from "../src/Nic.ts"
import type { VerbsPeer } from "../src/VerbsPeer.ts"
import { describeLong, setMtu, theLab } from "./lab.ts"

const SIZES = [1, 2, 3, 255, 256, 1023, 1024, 1025, 4095, 4096, 4097, 65_535, 65_536, 1_000_003, 2 ** 24]
const ROOM = 2 ** 24
const OP = { write: 0, send: 2, read: 4 } as const

describeLong.each([
  [1500, 3],
  [4200, 5],
])("1 octet to 16 MiB across PSN 2^24, link MTU %i", (link, mtu) => {
  let nic: Softnic | undefined
  let ours: VerbsPeer
  let theirs: VerbsPeer

  beforeAll(async () => {
    const lab = await theLab()
    await setMtu(link)
    nic = await openNic({ link: lab.link, mtu: link })
    ours = new DevicePeer(nic.device, "ours")
    theirs = new LinuxPeer(lab.guest)
  })
  afterAll(() => nic?.close())

  describe.each(["ours", "theirs"] as const)("the requester is %s", (who) => {
    it.each(["send", "write", "read"] as const)("%s", async (verb) => {
      const [requester, responder] = (who === "ours" ? [ours, theirs] : [theirs, ours]).map((peer) => new Side(peer))
      try {
        // The small sizes wrap, and the largest does so in its midst.
        requester!.psn = 0xffffff - 20
        responder!.psn = 0xffffff - 20
        for (const side of [requester!, responder!]) await side.open({ bytes: ROOM })
        // A second: a guest on a busy machine may rest for a while in the midst of a message.
        await connect(requester!, responder!, { rtr: { mtu }, rts: { timeout: 18 } })
        const [reader, source] = verb === "read" ? [requester!, responder!] : [responder!, requester!]
        for (const [seed, bytes] of SIZES.entries()) {
          await source.must("fill", { bytes, seed })
          await reader.must("clear", { bytes })
          if (verb === "send") await responder!.must("receive", { id: 100, sge: `m:0:${bytes}` })
          const aim = { rkey: responder!.rkey, address: String(responder!.address) }
          await requester!.must("send", { id: bytes, op: OP[verb], sge: `m:0:${bytes}`, ...aim })
          expect(await requester!.wait(1, 60_000)).toMatchObject([{ id: bytes, status: 0 }])
          if (verb === "send") expect(await responder!.wait(1, 5000)).toMatchObject([{ status: 0, bytes }])
          expect(await reader.must("check", { bytes, seed })).toMatchObject({ equal: true })
        }
      } finally {
        await ours.leave()
        await theirs.leave()
      }
    })
  })
})
