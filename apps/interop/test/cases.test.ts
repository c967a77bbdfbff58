/*
 * Two devices of ours over Ethernet frames, against what two Linux kernels did in the same cases. Against a kernel they are
 * run by `pnpm interop`.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, it } from "vitest"
import { runCase } from "../src/cases/Case.ts"
import { differences } from "../src/cases/compare.ts"
import { cases } from "../src/cases/index.ts"
import { linuxTable } from "../src/cases/linuxTable.ts"
import { DevicePeer } from "../src/DevicePeer.ts"
import { openNic } from "../src/Nic.ts"

it.concurrent.each(cases.map((one) => [one.name, one] as const))("%s", async (name, one) => {
  const folder = mkdtempSync(join(tmpdir(), "rdmakit-cases-"))
  const link = { type: "stream", path: join(folder, "frames") } as const
  const nics = [
    await openNic({ link: { ...link, listen: false }, host: 1 }),
    await openNic({ link: { ...link, listen: true }, host: 2 }),
  ]
  try {
    const [requester, responder] = nics.map(({ device }, i) => new DevicePeer(device, `device ${i + 1}`))
    const run = await runCase(one, requester!, responder!)
    expect(differences(name, run, linuxTable[name]!, { requester: "ours", responder: "ours" })).toEqual([])
  } finally {
    for (const nic of nics) nic.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
