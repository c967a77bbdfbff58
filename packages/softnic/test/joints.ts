import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Softnic, SoftnicLink } from "../src/index.ts"

/** A way in which two devices of one process are joined. */
export interface Joint {
  readonly name: string
  readonly gidIndex: number
  readonly left: () => SoftnicLink
  /** @param left the first device, open already */
  readonly right: (left: Softnic) => SoftnicLink
}

const ethernet = (host: number) => ({
  mac: `52:54:00:00:00:0${host}`,
  addresses: [`10.0.0.${host}/24`, `fd00::${host}/64`],
  mtuBytes: 1500,
})

const GIDS = ["10.9.0.1", "10.9.0.2"] as const
const WIDE_GIDS = ["fd09::1", "fd09::2"] as const

/** Ports on which something was listening, or is: each pair takes two of its own. */
let nextPort = 20_000 + (process.pid % 2000) * 20

/** Two ends of one host that find each other by ports: addresses of their own stand for the host's. */
const onOneHost = (host: string, [first, second]: readonly [string, string], name: string): Joint => {
  let ports: readonly [number, number] = [0, 0]
  return {
    name,
    gidIndex: 0,
    left: () => {
      ports = [nextPort++, nextPort++]
      return {
        udp: { address: host, port: ports[0], gid: first, peers: [{ address: second, host, port: ports[1] }] },
      }
    },
    right: () => ({
      udp: { address: host, port: ports[1], gid: second, peers: [{ address: first, host, port: ports[0] }] },
    }),
  }
}

const datagrams = (gidIndex: number, name: string): Joint => {
  let ports: readonly [number, number] = [0, 0]
  return {
    name,
    gidIndex,
    left: () => {
      ports = [nextPort++, nextPort++]
      return { datagrams: { port: ports[0], remotePort: ports[1] }, ethernet: ethernet(1) }
    },
    right: () => ({ datagrams: { port: ports[1], remotePort: ports[0] }, ethernet: ethernet(2) }),
  }
}

const stream = (kind: "path" | "port", gidIndex: number, name: string): Joint => {
  let place: { readonly path: string } | { readonly port: number } = { port: 0 }
  return {
    name,
    gidIndex,
    left: () => {
      place = kind === "path" ? { path: join(mkdtempSync(join(tmpdir(), "softnic-")), "wire") } : { port: nextPort++ }
      return { stream: { place, role: "listen" }, ethernet: ethernet(1) }
    },
    right: () => ({ stream: { place, role: "connect" }, ethernet: ethernet(2) }),
  }
}

export const joints: ReadonlyArray<Joint> = [
  {
    name: "UDP over IPv4",
    gidIndex: 0,
    left: () => ({ udp: { address: "127.0.0.1", port: 0 } }),
    right: (left) => ({ udp: { address: "127.0.0.2", port: left.port! } }),
  },
  onOneHost("127.0.0.1", GIDS, "UDP over IPv4, one host"),
  onOneHost("::1", WIDE_GIDS, "UDP over IPv6, one host"),
  datagrams(1, "frames in datagrams, IPv4"),
  datagrams(2, "frames in datagrams, IPv6"),
  datagrams(0, "frames in datagrams, link-local"),
  stream("path", 1, "frames in a UNIX stream, IPv4"),
  stream("path", 2, "frames in a UNIX stream, IPv6"),
  stream("port", 1, "frames in a TCP stream, IPv4"),
]
