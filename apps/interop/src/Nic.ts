import { openSoftnic, type Softnic, type SoftnicOptions } from "@rdmakit/softnic"
import type { FrameLink } from "./Guest.ts"

/** Ours is the ninth host of a lab. */
export const OUR_HOST = 9

/** Addresses of a lab's host by its number. */
export const hostAddress = (host: number) => ({
  ip4: `10.0.0.${host}`,
  ip6: `fd00::${host}`,
  mac: `52:54:00:00:00:0${host}`,
})

export interface NicOptions {
  /** The link as the guest has it: this is its other end. */
  readonly link: Extract<FrameLink, { type: "dgram" | "stream" }>
  readonly host?: number
  /** Of IP packets, octets, as the guest's. Default 1,500. */
  readonly mtu?: number
  readonly through?: SoftnicOptions["through"]
  readonly transport?: SoftnicOptions["transport"]
}

/** A device of ours on the same network as a guest. */
export const softnicOptions = ({
  link,
  host = OUR_HOST,
  mtu = 1500,
  through,
  transport,
}: NicOptions): SoftnicOptions => {
  const { ip4, ip6, mac } = hostAddress(host)
  const ethernet = { mac, addresses: [`${ip4}/24`, `${ip6}/64`], mtuBytes: mtu }
  return {
    device: { seed: host },
    ...(through === undefined ? {} : { through }),
    ...(transport === undefined ? {} : { transport }),
    link:
      link.type === "dgram"
        ? { datagrams: { port: link.remotePort, remotePort: link.localPort }, ethernet }
        : { stream: { place: { path: link.path }, role: link.listen ? "connect" : "listen" }, ethernet },
  }
}

/** Opens it. @throws SoftnicError */
export const openNic = (options: NicOptions): Promise<Softnic> => openSoftnic(softnicOptions(options))
