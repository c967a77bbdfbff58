/* Every case that two Linux kernels were asked, with ours in each role in turn. */

import type { Softnic } from "@rdmakit/softnic"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { runCase } from "../src/cases/Case.ts"
import { type Cast, differences } from "../src/cases/compare.ts"
import { cases } from "../src/cases/index.ts"
import { linuxTable } from "../src/cases/linuxTable.ts"
import { DevicePeer } from "../src/DevicePeer.ts"
import { LinuxPeer } from "../src/LinuxPeer.ts"
import { openNic } from "../src/Nic.ts"
import { SHORT, setMtu, theLab } from "./lab.ts"

const chosen = SHORT ? cases.filter(({ name }) => name === "every operation of RC") : cases

describe("cases, with what Linux does in them", () => {
  let nic: Softnic | undefined
  let ours: DevicePeer
  let theirs: LinuxPeer

  beforeAll(async () => {
    const { guest, link } = await theLab()
    await setMtu(1500)
    nic = await openNic({ link })
    ours = new DevicePeer(nic.device, "ours")
    theirs = new LinuxPeer(guest)
  })
  afterAll(() => nic?.close())

  describe.each([
    { requester: "ours", responder: "linux" },
    { requester: "linux", responder: "ours" },
  ] as ReadonlyArray<Cast>)("the requester is $requester", (cast) => {
    it.each(chosen.map((one) => [one.name, one] as const))("%s", async (name, one) => {
      const run = cast.requester === "ours" ? await runCase(one, ours, theirs) : await runCase(one, theirs, ours)
      expect(differences(name, run, linuxTable[name]!, cast)).toEqual([])
    })
  })
})
