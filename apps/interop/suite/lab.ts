/* One guest for all files of the suite, and the end of its link that is ours. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "vitest"
import type { CommandResult } from "../src/AgentChannel.ts"
import type { FrameLink, Guest } from "../src/Guest.ts"
import { freeTcpPort, freeUdpPort, Lab } from "../src/Lab.ts"
import { hostAddress, OUR_HOST } from "../src/Nic.ts"
import { Rdmakit, wellDone } from "../src/Rdmakit.ts"

/** Only what a change is tried with. */
export const SHORT = process.env.RDMAKIT_INTEROP === "short"

const nothing = Object.assign(() => {}, { each: () => () => {} })
/** Tests that are no part of the short form. */
export const describeLong = (SHORT ? nothing : describe) as typeof describe
export const itLong = (SHORT ? nothing : it) as typeof it

export type Ip = 4 | 6

/** The guest, and how it is reached. */
export interface TheLab {
  readonly guest: Guest
  readonly link: Extract<FrameLink, { type: "dgram" | "stream" }>
  /** TCP port of loopback that leads to the tools' own in the guest. */
  readonly port: number
}

/** Of pingpongs and perftest. */
export const TOOL_PORT = 18_515
/**
 * A timeout of a second for the guest's perftest, in place of 67 ms: on a busy machine a guest that was not run for a while
 * sends again, and what rxe sends again may be wrong (README, "What Linux does").
 */
export const PATIENT = "-u 18"
/** Our end of the guest's loopback network. */
const OUR_SIDE = "10.0.2.2"

/** A socket loses no frames, however busy the machine is; RDMAKIT_INTEROP_LINK=dgram has each in a UDP datagram. */
const start = async (): Promise<TheLab> => {
  const link =
    process.env.RDMAKIT_INTEROP_LINK === "dgram"
      ? ({ type: "dgram", localPort: await freeUdpPort(), remotePort: await freeUdpPort() } as const)
      : ({ type: "stream", path: join(mkdtempSync(join(tmpdir(), "rdmakit-link-")), "frames"), listen: true } as const)
  const port = await freeTcpPort()
  const lab = await Lab.single(link, { forwards: [{ host: port, guest: TOOL_PORT }] })
  return { guest: lab.first, link, port }
}

let lab: Promise<TheLab> | undefined

/** Boots the guest when it is first asked for. It ends with this process. */
export const theLab = (): Promise<TheLab> => {
  lab ??= start()
  return lab
}

let guestMtu = 1500
/** Changes the MTU of the guest's port: 1,500 makes a path MTU of 1,024, 4,200 one of 4,096. */
export const setMtu = async (mtu: number): Promise<void> => {
  const { guest } = await theLab()
  if (guestMtu === mtu) return
  await guest.must(`/bin/ip link set eth0 mtu ${mtu}`)
  const enumeration = mtu < 4200 ? 3 : 5
  await guest.must(`until ibv_devinfo -d rxe0 | grep -q "active_mtu.*(${enumeration})"; do sleep 0.1; done`)
  guestMtu = mtu
}

const ours = hostAddress(OUR_HOST)
export const theirs = hostAddress(1)
export const ourAddress = (ip: Ip): string => (ip === 4 ? ours.ip4 : ours.ip6)
export const theirAddress = (ip: Ip): string => (ip === 4 ? theirs.ip4 : theirs.ip6)
/** The guest's addresses by index: 0 is of its link, then IPv4 and IPv6. */
export const gidIndex = (ip: Ip): number => (ip === 4 ? 1 : 2)

/** The command, on the guest's network. Its GIDs have the guest's order. */
const ourSide = ({ link }: TheLab): ReadonlyArray<string> => [
  ...["--frames", link.type === "dgram" ? `dgram:${link.remotePort}:${link.localPort}` : `stream:${link.path}`],
  ...["--mac", ours.mac, "--link-mtu", String(guestMtu)],
  ...["--address", `${ours.ip4}/24`, "--address", `${ours.ip6}/64`],
]

/** The guest knows our MAC without asking: it asks three times in as many seconds, and gives up after one. */
export const introduce = async (): Promise<void> => {
  const { guest } = await theLab()
  for (const ip of [4, 6] as const) {
    await guest.must(`/bin/ip neigh replace ${ourAddress(ip)} lladdr ${ours.mac} dev eth0 nud permanent`)
  }
}

export interface Meeting {
  /** Our command, and its flags. */
  readonly ours: ReadonlyArray<string>
  /** The guest's. */
  readonly theirs: string
  /** Which side is the server. */
  readonly server: "ours" | "theirs"
  /** Over what they find each other: TCP, or the connection manager alone. */
  readonly by: "tcp" | "cm"
  readonly ip?: Ip
  readonly seconds?: number
}

export interface Outcome {
  readonly ours: string
  readonly theirs: string
}

/**
 * rping of Debian 12 may end with 255 when all went well: its main thread closes the channel that another thread is
 * about to read once more (linux-rdma/rdma-core, pull request 1622). It then says this, and nothing else.
 */
const RPING_RACE = /^rdma_get_cm_event: Bad file descriptor$/m

const endedWell = (tool: string, { code, output }: CommandResult): boolean =>
  code === 0 || (code === 255 && tool.startsWith("rping") && RPING_RACE.test(output))

/** Runs one of our commands against one of the guest's, and fails unless both end well. */
export const meet = async ({
  ours: command,
  theirs: tool,
  server,
  by,
  ip = 4,
  seconds = 60,
}: Meeting): Promise<Outcome> => {
  const here = await theLab()
  const { guest } = here
  const world = ourSide(here)
  if (server === "ours") {
    const port = await freeTcpPort()
    const run = new Rdmakit([...command, "--listen", "--port", String(port), ...world], seconds)
    try {
      await run.listening
      const address = by === "tcp" ? OUR_SIDE : ourAddress(ip)
      const told = await guest.run(tool.replace("HOST", address).replace("PORT", String(port)), seconds)
      const { stdout, ...rest } = await run.done
      if (!endedWell(tool, told))
        throw new Error(`${tool} ended with ${told.code}\n${told.output}\n${stdout}\n${rest.stderr}`)
      return { ours: wellDone({ stdout, ...rest }), theirs: told.output }
    } finally {
      run.stop()
    }
  }
  const port = by === "tcp" ? TOOL_PORT : 7174
  const running = guest.run(tool.replace("HOST", "").replace("PORT", String(port)), seconds)
  const listens = by === "tcp" ? `netstat -ltn | grep -q :${port}` : "/bin/rdma resource show cm_id | grep -q LISTEN"
  await Promise.race([guest.must(`until ${listens}; do sleep 0.05; done`), running])
  const address = by === "tcp" ? ["127.0.0.1", String(here.port)] : [theirAddress(ip), String(port)]
  const peer = command[0] === "perf" ? ["--peer", address[0]!] : [address[0]!]
  const run = new Rdmakit([...command, ...peer, "--port", address[1]!, ...world], seconds)
  try {
    const told = await running
    const { stdout, ...rest } = await run.done
    if (!endedWell(tool, told))
      throw new Error(`${tool} ended with ${told.code}\n${told.output}\n${stdout}\n${rest.stderr}`)
    return { ours: wellDone({ stdout, ...rest }), theirs: told.output }
  } finally {
    run.stop()
  }
}
