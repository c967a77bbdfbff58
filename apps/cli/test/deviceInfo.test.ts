import { readFileSync } from "node:fs"
import { rxeLimits } from "@rdmakit/device"
import { describe, expect, test } from "vitest"
import { deviceLines } from "../src/verbs/DeviceInfo.ts"

/** What `ibv_devinfo -v` printed in a Linux guest with rdma_rxe. */
const linux = readFileSync(new URL("ibv_devinfo.txt", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")

const report = {
  attributes: {
    ...{ name: "rxe0", nodeGuid: 0x5054_00ff_fe00_0001n, atomics: "hca" as const, pageBytes: 4096, ports: 1 },
    limits: rxeLimits,
  },
  port: {
    ...{ state: "active" as const, linkLayer: "ethernet" as const, maxMtuBytes: 4096, activeMtuBytes: 1024 },
    ...{ lineRateBps: 1e9, maxMessageBytes: 2 ** 31, gids: 3, partitionKeys: 1 },
  },
  gids: ["fe80::5054:ff:fe00:1", "::ffff:10.0.0.1", "fd00::1"].map((_, index) => ({
    ...{ index, gid: Uint8Array.of(index), type: "rocev2" as const },
  })),
}
const gidText = (gid: Uint8Array) => ["fe80::5054:ff:fe00:1", "::ffff:10.0.0.1", "fd00::1"][gid[0]!]!

describe("devinfo", () => {
  test("the short form is ibv_devinfo's, octet for octet", () => {
    const lines = deviceLines(report, false, gidText)
    expect(lines.every((line) => linux.includes(line))).toBe(true)
    expect(lines[0]).toBe("hca_id:\trxe0")
    expect(lines.length).toBe(17)
  })

  test("the long form has its fields in its order, with its tabs, and mostly its values", () => {
    const lines = deviceLines(report, true, gidText)
    const names = (all: ReadonlyArray<string>) =>
      all.map((line) => /^\t*[^:]+:\t+/.exec(line)?.[0]).filter((name) => name)
    const known = new Set(names(linux))
    expect(names(lines).filter((name) => !known.has(name))).toEqual([])
    const ours = new Set(names(lines))
    expect(names(linux).filter((name) => ours.has(name))).toEqual(names(lines))
    // Ours differ where the device does.
    expect(
      lines.filter((line) => !linux.includes(line)).map((line) => line.trim().split(":")[0]),
    ).toMatchInlineSnapshot(`
      [
        "max_mr_size",
        "page_size_cap",
        "max_qp",
        "device_cap_flags",
        "max_mr",
        "max_res_rd_atom",
        "max_mw",
        "max_ah",
        "max_srq",
        "max_pkeys",
        "local_ca_ack_delay",
        "max_msg_sz",
        "gid_tbl_len",
      ]
    `)
  })

  test.each([
    [10e9, "1X (1)", "10.0 Gbps (8)"],
    [100e9, "4X (2)", "25.0 Gbps (32)"],
    [400e9, "4X (2)", "100.0 Gbps (128)"],
  ])("a link of %d bit/s", (lineRateBps, width, speed) => {
    const lines = deviceLines({ ...report, port: { ...report.port, lineRateBps } }, true, gidText)
    expect(lines).toContain(`\t\t\tactive_width:\t\t${width}`)
    expect(lines).toContain(`\t\t\tactive_speed:\t\t${speed}`)
  })
})
