import { expect, it } from "vitest"
import { openNic } from "../src/Nic.ts"
import { ourAddress, setMtu, theLab } from "./lab.ts"

it("a guest boots with Soft-RoCE", async () => {
  const { guest } = await theLab()
  // Another file may have used the guest before, with an MTU of its own.
  await setMtu(1500)
  expect(await guest.must("/bin/rdma link")).toContain("link rxe0/1 state ACTIVE")
  const info = await guest.must("ibv_devinfo -v -d rxe0")
  expect(info).toContain("active_mtu:\t\t1024")
  expect(info).toMatch(/GID\[ +1\]:\s+::ffff:10\.0\.0\.1/)
  expect(info).toMatch(/GID\[ +2\]:\s+fd00::1/)
})

it("it finds us by ARP and neighbour discovery, and has answers to its echoes", async () => {
  const { guest, link } = await theLab()
  const nic = await openNic({ link })
  try {
    expect(await guest.must(`ping -c 2 -W 5 ${ourAddress(4)}`)).toContain(" 0% packet loss")
    expect(await guest.must(`ping6 -c 2 -W 5 ${ourAddress(6)}`)).toContain(" 0% packet loss")
    expect(nic.counters.malformed).toBe(0)
  } finally {
    nic.close()
  }
})

it("it has no Soft-iWARP, against which iWARP could be tried: Debian builds its kernel without siw", async () => {
  const { guest } = await theLab()
  const modules = await guest.must("ls /lib/m")
  expect(modules).toContain("rdma_rxe.ko")
  expect(modules).not.toContain("siw.ko")
})
