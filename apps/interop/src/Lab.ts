import { createSocket } from "node:dgram"
import { existsSync, mkdtempSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type FrameLink, Guest, type GuestOptions } from "./Guest.ts"
import { hostAddress } from "./Nic.ts"
import { type Prepared, prepare } from "./Prepare.ts"

/** A UDP port of loopback that nobody has now. */
export const freeUdpPort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = createSocket("udp4")
    socket.on("error", reject)
    socket.bind(0, "127.0.0.1", () => {
      const { port } = socket.address()
      socket.close(() => resolve(port))
    })
  })

/** The same of TCP. */
export const freeTcpPort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const SOCKET_MS = 20_000
/** Waits for the socket that another guest's emulator makes; whoever then starts says what is wrong when it does not. */
const untilThere = async (path: string): Promise<void> => {
  const end = performance.now() + SOCKET_MS
  while (!existsSync(path) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** What a guest of a lab may differ in. */
export type LabGuest = Partial<Pick<GuestOptions, "mtu" | "forwards" | "memoryMb">>

/** One or two guests, and what links them. */
export class Lab {
  readonly prepared: Prepared
  readonly guests: ReadonlyArray<Guest>

  private constructor(prepared: Prepared, guests: ReadonlyArray<Guest>) {
    this.prepared = prepared
    this.guests = guests
  }

  /** Two guests with a wire between them, a socket that loses nothing. @throws LeftOut, GuestError */
  static async pair(options: LabGuest = {}, say?: (what: string) => void): Promise<Lab> {
    const prepared = await prepare(say)
    const path = join(mkdtempSync(join(tmpdir(), "rdmakit-link-")), "frames")
    return Lab.#start(prepared, options, [
      { type: "stream", path, listen: true },
      { type: "stream", path, listen: false },
    ])
  }

  /** One guest whose frames go wherever `link` says. @throws LeftOut, GuestError */
  static async single(link: FrameLink, options: LabGuest = {}, say?: (what: string) => void): Promise<Lab> {
    return Lab.#start(await prepare(say), options, [link])
  }

  static async #start(prepared: Prepared, options: LabGuest, links: ReadonlyArray<FrameLink>): Promise<Lab> {
    const starts = links.map(async (link, i) => {
      const { ip4, ip6, mac } = hostAddress(i + 1)
      if (link.type === "stream" && !link.listen) await untilThere(link.path)
      return Guest.start(prepared, { name: `g${i + 1}`, link, ip4: `${ip4}/24`, ip6: `${ip6}/64`, mac, ...options })
    })
    const settled = await Promise.allSettled(starts)
    const guests = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
    const failure = settled.find((one) => one.status === "rejected")
    if (failure !== undefined) {
      await Promise.all(guests.map((guest) => guest.stop()))
      throw failure.reason
    }
    return new Lab(prepared, guests)
  }

  /** The first guest, and the second where there are two. */
  get first(): Guest {
    return this.guests[0]!
  }
  get second(): Guest {
    return this.guests[1]!
  }

  async stop(): Promise<void> {
    await Promise.all(this.guests.map((guest) => guest.stop()))
  }
}
